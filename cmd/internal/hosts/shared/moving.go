package shared

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/fsroom/mirror"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// reserved is how long a room's name is kept for the host that is about to publish it.
const reserved = time.Minute

// Import implements [hosts.Sharing].
func (s *sharing) Import(ctx context.Context, store *fsroom.Store, room string, h *history.History) (added int64, err error) {
	return mirror.Publish(ctx, store.Options().Engine, room, h)
}

// Copy implements [hosts.Sharing]. The room is closed before anything of it is published:
// once other hosts can go on with it, nobody can here. What is published is the room as it
// was before it was closed, so that members, handoff and notes go on. If Copy is killed, the next
// one finds the room closed, and publishes what is missing.
//
// Before the room is closed, its name at the engine is reserved, so that of two hosts that move
// different rooms to one name, one closes none.
func (s *sharing) Copy(ctx context.Context, to *hosts.Service, m hosts.Move) (moved hosts.Moved, err error) {
	e, err := s.open(to)
	if err != nil {
		return moved, err
	}
	defer e.Close()
	x := copier{e: e, m: m, host: hostOf(m.From.Dir()), at: roomtypes.Stick().Folder + "." + m.To, reason: turn.MovedTo + to.URL}
	for {
		h, ended, err := x.history(ctx)
		if err != nil {
			return moved, err
		}
		if err := x.reserve(ctx, h); err != nil {
			return moved, err
		}
		if !ended {
			err := m.Close(ctx, x.reason, h.Last())
			if errors.Is(err, turn.ErrWentOn) {
				continue
			}
			if err != nil {
				return moved, err
			}
			moved.Closed = true
		}
		moved.Events = h.Last()
		if moved.Added, err = mirror.Publish(ctx, e, x.at, h); err != nil {
			return moved, err
		}
		return moved, x.topic(ctx)
	}
}

// A copier is one Copy.
type copier struct {
	e      engine.Engine
	m      hosts.Move
	host   string // this one
	at     string // the room at the engine
	reason string
}

// history returns the events of the room, without the close that says where it goes on. ended
// reports whether it needs no closing: that is there, or no life is in progress.
func (x *copier) history(ctx context.Context) (h *history.History, ended bool, err error) {
	lines, err := history.Lines(ctx, fsroom.At(x.m.From, roomtypes.Stick(), x.m.Room))
	if err != nil {
		return nil, false, err
	}
	start := bytes.LastIndexByte(bytes.TrimSuffix(lines, []byte("\n")), '\n') + 1
	last, err := event.Decode(lines[start:])
	if err == nil && last.Type == turn.Closed && turn.GoOnAt(last.Reason, false) != "" {
		if last.Reason != x.reason {
			return nil, false, code.New(code.RoomClosed, "the room was %s before", last.Reason).
				WithHint("copy it from there: tt room export with that engine, tt room import with this one")
		}
		lines, ended = lines[:start], true
	}
	h, err = history.Check(roomtypes.Stick(), x.m.Room, lines)
	if err != nil {
		return nil, false, err
	}
	return h, ended || h.Changes[len(h.Changes)-1].Ends, nil
}

// reserve refuses a room that is there with other events, or that another host is about to
// publish, and keeps the name for this host.
func (x *copier) reserve(ctx context.Context, h *history.History) error {
	for {
		c, err := mirror.Compare(ctx, x.e, x.at, h)
		if err != nil || c.Events == h.Last() { // nothing is to be published
			return err
		}
		if c.Copier != "" && c.Copier != x.host {
			return code.New(code.LockTimeout, "another host is about to publish a room under this name").
				WithHint("look what it was when it is done, and try again").With("room_id", x.m.To)
		}
		if err := c.Reserve(ctx, x.e, x.at, x.host, reserved); !errors.Is(err, engine.ErrConflict) {
			return err
		}
	}
}

// topic publishes the topic that has the questions of the room.
func (x *copier) topic(ctx context.Context) error {
	rules, r := roomtypes.Topics(), questions.OfRoom(x.m.From, x.m.Room)
	if !r.Exists() {
		return nil
	}
	lines, err := history.Lines(ctx, r)
	if err != nil {
		return err
	}
	h, err := history.Check(rules, r.Name(), lines)
	if err == nil {
		_, err = mirror.Publish(ctx, x.e, rules.Folder+"."+questions.OfRoomID(x.m.To), h)
	}
	return err
}
