// Package viewstore opens the rooms that tt-console shows: those of the data directory, or
// with an engine those of all hosts that share it.
package viewstore

import (
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/hosts/engines"
	"github.com/talking-stick/tt/cmd/internal/roomarg"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// Sharing returns how rooms are shared. Tests have engines of their own.
var Sharing = engines.Sharing

// A View is the rooms of a command line.
type View struct {
	// Store has the rooms. With an engine it is that of the mirrors, and asks the engine.
	Store *fsroom.Store
	Clock func() turn.Instant // that of the engine; nil: that of this machine

	sharing hosts.Sharing // nil without an engine
	dir     *workspace.Workspace
	missing error // of dir
}

// Open opens the rooms of the data directory, or those of the engine that the environment
// or the workspace names. It connects to nothing.
func Open(c *cli.Invocation, o fsroom.Options) (*View, error) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err != nil {
		return nil, err
	}
	v := &View{}
	v.dir, v.missing = roomarg.Locate(c)
	service, err := hosts.Find(c.Env.Lookup, c.String("room"), dir, v.dir)
	if err != nil {
		return nil, err
	}
	if service == nil {
		v.Store, err = fsroom.Open(dir, o)
		return v, err
	}
	v.sharing = Sharing()
	if v.Store, err = v.sharing.Open(service, dir, o, false); err != nil {
		return nil, err
	}
	v.Clock = v.sharing.Clock(v.Store)
	return v, nil
}

// IsShared reports whether an engine has the rooms.
func (v *View) IsShared() bool { return v.sharing != nil }

// Workspace returns the workspace that the command line names, with the name by which all
// hosts know its room if an engine has it. The results are those of [workspace.Locate].
func (v *View) Workspace(c *cli.Invocation) (*workspace.Workspace, error) {
	if v.sharing == nil || v.dir == nil {
		return v.dir, v.missing
	}
	given := c.Env.Lookup(hosts.RoomVariable)
	if c.Given("room") {
		given = c.String("room")
	}
	var err error
	if v.dir.Shared, err = v.sharing.Name(v.dir.Root, given); err != nil {
		return v.dir, err
	}
	return v.dir, v.missing
}

const (
	// followPause is the shortest time between two looks at what all rooms have.
	followPause = 100 * time.Millisecond
	// followPoll is how often that is looked at without a notification, and followRetry
	// how often while the engine is away or cannot notify.
	followPoll, followRetry = 20 * time.Second, 2 * time.Second
)

// Follow brings the mirrors of all rooms up to date, now and after each change, until ctx
// ends. It calls reached after each try: with nil, or why the engine cannot be reached.
// Without an engine it does nothing.
func (v *View) Follow(ctx context.Context, reached func(error)) {
	if v.sharing == nil {
		return
	}
	opts := v.Store.Options()
	opts.Behind = nil
	store, err := fsroom.Open(v.Store.Dir(), opts)
	if err != nil {
		reached(err)
		return
	}
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	e, _ := opts.Engine.(engine.AllWatcher)
	watched := false
	for ctx.Err() == nil {
		if e != nil && !watched {
			if stop, err := e.WatchAll(ctx, notify); err == nil {
				watched = true
				defer stop()
			}
		}
		_, err := fsroom.Refresh(ctx, store, roomtypes.Stick())
		if err == nil {
			_, err = fsroom.Refresh(ctx, store, roomtypes.Topics())
		}
		if ctx.Err() != nil {
			return
		}
		reached(err)
		rest := followPoll
		if err != nil || !watched {
			rest = followRetry
		}
		sleep(ctx, rest, changed)
		sleep(ctx, followPause, nil)
	}
}

// sleep sleeps until d is over, ctx ends, or there is something in c.
func sleep(ctx context.Context, d time.Duration, c <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-c:
	}
}
