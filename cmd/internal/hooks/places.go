package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/identity"
)

// placesDir has, below a directory for each work tree, a file for each session that works there
// and whose hooks are installed: its process, if that is known. Its time is the last sign of life,
// to a minute.
const placesDir = "places"

const (
	placeEvery = time.Minute
	placeLasts = 30 * time.Minute // of a session of which no process is known
)

// places are the sessions that work in one tree.
type places struct {
	dir string
	me  *listen.Agent
}

func (h *run) places(root string, me *listen.Agent) places {
	sum := sha256.Sum256([]byte(root))
	return places{filepath.Join(h.store.Dir(), placesDir, hex.EncodeToString(sum[:8])), me}
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
		if f, err := os.OpenFile(filepath.Join(p.dir, p.me.Client.Self.ID), os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			if root := p.me.Client.Self.Root; root != nil {
				_ = json.NewEncoder(f).Encode(root)
			}
			_ = f.Close()
			ids, _, _ = p.look() // of two that take a place at once, one at least sees the other
		}
	}
	return ids
}

// Seen returns how many sessions work in the tree of root.
func Seen(client *member.Client, root string) int {
	h := run{store: client.Store}
	ids, _, has := h.places(root, &listen.Agent{Client: client}).look()
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
		if id == p.me.Client.Self.ID {
			has = p.keep()
			continue
		}
		age := time.Since(info.ModTime())
		process := p.me.Client.HearingOf(id).Listener().Process
		if process == nil {
			var of identity.Process
			if b, err := os.ReadFile(path); err == nil && json.Unmarshal(b, &of) == nil {
				process = &of
			}
		}
		e, ended := p.me.Client.HearingOf(id).Ended()
		switch {
		case ended && e.Of(process):
			_ = os.Remove(path)
		case process == nil && age > placeLasts, process != nil && p.me.Client.Table.Verdict(*process) == identity.Gone:
			_ = os.Remove(path)
		case process != nil && identity.StartedBy(p.me.Client.Table, p.me.Client.Self.Harness, p.me.Client.Self.Root,
			[]identity.Process{*process}):
			isPart = true
		default:
			ids = append(ids, id)
		}
	}
	return ids, isPart, has
}

// keep records a sign of life of this session, and reports whether it has a place.
func (p places) keep() bool {
	path := filepath.Join(p.dir, p.me.Client.Self.ID)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
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
