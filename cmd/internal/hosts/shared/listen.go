package shared

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
)

// tellEvery is how often a listener looks whether it has something to tell other hosts.
const tellEvery = 20 * time.Second

// A listening keeps the mirrors of an agent's rooms up to date while it listens, so that
// its wake file is touched when another host has news for it, and tells the other hosts
// how it listens. All rooms have one connection.
type listening struct {
	store *fsroom.Store
	agent string
	names func() []string
	how   func() string

	mu      sync.Mutex
	rooms   map[string]*heard
	ended   bool
	hearing sync.WaitGroup
}

// A heard room is one that the agent listens in.
type heard struct {
	update chan struct{}
	cancel context.CancelFunc
}

// Listen implements [hosts.Sharing].
func (s *sharing) Listen(agent string, rooms func() []string, how func() string) (update, stop func()) {
	opts, closeEngine := s.options, func() {}
	if opts.Engine == nil {
		e, err := s.open(s.service)
		if err != nil {
			return func() {}, func() {}
		}
		opts.Engine, closeEngine = e, func() { _ = e.Close() }
	}
	store, err := fsroom.Open(hosts.MirrorDir(s.dataDir, s.service), opts)
	if err != nil {
		closeEngine()
		return func() {}, func() {}
	}
	l := &listening{store: store, agent: agent, names: rooms, how: how, rooms: make(map[string]*heard)}
	l.update()
	return l.update, func() {
		l.stop()
		closeEngine()
	}
}

// update begins and ends to listen in rooms, and lets each tell what has changed.
func (l *listening) update() {
	names := l.names()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	for name, h := range l.rooms {
		if slices.Contains(names, name) {
			select {
			case h.update <- struct{}{}:
			default:
			}
			continue
		}
		h.cancel()
		delete(l.rooms, name)
	}
	for _, name := range names {
		if l.rooms[name] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		h := &heard{update: make(chan struct{}, 1), cancel: cancel}
		l.rooms[name] = h
		l.hearing.Go(func() { l.hear(ctx, name, h.update) })
	}
}

// stop ends all, and withdraws what was told.
func (l *listening) stop() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	for _, h := range l.rooms {
		h.cancel()
	}
	done := make(chan struct{})
	go func() { l.hearing.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Second): // the end of the process withdraws it too
	}
}

// hear listens in one room, and on the topic with its questions.
func (l *listening) hear(ctx context.Context, name string, update <-chan struct{}) {
	room := fsroom.At(l.store, roomtypes.Stick(), name)
	defer room.Pull(ctx)()
	agent := room.Agent(l.agent)
	release, err := agent.Hold(hearing.File)
	if err != nil {
		return
	}
	defer release()
	defer questions.OfRoom(l.store, name).Pull(ctx)()
	ticks := time.NewTicker(tellEvery)
	defer ticks.Stop()
	told, cursor := "", time.Time{}
	for {
		if how, at := l.how(), agent.Changed(hearing.CursorFile); how != told || !at.Equal(cursor) {
			_ = agent.Sign(hearing.File, how)
			told, cursor = how, at
		}
		select {
		case <-ctx.Done():
			return
		case <-update:
		case <-ticks.C:
		}
	}
}
