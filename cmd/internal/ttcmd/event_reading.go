package ttcmd

import (
	"context"
	"errors"

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

// filter returns the filter that the flags describe. A name becomes the id of the
// member; the id of an agent that has left stays as it is.
func (s *seat) filter(q *eventQuery, st *turn.State) (filter, error) {
	c := s.call
	f := filter{types: q.types, severity: q.severity}
	target := c.String("target")
	if !c.Given("target") {
		target = q.target
		if q.streams() {
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

// errEnough ends the reading of a journal before its end.
var errEnough = errors.New("enough")

// eventsAfter returns the first matching events after a number, at most limit, and
// the number of the last event that it read. mail counts what it returns as shown.
func (s *seat) eventsAfter(ctx context.Context, f filter, mail *mailbox, after int64, limit int) (eventsResult, error) {
	res := eventsResult{Events: make([]event.Event, 0), Cursor: after}
	err := s.eachEvent(ctx, after, true, func(e *event.Event) error {
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
	return res, err
}

// newestEvents returns the last matching events of the room's life.
func (s *seat) newestEvents(ctx context.Context, f filter, st *turn.State, limit int) (eventsResult, error) {
	events, err := s.lastEvents(ctx, st, false, limit, f.wants)
	for i := range events {
		events[i] = turn.Public(events[i])
	}
	return eventsResult{Events: events, Cursor: st.Seq}, err
}

// lastEvents returns the last count events that wants accepts, oldest first: of the
// room's life, or of all its lives. Events after those that st covers do not count.
// It reads the end of the journal, and a longer part only if that has too few.
func (s *seat) lastEvents(ctx context.Context, st *turn.State, allLives bool, count int, wants func(*event.Event) bool) ([]event.Event, error) {
	for window := int64(count); ; window *= 8 {
		after := max(0, st.Seq-window)
		events := make([]event.Event, 0)
		first := int64(0)
		err := s.eachEvent(ctx, after, allLives, func(e *event.Event) error {
			if first == 0 {
				first = e.Seq
			}
			if e.Seq <= st.Seq && wants(e) {
				events = append(events, e.Clone())
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(events) >= count || after == 0 || first > after+1 {
			return events[max(0, len(events)-count):], nil
		}
	}
}

// eachEvent calls fn with the events after a number: those of the room's life, or of
// all its lives. fn returns errEnough to end the reading.
func (s *seat) eachEvent(ctx context.Context, after int64, allLives bool, fn func(*event.Event) error) error {
	var err error
	if allLives {
		_, err = s.room.History(ctx, after, fn)
	} else {
		_, err = s.room.Events(ctx, after, fn)
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// reader returns the caller's place in the room of the path as seat does. With
// past, it can also be a room that has ended, whose events are in the archive.
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
