package fsroom

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// ListenersFolder is the directory with the listeners. Each agent has one directory there, for
// all its rooms, since the harness that listens for the agent is one too.
const ListenersFolder = "listeners"

// The files of a listener that processes need to know to notify it.
const (
	// ListenerWakeFile is the file whose modification time is set to notify it.
	ListenerWakeFile = "wake"
	// ListenerFile is replaced whenever what listens has noticed a notification.
	ListenerFile = "listener.json"
	// ListenerAskedFile is a mark: the time of the first notification that was not noticed.
	ListenerAskedFile = "asked"
)

// Listener returns the directory of an agent that belongs to no room: of what listens for
// it. It need not exist, and is checked once.
func (s *Store) Listener(id string) Agent {
	if known, ok := s.listeners.Load(id); ok {
		return known.(Agent)
	}
	a := Agent{store: s, dir: s.listenerDir(id)}
	if a.unusable = s.Explain(s.checkDirs(filepath.Dir(a.dir), a.dir), a.dir); a.unusable == nil {
		s.listeners.Store(id, a)
	}
	return a
}

func (s *Store) listenerDir(id string) string {
	return filepath.Join(s.dir, ListenersFolder, AgentKey(id))
}

// ListenerHas reports whether the directory of [Store.Listener] has a file with the name.
func (s *Store) ListenerHas(id, name string) bool {
	return exists(filepath.Join(s.listenerDir(id), name))
}

// NotifyListener notifies what listens for an agent. Where nothing does, it costs one look
// at a file that is missing.
func (s *Store) NotifyListener(id string) { s.NotifyListenerOf(AgentKey(id)) }

// NotifyListenerOf is [Store.NotifyListener] for the agent with the key, see [AgentKey].
func (s *Store) NotifyListenerOf(key string) {
	dir, now := Agent{store: s, dir: filepath.Join(s.dir, ListenersFolder, key)}, time.Now()
	path := dir.Path(ListenerWakeFile)
	if !exists(path) || s.checkDirs(filepath.Dir(dir.dir), dir.dir) != nil {
		return
	}
	if !dir.Marked(ListenerFile).Before(dir.Marked(ListenerWakeFile)) {
		_ = dir.Mark(ListenerAskedFile, now)
	}
	_ = lockfile.Touch(path, now)
}

// Within returns the directory with the name inside of that of the agent.
func (a Agent) Within(name string) Agent {
	a.dir = a.Path(name)
	if a.unusable == nil {
		a.unusable = a.explain(a.store.checkDirs(a.dir))
	}
	return a
}

// Has reports whether the agent has a file with the name, of whatever type.
func (a Agent) Has(name string) bool { return exists(a.Path(name)) }

// Names returns the names of the agent's files.
func (a Agent) Names() (names []string) {
	if a.unusable != nil {
		return nil
	}
	entries, _ := os.ReadDir(a.dir)
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

// Clear removes the directory of the agent with all that is in it.
func (a Agent) Clear() error {
	if a.unusable != nil {
		return a.unusable
	}
	return os.RemoveAll(a.dir)
}

// Lock takes the lock of the agent's files, which processes hold for milliseconds. It
// creates the directory if it is missing. The errors are those of [Room.Update].
func (a Agent) Lock(ctx context.Context) (unlock func() error, err error) {
	if a.unusable != nil {
		return nil, a.unusable
	}
	unlock, err = a.store.lock(ctx, a.Path("lock"), func() error { return MakeDir(a.dir) })
	return unlock, a.explain(err)
}

// A MarkWatch tells when a mark of an agent is set.
type MarkWatch struct {
	agent Agent
	name  string
	sub   *subscription
	seen  time.Time
}

// WatchMark watches a mark that exists. What is set after it returns is noticed.
func (a Agent) WatchMark(name string) *MarkWatch {
	return &MarkWatch{agent: a, name: name, sub: a.store.subscribe(a.Path(name)), seen: a.Marked(name)}
}

// Wait waits until the mark is set, or until sleep ends. The error is the cause of the end
// of ctx.
func (w *MarkWatch) Wait(ctx context.Context, sleep Sleep) error {
	for {
		reason, err := w.sub.wait(ctx, sleep)
		if err != nil {
			return err
		}
		now := w.agent.Marked(w.name)
		if reason != polled || !now.Equal(w.seen) {
			w.seen = now
			return nil
		}
		if sleep.For > 0 {
			sleep.For = max(sleep.For-w.sub.slept, 1)
		}
	}
}

// Stop ends the watch.
func (w *MarkWatch) Stop() { go w.sub.stop() }
