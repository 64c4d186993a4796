package fsroom

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

// An Agent is the directory of one agent in a room. It has the facts about the agent on this machine that are not events: when it was
// seen, whether it waits, which its processes are, which lease it has. To lose it loses no history.
//
// A mark is a file that counts by its modification time; it is empty, or signed with the agent's id. A process can hold a mark by a kernel
// lock, which shows that the process is there.
type Agent struct {
	store    *Store
	dir      string
	unusable error // why the directory cannot be used
	peers    Peers // the other hosts that share the room; nil: none do
}

// Agent returns the directory of an agent, which need not exist.
func (r *Room[S]) Agent(id string) Agent {
	a := r.localAgent(id)
	if r.shared != nil {
		a.peers = r.shared
	}
	return a
}

// localAgent returns the directory of an agent as if no other host knew it. It looks at the directory once after each [Files.CheckDirs].
func (r *Files[S]) localAgent(id string) Agent {
	var unusable error
	if !r.dirsChecked.Load() {
		unusable = r.store.Explain(r.CheckDirs(), r.dir)
	}
	if a, ok := r.agents.Load(id); ok {
		return a.(Agent)
	}
	a := Agent{store: r.store, dir: filepath.Join(r.AgentsDir(), AgentKey(id)), unusable: unusable}
	if a.unusable == nil {
		a.unusable = r.store.Explain(r.store.checkDirs(r.AgentsDir(), a.dir), a.dir)
	}
	if a.unusable == nil {
		r.agents.Store(id, a)
	}
	return a
}

// AgentKey returns a file name for an agent id. It is readable, and differs for ids that
// differ only in case or in characters that are not safe in file names.
func AgentKey(id string) string {
	sum := sha256.Sum256([]byte(id))
	return slug(id) + "-" + hex.EncodeToString(sum[:6])
}

// Path returns the path of one of the agent's files.
func (a Agent) Path(name string) string { return filepath.Join(a.dir, name) }

// explain gives an error of the system a code.
func (a Agent) explain(err error) error { return a.store.Explain(err, a.dir) }

// makeDir makes the directory of the agent, or one in it.
func (a Agent) makeDir(dir string) error {
	if a.unusable != nil {
		return a.unusable
	}
	return a.explain(MakeDir(dir))
}

// Mark sets the time of a mark, and creates it if it is missing.
func (a Agent) Mark(name string, at time.Time) error {
	if a.unusable != nil {
		return a.unusable
	}
	err := a.mark(name, at)
	if err == nil {
		a.publish(name)
	}
	return a.explain(err)
}

// publish makes a file that has changed known to other hosts.
func (a Agent) publish(name string) {
	if a.peers != nil {
		a.peers.Publish(a.dir, name)
	}
}

// key returns the name of the agent's directory.
func (a Agent) key() string { return filepath.Base(a.dir) }

