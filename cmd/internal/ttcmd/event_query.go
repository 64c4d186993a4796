package ttcmd

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A filter says which events a reader wants.
type filter struct {
	types    map[string]bool
	severity string // only notes of this severity
	self     string // only what concerns this agent
	to       string // only what is addressed to this agent
	from     string // only by this agent
}

func (f filter) wants(e *event.Event) bool {
	switch {
	case f.types != nil && !f.types[e.Type]:
		return false
	case f.from != "" && e.From != f.from:
		return false
	case f.to != "" && e.To != f.to:
		return false
	case f.self != "" && !turn.Concerns(e, f.self):
		return false
	}
	return f.severity == "" || turn.SeverityOf(e) == f.severity
}

// filter reads the flags. Names are resolved to members; an id of somebody who
// has left is taken as it is.
func (s *seat) filter(c *cli.Invocation, r *reading, st *turn.State) (filter, error) {
	f := filter{types: r.types, severity: r.severity}
	target := c.String("target")
	if !c.Given("target") {
		target = r.target
		if r.streams() {
			target = "self"
		}
	}
	var err error
	switch target {
	case "any":
	case "self":
		f.self = s.me.ID
	default:
		if f.to, err = turn.WhoIs(st, s.facts(st), s.me.ID, target); err != nil {
			return f, err
		}
	}
	if from := c.String("from"); c.Given("from") {
		f.from, err = turn.WhoIs(st, s.facts(st), s.me.ID, from)
	}
	return f, err
}

var errEnough = errors.New("enough")

// following returns the first matching events after a number, at most limit, and
// the number of the last event looked at. What the page shows is counted in mail.
func (s *seat) following(ctx context.Context, f filter, mail *mailbox, after int64, limit int) (eventsResult, error) {
	res := eventsResult{Events: make([]event.Event, 0), Cursor: after}
	_, err := s.room.History(ctx, after, func(e *event.Event) error {
		wanted := f.wants(e)
		mail.pass(e, wanted)
		res.Cursor = e.Seq
		if wanted {
			res.Events = append(res.Events, turn.Public(e.Clone()))
		}
		if len(res.Events) == limit {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return res, err
}

// newest returns the last matching events of the room's life.
func (s *seat) newest(ctx context.Context, f filter, st *turn.State, limit int) (eventsResult, error) {
	events, err := s.lastEvents(ctx, st, false, limit, f.wants)
	for i := range events {
		events[i] = turn.Public(events[i])
	}
	return eventsResult{Events: events, Cursor: st.Seq}, err
}

// lastEvents returns the last count events that are wanted, up to the one that the
// state has come to, oldest first: of the room's life, or of all its lives. It
// reads a window at the end of the journal, and a larger one only if that has too few.
func (s *seat) lastEvents(ctx context.Context, st *turn.State, allLives bool, count int, wants func(*event.Event) bool) ([]event.Event, error) {
	for window := int64(count); ; window *= 8 {
		after := max(0, st.Seq-window)
		events := make([]event.Event, 0)
		first := int64(0)
		each := func(e *event.Event) error {
			if first == 0 {
				first = e.Seq
			}
			if e.Seq <= st.Seq && wants(e) {
				events = append(events, e.Clone())
			}
			return nil
		}
		var err error
		if allLives {
			_, err = s.room.History(ctx, after, each)
		} else {
			_, err = s.room.Events(ctx, after, each)
		}
		if err != nil {
			return nil, err
		}
		if len(events) >= count || after == 0 || first > after+1 {
			return events[max(0, len(events)-count):], nil
		}
	}
}

// reader returns the caller's place in the room of the path as seat does. With
// past it can also be a room that has ended, whose events are in the archive.
func (d *desk) reader(past bool) (*seat, error) {
	w, missing := d.workspace()
	s, err := d.seatIn(w, missing)
	if err == nil || !past || w == nil {
		return s, err
	}
	for _, dir := range w.Chain() {
		ended := &seat{desk: d, room: fsroom.At(d.store, rules, fsroom.RoomName(dir)), workspace: w}
		snap, viewErr := ended.room.View()
		if viewErr == nil && snap.State.Seq > 0 {
			ended.first = snap
			d.call.Warn("the room at %s has ended; this is its history", dir)
			return ended, nil
		}
	}
	return nil, err
}
