package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/wire"
)

// placesDir has, below a directory for each work tree, a file for each session that works there
// and whose hooks are installed: its processes, if they are known, one a line. Its time is the last sign of
// life, to a minute.
const placesDir = "places"

const (
	placeEvery = time.Minute
	placeLasts = 30 * time.Minute // of a session of which no process is known
)

// places are the sessions that work in one tree.
type places struct {
	dir    string
	client *member.Client // of this session
}

func placesIn(root string, client *member.Client) places {
	sum := sha256.Sum256([]byte(root))
	return places{filepath.Join(client.Store.Dir(), placesDir, hex.EncodeToString(sum[:8])), client}
}

// others returns the other sessions that live, and takes a place for this one if it works
// there: else, without a place, it sees nobody. A session that was started by a command of
// another one is part of it, and has no place. It removes the places of sessions that have ended.
func (p places) others(works bool) (ids []string) {
	ids, isPart, has := p.look()
	if !has && !isPart && !works {
		return nil
	}
	if !has && !isPart && os.MkdirAll(p.dir, 0o700) == nil {
		if p.add(filepath.Join(p.dir, p.client.Self.ID)) == nil {
			ids, _, _ = p.look() // of two that take a place at once, one at least sees the other
		}
	}
	return ids
}

// Seen returns how many sessions work in the tree of root.
func Seen(client *member.Client, root string) int {
	ids, _, has := placesIn(root, client).look()
	if has {
		return len(ids) + 1
	}
	return len(ids)
}

// look is others without a place. isPart is whether this session is part of another one, and
// has whether it has a place.
func (p places) look() (ids []string, isPart, has bool) {
	entries, _ := os.ReadDir(p.dir)
	for _, e := range entries {
		id, path := e.Name(), filepath.Join(p.dir, e.Name())
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if id == p.client.Self.ID {
			has = p.keep()
			continue
		}
		age := time.Since(info.ModTime())
		processes := p.processes(id)
		e, ended := p.client.HearingOf(id).Ended()
		live := slices.DeleteFunc(slices.Clone(processes), func(q identity.Process) bool {
			return ended && e.Of(&q) || p.client.Table.Verdict(q) == identity.Gone
		})
		switch {
		case len(live) == 0 && (len(processes) > 0 || ended || age > placeLasts):
			_ = os.Remove(path)
		case identity.StartedBy(p.client.Table, p.client.Self.Harness, p.client.Self.Root, processes):
			isPart = true
		case identity.HasStarted(p.client.Table, p.client.Self.Root, processes): // it is part of this one
		default:
			ids = append(ids, id)
		}
	}
	return ids, isPart, has
}

// processes returns those in which a session is open, as far as is known: each of its windows is one.
func (p places) processes(id string) (all []identity.Process) {
	if of := p.client.HearingOf(id).Listener().Process; of != nil {
		all = append(all, *of)
	}
	b, _ := os.ReadFile(filepath.Join(p.dir, id))
	for line := range bytes.Lines(b) {
		var of identity.Process
		if wire.Decode(line, &of) == nil {
			all = append(all, of)
		}
	}
	return all
}

// add adds the process of this session to its place.
func (p places) add(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if root := p.client.Self.Root; root != nil {
		_, _ = f.Write(append(wire.Append(nil, root), '\n'))
	}
	return f.Close()
}

// keep records a sign of life of this session, and reports whether it has a place.
func (p places) keep() bool {
	path := filepath.Join(p.dir, p.client.Self.ID)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if root := p.client.Self.Root; root != nil && !slices.Contains(p.processes(p.client.Self.ID), *root) {
		_ = p.add(path)
	}
	if time.Since(info.ModTime()) > placeEvery {
		now := time.Now()
		_ = os.Chtimes(path, now, now)
	}
	return true
}

// worksIn reports whether a write of the session to the tree of root is work there: in a
// repository, or where a session began of which no hook has told. All sessions write to /tmp.
func (h *run) worksIn(root, id string) bool {
	if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
		return true
	}
	at, err := h.Locate(h.call.Dir) // without symbolic links, as root is
	if err != nil {
		return false
	}
	below, err := filepath.Rel(root, at.Path)
	had, _ := filepath.Glob(filepath.Join(h.store.Dir(), placesDir, "*", id))
	return err == nil && filepath.IsLocal(below) && had == nil
}
