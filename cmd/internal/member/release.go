package member

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// Release ends the agent's turn with a handoff: for the member that target names, or
// for the fairest one if target is "". seen is the room as the command has just read it,
// nil: it is read. Release returns the room after the turn, too.
func (r *Room) Release(ctx context.Context, seen *snapshot, handoff json.RawMessage, target string) (res turn.ReleaseResult,
	after *turn.State, err error) {
	if seen != nil {
		if err := r.worksHere(seen.State, target); err != nil {
			return res, nil, err
		}
	}
	fence, err := r.Fence(ctx)
	if err != nil {
		return res, nil, err
	}
	if seen != nil { // the guardian calls who is next, if the one to whom the turn is offered does not take it
		r.ReplaceGuardian(ctx, seen.State, false)
	}
	end := r.turnEndOf(ctx, seen, r.Self.ID, 0, func(*turn.State) error { return nil })
	request := turn.ReleaseRequest{Fence: fence, Handoff: handoff}
	snap, written, err := r.updateThen(ctx, seen, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		if err := r.CheckWindow(st); err != nil {
			return nil, err
		}
		request.Changed = end.Events(st)
		events, res, err = release(st, f, request, target)
		return events, err
	}, func() { r.forgetLease(r.Self.ID) })
	res.Changes, res.ChangesPending = end.Result()
	res.Changes = turn.ToldChange(res.Changes)
	if end != nil && !res.ChangesPending {
		res.Verified = end.Verified
	}
	if err != nil {
		return res, nil, err
	}
	res.Verified = orEmpty(res.Verified)
	res.EventSeq = numberOf(written, turn.Released, numberOf(written, turn.Passed, res.EventSeq))
	r.recordSeen()
	res.Turn = snap.State.Words(r.Facts(snap.State), r.Self.ID) // the turn that the guardian was of is over
	if next := snap.State.ReservedFor; next != "" && !r.IsWaiting(next) {
		r.notify(snap.State, fsroom.Agent.Notify)
	}
	return res, snap.State, nil
}

// worksHere refuses an assignment to an agent that works in another tree of the repository.
func (r *Room) worksHere(st *turn.State, target string) error {
	if target == "" {
		return nil
	}
	away, err := r.Away(st, target)
	if err != nil || away == nil {
		return err
	}
	return code.New(code.UnknownRecipient, "%s works in another tree of the repository, %s: the turn of this one "+
		"is not for it", target, away.Name(r.Workspace.Root)).
		WithHint("a word reaches it: tt msg send %s \"…\"", target).With("to_agent_id", target).With("path", away.Path)
}

// TurnWords is [turn.State.Words] for the agent. It says, too, that the guardian of its
// turn was replaced.
func (r *Room) TurnWords(st *turn.State) string {
	words := st.Words(r.Facts(st), r.Self.ID)
	if r.restarted {
		words += "; your guardian had ended, another one runs"
	}
	return words
}

// CheckRelease returns the error that [Room.Release] would return now whatever the
// handoff is.
func (r *Room) CheckRelease(ctx context.Context, target string) error {
	fence, err := r.Fence(ctx)
	if err != nil {
		return err
	}
	snap, err := r.FS.View()
	if err != nil {
		return err
	}
	if err := cmp.Or(r.checkHost(snap.State), r.CheckWindow(snap.State)); err != nil {
		return err
	}
	_, _, err = release(snap.State, r.Facts(snap.State), turn.ReleaseRequest{Fence: fence}, target)
	return err
}

// release decides a release, or an assignment if there is a target.
func release(st *turn.State, f turn.Facts, r turn.ReleaseRequest, target string) ([]event.Event, turn.ReleaseResult, error) {
	if target == "" {
		return turn.Release(st, f, r)
	}
	return turn.Assign(st, f, r, target)
}
