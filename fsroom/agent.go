package fsroom

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

// An Agent is the directory of one agent in a room. It holds what is true of
// the agent on this machine but is no event: when it was seen, whether it waits,
// which processes it is, what it holds. Losing it loses no history.
//
// A file whose only content is its modification time is a mark; a mark that a
// process holds by a kernel lock says that the process is there.
type Agent struct {
	store   *Store
	dir     string
	planted error // something else stands where the directory should be
}

// Agent returns the directory of an agent, which need not exist.
func (r *Room[S]) Agent(id string) Agent {
	a := Agent{store: r.store, dir: filepath.Join(r.AgentsDir(), agentKey(id))}
	if !r.dirsChecked.Load() {
		a.planted = r.store.Explain(r.checkDirs(), r.dir)
	}
	if a.planted == nil {
		a.planted = r.store.Explain(r.store.checkDirs(r.AgentsDir(), a.dir), a.dir)
	}
	return a
}

// agentKey is a file name for any agent id: readable, and different for ids
// that differ only in case or in characters that file systems do not like.
func agentKey(id string) string {
	sum := sha256.Sum256([]byte(id))
	return slug(id) + "-" + hex.EncodeToString(sum[:6])
}

func (a Agent) path(name string) string { return filepath.Join(a.dir, name) }

// Path returns the path of one of the agent's files, for messages.
func (a Agent) Path(name string) string { return a.path(name) }

// explain turns an error of the system into one with a code, as the other
// errors of a room have it.
func (a Agent) explain(err error) error { return a.store.Explain(err, a.dir) }

// Mark sets the time of a mark, creating it if need be.
func (a Agent) Mark(name string, at time.Time) error {
	if a.planted != nil {
		return a.planted
	}
	return a.explain(a.mark(name, at))
}

func (a Agent) mark(name string, at time.Time) error {
	if err := a.part(name); err != nil {
		return err
	}
	path := a.path(name)
	err := lockfile.Touch(path, at)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := MakeDir(a.dir); err != nil {
		return err
	}
	f, err := lockfile.OpenRegular(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	f.Close()
	lockfile.Adopt(path)
	return lockfile.Touch(path, at)
}

// part takes away what stands in place of a mark and is no plain file of one
// name. A file that is held stays, with whatever other names it has: who holds it
// holds the file and not the name.
func (a Agent) part(name string) error {
	info, err := os.Lstat(a.path(name))
	if err != nil || info.Mode().IsRegular() && (lockfile.Links(info) < 2 || a.Held(name)) {
		return nil
	}
	return os.Remove(a.path(name))
}

// Marked returns the time of a mark, zero if there is none.
func (a Agent) Marked(name string) time.Time {
	if a.planted != nil {
		return time.Time{}
	}
	info, err := os.Lstat(a.path(name))
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}
	}
	return info.ModTime()
}

// Hold holds a mark until release is called or the process ends, however it
// ends. Several processes may hold one mark.
func (a Agent) Hold(name string) (release func(), err error) {
	if a.planted != nil {
		return nil, a.planted
	}
	if err := MakeDir(a.dir); err != nil {
		return nil, a.explain(err)
	}
	release, err = lockfile.Hold(a.path(name))
	return release, a.explain(err)
}

// Held reports whether any process holds the mark.
func (a Agent) Held(name string) bool {
	if a.planted != nil {
		return false
	}
	held, err := lockfile.Held(a.path(name))
	return err == nil && held
}

// Holders counts the agents, except the one with the id, whose mark some process
// holds.
func (r *Room[S]) Holders(mark, except string) (int, error) {
	entries, err := os.ReadDir(r.AgentsDir())
	if err != nil {
		return 0, r.store.Explain(err, r.AgentsDir())
	}
	n := 0
	for _, e := range entries {
		if e.IsDir() && e.Name() != agentKey(except) && (Agent{dir: filepath.Join(r.AgentsDir(), e.Name())}).Held(mark) {
			n++
		}
	}
	return n, nil
}

// ForgetAgents removes the directories of agents that hold nothing but the mark,
// which no process holds. The caller has the room's lock, and the mark is taken
// under that lock only.
func (r *Room[S]) ForgetAgents(mark string) {
	entries, _ := os.ReadDir(r.AgentsDir())
	for _, e := range entries {
		a := Agent{dir: filepath.Join(r.AgentsDir(), e.Name())}
		files, err := os.ReadDir(a.dir)
		if err != nil || !e.IsDir() || len(files) != 1 || files[0].Name() != mark || a.Held(mark) {
			continue
		}
		if os.Remove(a.path(mark)) == nil {
			_ = os.Remove(a.dir)
		}
	}
}

// Read decodes a file of the agent into v. It reports false for a file that is
// missing or damaged, which is the same as never written.
func (a Agent) Read(name string, v wire.Fields) bool {
	const limit = 1 << 20
	if a.planted != nil {
		return false
	}
	b, err := lockfile.ReadRegular(a.path(name), limit)
	return err == nil && wire.Decode(b, v) == nil
}

// Write replaces a file of the agent, atomically but without a sync: a power cut
// may leave it empty, which is the same as never written. The caller holds the
// room's lock, or is the only one who writes this file.
func (a Agent) Write(name string, v wire.Fields) error {
	if a.planted != nil {
		return a.planted
	}
	temp := a.path("tmp")
	if err := MakeDir(temp); err != nil {
		return a.explain(err)
	}
	if err := lockfile.ReplaceUnsynced(a.path(name), append(wire.Append(nil, v), '\n'), temp); err != nil {
		return a.explain(err)
	}
	sweepOld(temp, a.path(name))
	return nil
}

// sweepOld removes what killed processes left in temp. Others may be writing
// there just now, so only what is clearly older than the file just written goes.
func sweepOld(temp, written string) {
	entries, err := os.ReadDir(temp)
	if err != nil || len(entries) == 0 {
		return
	}
	now, err := os.Lstat(written)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && now.ModTime().Sub(info.ModTime()) > time.Minute {
			_ = os.Remove(filepath.Join(temp, e.Name()))
		}
	}
}

// Remove removes a file of the agent, which may be missing.
func (a Agent) Remove(name string) error {
	if a.planted != nil {
		return a.planted
	}
	err := os.Remove(a.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return a.explain(err)
}
