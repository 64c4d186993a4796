package member

import (
	"context"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// ComesBack reports whether the agent, which has the turn in progress, has to renew its lease by
// [Room.ComeBack] before it writes: its model has begun a turn since it did so last, or no guardian
// renews the lease, or none has in time, as where the machine was asleep. What its hooks have noted of it has to be
// written before. Nothing is locked.
func (r *Room) ComesBack(st *turn.State) bool {
	began, inTurn := r.Client.Hearing().ModelTurn()
	l := r.recorded(st)
	return !r.IsKept(st) || l.Left(r.Now()) < l.TTL/2 || !began.IsZero() && !(inTurn && l.ModelTurn.Equal(r.modelTurn().Time))
}

// ComeBack is [Room.Keep] before the first write of a turn of the agent's model. The signs of life of the
// agent have to be written before, so that being replaced comes either before it, and is refused, or does not come.
func (r *Room) ComeBack(ctx context.Context, st *turn.State) error {
	_, err := r.Keep(ctx, turn.Fence{Agent: r.Self.ID, Turn: st.Turn, Lease: st.Grant.Lease}, false)
	return err
}

// modelTurn returns when the turn began in which the agent's model is now, zero if it is in none.
func (r *Room) modelTurn() event.Time {
	began, inTurn := r.Client.Hearing().ModelTurn()
	if !inTurn {
		return event.Time{}
	}
	return event.NewTime(began)
}
