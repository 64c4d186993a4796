package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// marksName is the file in a store that says how far its streams had got, up to a second ago. It
// is not synced: after a power cut it may be an older one, or none.
const marksName = "marks.json"

// errDamaged means that a stream has less than was acknowledged: one wrong bit on the disk lets
// the server drop what it can no longer read, and go on with the numbers of what it dropped.
var errDamaged = errors.New("the store has lost changes that were acknowledged")

// marks are the last sequence numbers of the streams of entries, by account.
type marks map[string]uint64

// marksOf returns how far the streams have got on the disk of this server: 0 for an account that
// could have a stream and has none. It fails if the server cannot tell.
func marksOf(srv *server.Server) (marks, error) {
	v, err := srv.Jsz(&server.JSzOptions{Accounts: true, Streams: true, Limit: 1 << 20})
	switch {
	case err != nil:
		return nil, err
	case v.Disabled:
		return nil, errWrite
	}
	all := make(marks)
	for _, account := range v.AccountDetails {
		all[account.Id] = 0
		for _, stream := range account.Streams {
			if stream.Name == entries {
				all[account.Id] = stream.State.LastSeq
			}
		}
	}
	return all, nil
}

func (s *store) marksPath() string { return filepath.Join(s.dir, marksName) }

// reach notes how far the streams of a server have got. It returns errDamaged if one had got
// farther, or is missing. What the server cannot tell now is left as it was.
func (s *store) reach(srv *server.Server) error {
	now, err := marksOf(srv)
	if err != nil {
		return nil // it is told elsewhere that the server is not well
	}
	had := s.marks()
	for account, last := range had {
		// One that --config has no more is not known: nobody can connect to it.
		if has, known := now[account]; known && has < last {
			if last == math.MaxUint64 { // see cut
				return fmt.Errorf("%w: account %q", errDamaged, account)
			}
			return fmt.Errorf("%w: account %q had %d, and has %d", errDamaged, account, last, has)
		}
	}
	next := maps.Clone(had)
	if maps.Copy(next, now); !maps.Equal(next, had) {
		_ = s.note(next)
	}
	return nil
}

// marks returns what was noted last.
func (s *store) marks() marks {
	had := make(marks)
	if b, err := os.ReadFile(s.marksPath()); err == nil {
		_ = json.Unmarshal(b, &had)
	}
	return had
}

func (s *store) note(next marks) error {
	b, err := json.Marshal(next)
	if err == nil {
		err = os.WriteFile(s.marksPath()+"-", b, 0o600)
	}
	if err == nil {
		err = os.Rename(s.marksPath()+"-", s.marksPath())
	}
	return err
}

// forget removes what was noted of a store that was there before.
func (s *store) forget() error {
	if err := os.Remove(s.marksPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the store: %w", err)
	}
	return nil
}

// unindex removes what the server wrote of its streams of entries when it ended: it would believe
// how far they had got, and not look at what there is. Without it, it reads all of them and
// compares the checksums.
func (s *store) unindex() error {
	found, _ := filepath.Glob(filepath.Join(s.jetstream(), "*", "streams", entries, "msgs", "index.db"))
	for _, path := range found {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the store: %w", err)
		}
	}
	return nil
}

// A block is a file of changes, open, with the size that it had before the server read it.
type block struct {
	*os.File
	account string
	size    int64
}

// blocks are files of the streams of entries that nothing is added to.
type blocks []block

// fullBlocks opens all blocks but the last of each stream, at the end of which a power cut may have
// left what was not acknowledged.
func (s *store) fullBlocks() (all blocks, err error) {
	defer func() {
		if err != nil {
			all.Close()
		}
	}()
	dirs, _ := filepath.Glob(filepath.Join(s.jetstream(), "*", "streams", entries, "msgs"))
	for _, dir := range dirs {
		paths, _ := filepath.Glob(filepath.Join(dir, "*.blk"))
		slices.SortFunc(paths, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) // by number
		for _, path := range paths[:max(0, len(paths)-1)] {
			f, err := os.Open(path)
			if err != nil {
				return all, fmt.Errorf("the store: %w", err)
			}
			b := block{File: f, account: filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(dir))))}
			all = append(all, b)
			info, err := f.Stat()
			if err != nil {
				return all, fmt.Errorf("the store: %w", err)
			}
			all[len(all)-1].size = info.Size()
		}
	}
	return all, nil
}

// Close closes the files.
func (all blocks) Close() {
	for _, b := range all {
		b.File.Close()
	}
}

// cut returns errDamaged if the server has cut one of the blocks off where it could not read on. It
// removes and replaces blocks whose changes have expired, and cuts no other off. That is noted,
// since the block looks sound from then on.
func (s *store) cut(all blocks) error {
	for _, b := range all {
		info, err := b.Stat()
		if err != nil || info.Size() >= b.size {
			continue
		}
		had := s.marks()
		had[b.account] = math.MaxUint64
		if err := s.note(had); err != nil {
			return err
		}
		return fmt.Errorf("%w: account %q: %s had %d bytes, and %d of them can be read", errDamaged, b.account, b.Name(), b.size, info.Size())
	}
	return nil
}
