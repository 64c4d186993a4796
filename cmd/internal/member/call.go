package member

import (
	"context"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// An agent whose write was refused is told that it is called when the turn is its own. That promise is a mark
// (wantsFile) that ends with a turn of the agent, its membership or its session, or with the turn of its model
// for which it was called. Time does not end it. Whatever makes the turn free or lets it be taken over notifies
// those that have the mark.

// want records that the agent wants the turn, and returns the state then. Its place among others counts from the first
// time. The process of its session is recorded first: else the end of the session in another one would take it back. Both
// happen while the room is locked: an end of the session there that is about to leave the room finds the process, or has left
// before. One that is no member wants nothing.
func (r *Room) want(ctx context.Context) (st *turn.State, err error) {
	if r.own().Has(wantsFile) && !r.own().Has(calledFile) && r.hasProcess(r.processRecord(r.Self.ID)) {
		snap, err := r.FS.View()
		if err != nil {
			return nil, err
		}
		return snap.State, nil
	}
	err = r.FS.Locked(ctx, func(snap *snapshot) error {
		if st = snap.State; !r.IsMember(st) {
			return nil
		}
		if err := r.recordProcess(); err != nil {
			return err
		}
		if r.own().Has(calledFile) {
			_ = r.own().Remove(calledFile)
		} else if r.own().Has(wantsFile) {
			return nil
		}
		return r.own().Mark(wantsFile, r.time())
	})
	return st, err
}

// Unwant records that the agent does not want the turn any more. With called it does so only if it was called.
func (r *Room) Unwant(called bool) {
	if !called || r.own().Has(calledFile) {
		r.unwant(r.Self.ID)
	}
}

// unwant is Unwant for any member.
func (r *Room) unwant(id string) {
	for _, name := range []string{wantsFile, calledFile} {
		_ = r.FS.Agent(id).Remove(name)
	}
}

// Wants reports whether the agent was refused, and is to be called.
func (r *Room) Wants() bool { return r.own().Has(wantsFile) }

// Called reports whether the agent was called since it has said that it wants the turn.
func (r *Room) Called() bool { return r.own().Has(calledFile) }

// Call records that the agent is called, if it wants the turn.
func (r *Room) Call() {
	if r.own().Has(wantsFile) {
		_ = r.own().Mark(calledFile, r.time())
	}
}

// CallWanting notifies the members that want the turn and may have it. It returns how long it is until that
// may be so of others that want it, by time alone; 0: never.
func (r *Room) CallWanting(st *turn.State, f turn.Facts) (again time.Duration) {
	for _, id := range st.Others("") {
		switch a := r.FS.Agent(id); {
		case !a.Has(wantsFile) || a.Has(calledFile):
		case st.Calls(f, id):
			r.Client.Store.NotifyListener(id)
		default:
			again = turn.Soonest(again, st.NextDeadline(f, id))
		}
	}
	return again
}

// UntilCalled returns how long it is until a member that wants the turn may have it, by time alone; 0: it does not
// want it, may have it now, or that does not come.
func (r *Room) UntilCalled(st *turn.State, f turn.Facts, id string) time.Duration {
	if !f.Presence(id).Wants || st.Calls(f, id) {
		return 0
	}
	return st.NextDeadline(f, id)
}
