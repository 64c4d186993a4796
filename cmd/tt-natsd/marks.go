package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

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

// marksOf returns how far the streams have got on the disk of this server.
func marksOf(srv *server.Server) marks {
	all := make(marks)
	v, err := srv.Jsz(&server.JSzOptions{Accounts: true, Streams: true, Limit: 1 << 20})
	if err != nil {
		return all
	}
	for _, account := range v.AccountDetails {
		for _, stream := range account.Streams {
			if stream.Name == entries {
				all[account.Name] = stream.State.LastSeq
			}
		}
	}
	return all
}

func (s *store) marksPath() string { return filepath.Join(s.dir, marksName) }

// reach notes how far the streams have got. It returns errDamaged if one had got farther.
func (s *store) reach(now marks) error {
	had := make(marks)
	if b, err := os.ReadFile(s.marksPath()); err == nil {
		_ = json.Unmarshal(b, &had)
	}
	for account, last := range now {
		if last < had[account] {
			return fmt.Errorf("%w: account %q had %d, and has %d", errDamaged, account, had[account], last)
		}
	}
	if next := maps.Clone(had); len(now) > 0 {
		if maps.Copy(next, now); !maps.Equal(next, had) {
			if b, err := json.Marshal(next); err == nil && os.WriteFile(s.marksPath()+"-", b, 0o600) == nil {
				_ = os.Rename(s.marksPath()+"-", s.marksPath())
			}
		}
	}
	return nil
}
