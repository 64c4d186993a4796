package member

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
)

// Close ends the room because the work is done, or because it goes on elsewhere after its event movedAt, see
// [turn.CloseRequest]. Its members are notified, and the guardian of a turn in progress ends.
func (r *Room) Close(ctx context.Context, reason string, movedAt int64) (res turn.CloseResult, err error) {
	request := turn.CloseRequest{Agent: r.Self.ID, Reason: reason, Human: r.IsHuman(), Fence: r.recordedFence(), MovedAt: movedAt}
	owner, members := "", []string(nil)
	_, written, err := r.endTurn(ctx, r.Self.ID, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		owner, members = st.Owner, st.Others("")
		if err := r.CheckWindow(st); err != nil && !request.Human {
			return nil, err
		}
		events, res, err = turn.Close(st, f, request)
		return events, err
	}, func() {
		if owner != "" {
			r.forgetLease(owner)
		}
		r.leaveRooms(members...)
	})
	res.EventSeq = numberOf(written, turn.Closed, res.EventSeq)
	return res, err
}

// numberOf returns the number of the event of a type among those that were written, or that one where there is none: others
// may come before it, also one that tells what the journal has lost.
func numberOf(written []event.Event, kind string, otherwise int64) int64 {
	for _, e := range written {
		if e.Type == kind {
			return e.Seq
		}
	}
	return otherwise
}

// closing returns the event after the one with the number since by which the room was closed while the agent was a member,
// nil if there is none. member says whether it was one then. The next life of the room may have begun already. unseen is how
// many messages to it as a member it was not shown.
func (r *Room) closing(ctx context.Context, since int64, member bool) (closed *event.Event, unseen int) {
	var at hearing.Cursor
	r.own().Read(hearing.CursorFile, &at)
	_ = r.EachEvent(ctx, since, true, func(e *event.Event) error {
		switch {
		case e.Type == turn.MemberJoined && e.From == r.Self.ID:
			member, unseen = true, 0
		case turn.EndsMembership(e, r.Self.ID):
			member = false
		case e.Type == turn.JournalDamaged: // its joining may be lost
			known := turn.New(r.FS.Name())
			member = known.Apply(e) == nil && known.Member(r.Self.ID) != nil
		case !member:
		case e.Type == turn.Closed:
			end := e.Clone()
			closed = &end
			return ErrEnough
		case talk.IsMail(e, r.Self.ID) && !at.Has(talk.KindMessage, e.Seq):
			unseen++
		}
		return nil
	})
	return closed, unseen
}

// movedAway returns an error if the room, whose last event has the number, has ended because
// it goes on elsewhere.
func (r *Room) movedAway(ctx context.Context, last int64) error {
	end, _ := r.closing(ctx, last-1, true)
	if end == nil || turn.GoOnAt(end.Reason, r.hosts != nil) == "" {
		return nil
	}
	return code.New(code.RoomClosed, "the room was %s", end.Reason).WithHint("%s", turn.GoOnAt(end.Reason, r.hosts != nil)).
		With("reason", end.Reason)
}

// A ClosedError is the answer to an agent that asks for the turn of a room that was closed while it was a
// member, until somebody joins again.
type ClosedError struct {
	Result turn.WaitResult
	unseen int // messages that it was not shown
}

func (e *ClosedError) Error() string { return "the room was closed: " + e.Result.Reason }

// CheckClosed returns a [ClosedError] if the room of the workspace was closed while the agent was a
// member and nobody has joined since.
func (c *Client) CheckClosed(ctx context.Context, w *workspace.Workspace) error {
	for _, name := range RoomNames(w) {
		r := c.Room(name, w)
		snap, err := r.FS.View()
		if err != nil {
			return nil // whoever joins is told
		}
		if snap.State.Open {
			return nil
		}
		if err := r.checkClosed(ctx, snap.State); err != nil {
			return err
		}
	}
	return nil
}

// checkClosed is CheckClosed for one room. It reads the life that has ended.
func (r *Room) checkClosed(ctx context.Context, st *turn.State) error {
	if st.Open || st.Seq == 0 {
		return nil
	}
	since := int64(0)
	if path, last, err := r.FS.LastArchived(); err == nil && last == st.Seq {
		first, _ := fsroom.ArchivedEvents(path)
		since = first - 1
	} else if err == nil {
		since = last
	}
	closed, unseen := r.closing(ctx, since, false)
	if closed == nil || closed.From == "" || turn.GoOnAt(closed.Reason, r.hosts != nil) != "" {
		return nil
	}
	return &ClosedError{turn.WasClosed(r.FS.Name(), closed.From, closed.Reason, unseen), unseen}
}
