package member

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// ErrEnough ends the reading of events, see [Room.EachEvent].
var ErrEnough = errors.New("enough events were read")

// EachEvent calls fn with the events after a number: those of the room's present life,
// or of all its lives. fn returns [ErrEnough] to end the reading.
func (r *Room) EachEvent(ctx context.Context, after int64, allLives bool, fn func(*event.Event) error) error {
	var err error
	if allLives {
		_, err = r.FS.History(ctx, after, fn)
	} else {
		_, err = r.FS.Events(ctx, after, fn)
	}
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

// LastEvents returns the last count events that are wanted, oldest first: of the room's
// present life, or of all its lives. Events after those that st covers do not count. It
// reads the end of the journal, and a longer part only if that has too few.
func (r *Room) LastEvents(ctx context.Context, st *turn.State, allLives bool, count int,
	wanted func(*event.Event) bool) ([]event.Event, error) {
	for window := int64(count); ; window *= 8 {
		after := max(0, st.Seq-window)
		events, first := make([]event.Event, 0), int64(0)
		err := r.EachEvent(ctx, after, allLives, func(e *event.Event) error {
			first = cmp.Or(first, e.Seq)
			if e.Seq <= st.Seq && wanted(e) {
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

// HostOfTurn returns the other host on which a turn was granted, "" if that was this one, or is not known.
func (r *Room) HostOfTurn(ctx context.Context, turnID int64) (host string) {
	_ = r.EachEvent(ctx, 0, true, func(e *event.Event) error {
		if e.Turn != turnID || e.Type != turn.Claim && e.Type != turn.Takeover {
			return nil
		}
		var grant struct{ Host string }
		if json.Unmarshal(e.Payload, &grant) == nil && grant.Host != r.hosts.name() {
			host = grant.Host
		}
		return ErrEnough
	})
	return host
}

// WasNamed reports whether another name of a room is one that the room had where it was before.
func (r *Room) WasNamed(name string) (was bool) {
	_ = r.Known().EachEvent(context.Background(), 0, true, func(e *event.Event) error { was = e.RoomID == name; return ErrEnough })
	return was || !r.IsShared() && r.FS.IsOwn(name)
}

// A Past is a part of what happened in a room.
type Past struct {
	Events  []event.Event // oldest first
	Since   time.Time     // from when on, that of the first of them if the caller set no time
	Omitted int64         // older ones of the same life, or of all lives where those were asked for
	Earlier bool          // there are lives that were not asked for
}

// History returns the last events, at most limit, and none before since, which may be zero: of the room's present life, or
// of all if it has none. The turn in which they begin has its grant.
func (r *Room) History(ctx context.Context, st *turn.State, allLives bool, since time.Time, limit int) (*Past, error) {
	allLives = allLives || !st.Open
	events, err := r.LastEvents(ctx, st, allLives, limit, func(*event.Event) bool { return true })
	if err != nil {
		return nil, err
	}
	kept := slices.IndexFunc(events, func(e event.Event) bool { return !e.CreatedAt.Before(since) })
	if kept < 0 {
		kept = len(events)
	}
	cut := len(events) == limit && kept == 0
	events = events[kept:]
	archived, err := r.FS.Archived()
	if err != nil {
		return nil, err
	}
	p := &Past{Events: events, Since: since, Earlier: !allLives && len(archived) > 0}
	grant, err := r.grantOfFirst(ctx, st, events)
	if err == nil && cut {
		first := events[0].Seq // numbers have no gaps
		err = r.EachEvent(ctx, 0, allLives, func(e *event.Event) error { p.Omitted = first - e.Seq; return ErrEnough })
	}
	if len(grant) > 0 {
		p.Events, p.Omitted = append(grant, events...), max(0, p.Omitted-1)
	}
	switch {
	case !since.IsZero():
	case len(p.Events) > 0:
		p.Since = p.Events[0].CreatedAt.Time
	default:
		p.Since = time.Now()
	}
	return p, err
}

// grantOfFirst returns the grant of the turn in which the events begin, so that it is
// shown with its end; none if they begin outside of a turn.
func (r *Room) grantOfFirst(ctx context.Context, st *turn.State, events []event.Event) ([]event.Event, error) {
	turnID := int64(0)
	if st.Owner != "" {
		turnID = st.Turn
	}
	for i := range events {
		switch e := &events[i]; e.Type {
		case turn.Claim, turn.Takeover, turn.RoomOpened:
			return nil, nil
		case turn.Released, turn.Passed:
			turnID = e.Turn
		default:
			continue
		}
		break
	}
	if turnID == 0 || len(events) == 0 {
		return nil, nil
	}
	return r.LastEvents(ctx, st, true, 1, func(e *event.Event) bool {
		return e.Seq < events[0].Seq && e.Turn == turnID && (e.Type == turn.Claim || e.Type == turn.Takeover)
	})
}
