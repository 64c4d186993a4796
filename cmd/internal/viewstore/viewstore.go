// Package viewstore opens the rooms that tt-console shows: those of the data directory, or
// with an engine those of all hosts that share it.
package viewstore

import (
	"context"
	"errors"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/hosts/engines"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
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
	session *session.Session
}

// Open opens the rooms of the data directory, or those of the engine that the environment
// or the workspace names. It connects to nothing.
func Open(c *cli.Invocation, o fsroom.Options) (*View, error) {
	path, err := session.Given(c)
	if err != nil {
		return nil, err
	}
	s := session.Of(c, path)
	if err := errors.Join(s.NoDataDir, s.NoEngine); err != nil {
		return nil, err
	}
	v := &View{session: s}
	if s.Engine == nil {
		v.Store, err = fsroom.Open(s.DataDir, o)
		return v, err
	}
	v.sharing = Sharing()
	if v.Store, err = v.sharing.Open(s.Engine, s.DataDir, o, false); err != nil {
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
	s := v.session
	if v.sharing == nil || s.Workspace == nil {
		return s.Workspace, s.Missing
	}
	if err := s.Share(c.Env, v.sharing); err != nil {
		return s.Workspace, err
	}
	return s.Workspace, s.Missing
}

// followPoll is how often it is looked at what all rooms have.
const followPoll = 2 * time.Second

// Follow brings the mirrors of all rooms up to date, now and every two seconds, until ctx
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
	for ctx.Err() == nil {
		_, err := fsroom.Refresh(ctx, store, roomtypes.Stick())
		if err == nil {
			_, err = fsroom.Refresh(ctx, store, roomtypes.Topics())
		}
		if ctx.Err() != nil {
			return
		}
		reached(err)
		select {
		case <-ctx.Done():
		case <-time.After(followPoll):
		}
	}
}
