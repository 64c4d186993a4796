package member

import (
	"context"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// Close ends the room because the work is done. Its members are notified, and the
// guardian of a turn in progress ends.
func (r *Room) Close(ctx context.Context, reason string) (res turn.CloseResult, err error) {
	return r.CloseMoved(ctx, reason, 0)
}

// CloseMoved is [Room.Close] for a room that goes on elsewhere after its event at, see
// [turn.CloseRequest].
func (r *Room) CloseMoved(ctx context.Context, reason string, at int64) (res turn.CloseResult, err error) {
	request := turn.CloseRequest{Agent: r.Self.ID, Reason: reason, Human: r.IsHuman(), Fence: r.recordedFence(), MovedAt: at}
	owner, members := "", []string(nil)
	end := r.turnEnd(ctx, nil)
	_, _, err = r.updateThen(ctx, nil, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		owner, members = st.Owner, st.Others("")
		if events, res, err = turn.Close(st, f, request); err == nil && st.Owner == r.Self.ID {
			events = append(end.Events(st), events...)
		}
		return events, err
	}, func() {
		if owner != "" {
			r.forgetLease(owner)
		}
		r.leaveRooms(members...)
	})
	end.Result()
	return res, err
}

// closedSince reports whether the room was closed, by whom and why, after the event with the
// number since, at which the agent was a member. Only a close that the agent was still a
// member at counts. The next life of the room may have begun already.
func (r *Room) closedSince(ctx context.Context, since int64) (closed bool, by, reason string) {
	_ = r.EachEvent(ctx, since, true, func(e *event.Event) error {
		switch {
		case e.Type == turn.Closed:
			closed, by, reason = true, e.From, e.Reason
			return ErrEnough
		case turn.EndsMembership(e, r.Self.ID):
			return ErrEnough
		}
		return nil
	})
	return closed, by, reason
}

// movedAway returns an error if the room, whose last event has the number, has ended because
// it goes on elsewhere.
func (r *Room) movedAway(ctx context.Context, last int64) error {
	_, _, reason := r.closedSince(ctx, last-1)
	hint := turn.GoOnAt(reason, r.FS.IsShared())
	if hint == "" {
		return nil
	}
	return code.New(code.RoomClosed, "the room was %s", reason).WithHint("%s", hint).With("reason", reason)
}
