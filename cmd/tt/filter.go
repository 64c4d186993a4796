package main

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
)

// A filter says which events a reader wants.
type filter struct {
	types map[string]bool
	self  string // only what concerns this agent
	to    string // only what is addressed to this agent
	from  string // only by this agent
}

func (f filter) wants(e *journal.Event) bool {
	switch {
	case f.types != nil && !f.types[e.Type]:
		return false
	case f.from != "" && e.From != f.from:
		return false
	case f.to != "" && e.To != f.to:
		return false
	case f.self != "" && !turn.MeantFor(e, f.self):
		return false
	}
	return true
}

// filter reads the flags. Names are resolved to members; an id of somebody who
// has left is taken as it is.
func (s *seat) filter(c *front.Call, r reading, st *turn.State) (filter, error) {
	f := filter{types: r.types}
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

// page returns the newest events that match, or with --after those that follow.
func (s *seat) page(ctx context.Context, c *front.Call, f filter, st *turn.State, limit int) (eventsResult, error) {
	after := c.Int64("after")
	var events []journal.Event
	var err error
	if c.Given("after") {
		events, err = s.following(ctx, f, after, limit)
	} else {
		after = st.Seq
		events, err = s.newest(ctx, f, st.Seq, limit)
	}
	res := eventsResult{Events: events, Cursor: after}
	if n := len(events); n > 0 {
		res.Cursor = events[n-1].Seq
	}
	return res, err
}

var errEnough = errors.New("enough")

// following returns the first matching events after a number.
func (s *seat) following(ctx context.Context, f filter, after int64, limit int) ([]journal.Event, error) {
	events := make([]journal.Event, 0)
	_, err := s.room.Events(ctx, after, func(e *journal.Event) error {
		if f.wants(e) {
			events = append(events, turn.Public(e.Clone()))
		}
		if len(events) == limit {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return events, err
}

// newest returns the last matching events up to a number. It looks at a window
// at the end of the journal, and at larger ones only if that holds too few.
func (s *seat) newest(ctx context.Context, f filter, last int64, limit int) ([]journal.Event, error) {
	for window := int64(limit); ; window *= 8 {
		after := max(0, last-window)
		var events []journal.Event
		_, err := s.room.Events(ctx, after, func(e *journal.Event) error {
			if e.Seq <= last && f.wants(e) {
				events = append(events, turn.Public(e.Clone()))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(events) >= limit || after == 0 {
			return append([]journal.Event{}, events[max(0, len(events)-limit):]...), nil
		}
	}
}
