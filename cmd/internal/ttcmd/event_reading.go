package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A filter selects events.
type filter struct {
	types    map[string]bool
	severity string // notes only of this severity; other events pass
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
	return f.severity == "" || e.Type != turn.NoteAdded || turn.SeverityOf(e) == f.severity
}

// filter returns the filter that the flags describe. A name becomes the id of the
// member; the id of an agent that has left stays as it is.
func (q *eventQuery) filter(st *turn.State) (filter, error) {
	c := q.c
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
		f.self = q.room.Self.ID
	default:
		if f.to, err = turn.WhoIs(st, q.room.Facts(st), q.room.Self.ID, target); err != nil {
			return f, err
		}
	}
	if from := c.String("from"); c.Given("from") {
		f.from, err = turn.WhoIs(st, q.room.Facts(st), q.room.Self.ID, from)
	}
	return f, err
}

// eventsAfter returns the first matching events after a number, at most q.limit, and
// the number of the last event that it read. read counts what it returns as shown.
func (q *eventQuery) eventsAfter(ctx context.Context, f filter, read *mailbox.ReadCursor, after int64) (eventsResult, error) {
	res := eventsResult{Events: make([]event.Event, 0), Cursor: after}
	err := q.room.EachEvent(ctx, after, true, func(e *event.Event) error {
		wanted := f.wants(e)
		read.Pass(e, wanted)
		res.Cursor = e.Seq
		if wanted {
			res.Events = append(res.Events, turn.Public(e.Clone()))
		}
		if len(res.Events) == q.limit {
			return member.ErrEnough
		}
		return nil
	})
	return res, err
}

// newestEvents returns the last matching events of the room's life.
func (q *eventQuery) newestEvents(ctx context.Context, f filter, st *turn.State) (eventsResult, error) {
	events, err := q.room.LastEvents(ctx, st, false, q.limit, f.wants)
	for i := range events {
		events[i] = turn.Public(events[i])
	}
	return eventsResult{Events: events, Cursor: st.Seq}, err
}
