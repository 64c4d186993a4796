// Package shared opens the mirrors of rooms that an engine shares. Programs that have engines
// link it, and no others.
package shared

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hosts"
	mirrored "github.com/talking-stick/tt/cmd/internal/roomtypes/sharing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/lockfile"
)

// With returns the sharing of a program that opens engines by the function.
func With(open func(*hosts.Service) (engine.Engine, error)) hosts.Sharing {
	mirrored.Enable()
	over, end := context.WithCancel(context.Background())
	return &sharing{
		interrupt: sync.OnceFunc(func() { time.AfterFunc(lastWords, end) }),
		open: func(service *hosts.Service) (engine.Engine, error) {
			e, err := open(service)
			if err == nil {
				context.AfterFunc(over, e.Interrupt)
			}
			return e, err
		},
	}
}

// lastWords is how long the engine is waited for once the command was interrupted: enough
// for one that is there.
const lastWords = 50 * time.Millisecond

// brief is how long a command uses what it has fetched: as long as one takes.
const brief = 100 * time.Millisecond

type sharing struct {
	open      func(*hosts.Service) (engine.Engine, error)
	interrupt func()
	// The store that was opened last.
	clock   *Clock
	service *hosts.Service
	dataDir string
	options fsroom.Options
	store   *fsroom.Store
}

// Open implements [hosts.Sharing].
func (s *sharing) Open(service *hosts.Service, dataDir string, o fsroom.Options, mirrorOnly bool) (*fsroom.Store, error) {
	open := s.open
	if mirrorOnly {
		open = nil
	}
	dir, o, clock, err := Options(open, service, dataDir, o)
	if err != nil {
		return nil, err
	}
	s.clock, s.service, s.dataDir, s.options = clock, service, dataDir, o
	o.Brief = brief
	s.store, err = fsroom.Open(dir, o)
	return s.store, err
}

// Finish implements [hosts.Sharing].
func (s *sharing) Finish(patience time.Duration) {
	if s.store != nil {
		s.store.Published(patience)
	}
}

// Interrupt implements [hosts.Sharing].
func (s *sharing) Interrupt() { s.interrupt() }

// Options returns the options of a store of mirrors, its directory, and the clock of its
// rooms. A nil open leaves the engine out. A host is a data directory: two on one machine are two hosts, none of
// which can say of a process of the other whether it lives.
func Options(open func(*hosts.Service) (engine.Engine, error), service *hosts.Service, dataDir string,
	o fsroom.Options) (dir string, _ fsroom.Options, clock *Clock, err error) {
	o.Host = hostOf(dataDir)
	o.Boot = identity.BootID()
	identity.UseHost(o.Host)
	if _, err := fsroom.Open(dataDir, o); err != nil { // it may be one of a newer version
		return "", o, nil, err
	}
	o.Local = dataDir
	o.Environ = []string{"TALKING_STICK_DATA_DIR=" + dataDir, hosts.EngineVariable + "=" + service.Name}
	if open != nil {
		e, err := open(service)
		if err != nil {
			return "", o, nil, err
		}
		o.Engine = e
	}
	dir = hosts.MirrorDir(dataDir, service)
	clock = NewClock(dir, o.Engine)
	o.Now = func() time.Time { return clock.Now().Wall.Time }
	return dir, o, clock, nil
}

// hostOf names the host that a data directory is. Machines may have the same name, and their
// data directories the same path.
func hostOf(dataDir string) string {
	hostname, _ := os.Hostname()
	machine, _ := lockfile.ReadRegular("/etc/machine-id", 1<<10)
	return hostname + ":" + fsroom.RoomName(string(machine)+dataDir)
}

// Name implements [hosts.Sharing].
func (s *sharing) Name(root, given string) (string, error) { return workspace.SharedName(root, given) }

// Outer implements [hosts.Sharing].
func (s *sharing) Outer(root, home string) *workspace.Workspace {
	return Outer(func(root string) (string, error) { return workspace.SharedName(root, "") }, root, home)
}

// Outer is that of a [hosts.Sharing] which names workspaces by a function.
func Outer(name func(root string) (string, error), root, home string) *workspace.Workspace {
	for dir := filepath.Dir(root); dir != root; dir = filepath.Dir(root) {
		w, err := workspace.Locate(dir, "", home)
		if err != nil {
			return nil
		}
		root = w.Root
		if w.Shared, err = name(root); err == nil {
			w.Outer = sync.OnceValue(func() *workspace.Workspace { return Outer(name, root, home) })
			return w
		}
	}
	return nil
}

// Clock implements [hosts.Sharing].
func (s *sharing) Clock(store *fsroom.Store) func() turn.Instant {
	if s.clock.dir != store.Dir() || s.clock.engine != store.Options().Engine {
		return NewClock(store.Dir(), store.Options().Engine).Now
	}
	return s.clock.Now
}
