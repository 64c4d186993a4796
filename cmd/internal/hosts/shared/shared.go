// Package shared opens the mirrors of rooms that an engine shares. Programs that have engines
// link it, and no others.
package shared

import (
	"os"

	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
)

// With returns the sharing of a program that opens engines by the function.
func With(open func(*hosts.Service) (engine.Engine, error)) hosts.Sharing {
	roomtypes.Share()
	return &sharing{open}
}

type sharing struct {
	open func(*hosts.Service) (engine.Engine, error)
}

// Open implements [hosts.Sharing]. A host is a data directory: two on one machine are two
// hosts, none of which can say of a process of the other whether it lives.
func (s *sharing) Open(service *hosts.Service, dataDir string, o fsroom.Options, mirrorOnly bool) (*fsroom.Store, error) {
	hostname, _ := os.Hostname()
	o.Host = hostname + ":" + fsroom.RoomName(dataDir)
	identity.UseHost(o.Host)
	o.Environ = []string{"TALKING_STICK_DATA_DIR=" + dataDir, hosts.EngineVariable + "=" + service.Name}
	if !mirrorOnly {
		e, err := s.open(service)
		if err != nil {
			return nil, err
		}
		o.Engine = e
	}
	return fsroom.Open(hosts.MirrorDir(dataDir, service), o)
}

// Name implements [hosts.Sharing].
func (s *sharing) Name(root, given string) (string, error) { return workspace.SharedName(root, given) }

// Clock implements [hosts.Sharing].
func (s *sharing) Clock(store *fsroom.Store) func() turn.Instant {
	return NewClock(store.Dir(), store.Options().Engine).Now
}
