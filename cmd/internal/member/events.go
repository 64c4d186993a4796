package member

import (
	"context"
	"errors"

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
		events := make([]event.Event, 0)
		first := int64(0)
		err := r.EachEvent(ctx, after, allLives, func(e *event.Event) error {
			if first == 0 {
				first = e.Seq
			}
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