func (a Agent) mark(name string, at time.Time) error {
	if err := a.unshare(name); err != nil {
		return err
	}
	path := a.Path(name)
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

// unshare removes a mark that is not a regular file, or has other names (hard links). A
// mark that is held stays: its holder holds the file, not the name.
func (a Agent) unshare(name string) error {
	info, err := os.Lstat(a.Path(name))
	if err != nil || info.Mode().IsRegular() && (lockfile.Links(info) < 2 || a.Held(name)) {
		return nil
	}
	return os.Remove(a.Path(name))
}

// Marked returns the time of a mark, the zero Time if it does not exist.
func (a Agent) Marked(name string) time.Time {
	if a.unusable != nil {
		return time.Time{}
	}
	var at time.Time
	if info, err := os.Lstat(a.Path(name)); err == nil && info.Mode().IsRegular() {
		at = info.ModTime()
	}
	if a.peers != nil {
		if told := a.peers.Told(a.key()); told != nil && told.Marks[name].After(at) {
			return told.Marks[name]
		}
	}
	return at
}

// Hold holds a mark until release is called or the process ends, however it ends. Several processes may hold one mark.
func (a Agent) Hold(name string) (release func(), err error) {
	if err := a.makeDir(a.dir); err != nil {
		return nil, err
	}
	release, err = lockfile.Hold(a.Path(name))
	if err != nil {
		return nil, a.explain(err)
	}
	if a.peers == nil {
		return release, nil
	}
	withdraw, unlock := a.peers.Announce(a.key(), name), release
	return func() { withdraw(); unlock() }, nil
}

// Held reports whether any process holds the mark.
func (a Agent) Held(name string) bool {
	if a.unusable != nil {
		return false
	}
	held, err := lockfile.Held(a.Path(name))
	return err == nil && held || a.peers != nil && a.peers.Held(a.key(), name)
}

// Sign writes the agent's id into a mark that exists, by which [Room.Holders] knows it.
func (a Agent) Sign(name, id string) error {
	if a.unusable != nil {
		return a.unusable
	}
	f, err := lockfile.OpenRegular(a.Path(name), os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return a.explain(err)
	}
	_, err = f.WriteString(id)
	err = errors.Join(err, f.Close())
	if err == nil {
		a.publish(name)
	}
	return a.explain(err)
}

// Touch sets the time of a mark, and does nothing if it does not exist.
func (a Agent) Touch(name string, at time.Time) {
	if a.unusable == nil {
		_ = lockfile.Touch(a.Path(name), at)
	}
}

// A Holder is an agent whose mark a process holds.
type Holder struct {
	ID     string // "" if the mark is not signed
	Marked time.Time
	Key    string // the name of its directory
}

// LongestSign is the most bytes that the signature of a mark has, see [Agent.Sign].
const LongestSign = 1 << 10

// Holders returns the agents whose mark a process holds, in no order, without the agent
// with the id except: those of this host, and those of the others that share the room.
func (r *Room[S]) Holders(mark, except string) ([]Holder, error) {
	entries, err := os.ReadDir(r.AgentsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, r.store.Explain(err, r.AgentsDir())
	}
	var all []Holder
	for _, e := range entries {
		a := Agent{dir: filepath.Join(r.AgentsDir(), e.Name())}
		if !e.IsDir() || e.Name() == AgentKey(except) || !a.Held(mark) {
			continue
		}
		h := Holder{Marked: a.Marked(mark), Key: e.Name()}
		if id, err := lockfile.ReadRegular(a.Path(mark), LongestSign); err == nil && AgentKey(string(id)) == e.Name() {
			h.ID = string(id)
		}
		all = append(all, h)
	}
	if r.shared == nil {
		return all, nil
	}
	for _, h := range r.shared.Holders(mark) {
		if h.Key != AgentKey(except) && !slices.ContainsFunc(all, func(here Holder) bool { return here.Key == h.Key }) {
			all = append(all, h)
		}
	}
	return all, nil
}

// ForgetAgents removes the directories of agents that have no file but the mark, unless a process holds it. The caller has the lock of the
// room, and processes start to hold the mark only while they have that lock.
func (r *Files[S]) ForgetAgents(mark string) {
	entries, _ := os.ReadDir(r.AgentsDir())
	for _, e := range entries {
		a := Agent{dir: filepath.Join(r.AgentsDir(), e.Name())}
		files, err := os.ReadDir(a.dir)
		if err != nil || !e.IsDir() || len(files) != 1 || files[0].Name() != mark || a.Held(mark) {
			continue
		}
		if os.Remove(a.Path(mark)) == nil {
			_ = os.Remove(a.dir)
		}
	}
}

// Read decodes a file of the agent into the zero value that v points to. It returns false, and v stays zero, for a file that is missing
// or damaged: both count as never written.
func (a Agent) Read(name string, v any) bool {
	const limit = 1 << 20
	if a.unusable != nil {
		return false
	}
	b, err := lockfile.ReadRegular(a.Path(name), limit)
	if a.peers != nil {
		if told := a.peers.Told(a.key()); told != nil && told.Files[name] != nil && told.At.After(a.Changed(name)) {
			b, err = told.Files[name], nil
		}
	}
	if err == nil && wire.Decode(b, v) == nil {
		return true
	}
	reflect.ValueOf(v).Elem().SetZero()
	return false
}

// Changed returns the modification time of a file of the agent on this host, the zero Time if it is missing.
func (a Agent) Changed(name string) time.Time {
	info, err := os.Lstat(a.Path(name))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Write replaces a file of the agent, atomically but without a sync: a power cut may leave it empty, which counts as never written. The
// caller has the room's lock, or no other process writes the file.
func (a Agent) Write(name string, v any) error {
	temp := a.Path("tmp")
	if err := a.makeDir(temp); err != nil {
		return err
	}
	if err := lockfile.ReplaceUnsynced(a.Path(name), append(wire.Append(nil, v), '\n'), temp); err != nil {
		return a.explain(err)
	}
	sweepOld(temp, "", func() time.Time { return a.Changed(name) })
	a.publish(name)
	return nil
}

// ChangePatience is how long [Agent.Change] waits for other processes at most. Tests allow more.
var ChangePatience = 500 * time.Millisecond

// Change decodes a file of the agent into v as [Agent.Read] does, calls change, and replaces the file by v, as [Agent.Write] does, if
// that is another value then. Processes that change the agent's files do so one after the other; one that is stopped meanwhile is waited
// for only briefly, and the change is given up.
func (a Agent) Change(name string, v any, change func()) error {
	ctx, cancel := context.WithTimeout(context.Background(), ChangePatience)
	defer cancel()
	unlock, err := a.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	a.Read(name, v)
	was := wire.Append(nil, v)
	if change(); bytes.Equal(wire.Append(nil, v), was) {
		return nil
	}
	return a.Write(name, v)
}

// sweepOld removes temporary files of killed processes, whose names begin with the prefix. Other
// processes may be writing at the same time, so it leaves those that are not much older than now.
func sweepOld(dir, prefix string, now func() time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now().Sub(info.ModTime()) > time.Minute {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Remove removes a file of the agent. A missing file is no error.
func (a Agent) Remove(name string) error {
	if a.unusable != nil {
		return a.unusable
	}
	err := os.Remove(a.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	a.publish(name)
	return a.explain(err)
}
