package member

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
)

// A Quiet output keeps the answer to a request for the turn.
type Quiet struct{ turn.WaitResult }

func (q *Quiet) Answer(r turn.WaitResult) error { q.WaitResult = r; return nil }
func (q *Quiet) Waiting(turn.WaitResult)        {}

// TakeAuto asks for the turn of the workspace's room for an agent whose hook is about to let
// it write, and makes it a member if it is none. If another agent is to have the turn first,
// it is recorded that this one wants it: st is the room then.
func (c *Client) TakeAuto(ctx context.Context, w *workspace.Workspace) (r *Room, st *turn.State, res turn.WaitResult, err error) {
	for tries := 0; ; tries++ {
		r, res, st, err = c.takeAuto(ctx, w)
		if err != nil || res.Status == turn.YourTurn || res.Status == turn.WaitClosed || res.CurrentOwner == r.Self.ID && res.HeldBy == 0 {
			return r, st, res, err // the turn is the agent's, or another hook of the session has it, or there is none any more
		}
		// A turn that has ended meanwhile calls nobody who wants it only now.
		before := st
		if st, err = r.want(ctx); err != nil || st.SameTurn(before) && r.IsMember(st) || tries == mostTries {
			return r, st, res, err
		}
	}
}

// mostTries is how often TakeAuto asks again because the turn has changed hands meanwhile.
const mostTries = 3

func (c *Client) takeAuto(ctx context.Context, w *workspace.Workspace) (*Room, turn.WaitResult, *turn.State, error) {
	r, snap, err := c.joinAuto(ctx, w)
	if err != nil {
		return nil, turn.WaitResult{}, nil, err
	}
	var out Quiet
	t := turnRequest{Room: r, out: &out, auto: true, since: r.waitingSince(), lease: fsroom.NewLease()}
	if _, err := t.try(ctx, snap); err != nil {
		return nil, turn.WaitResult{}, nil, err
	}
	if err := t.answer(ctx); err != nil {
		return nil, turn.WaitResult{}, nil, err
	}
	abandoned := out.Status == turn.NotYet && out.CurrentOwner == "" && out.ReservedFor != ""
	if out.Status == turn.TakeoverAvailable || abandoned {
		why := out.Evidence.Sentence
		if why == "" {
			why = out.ReservedFor + " cannot be reached"
		}
		before, silent := out.WaitResult, r.own().Has(autoFile)
		claim := turn.TryRequest{Agent: r.Self.ID, Lease: fsroom.NewLease(), Auto: true}
		err := r.Take(ctx, turn.TakeRequest{TryRequest: claim, Reason: "auto: " + why}, &out)
		if comesFrom(err, code.LockTimeout) {
			return nil, turn.WaitResult{}, nil, err
		}
		if err != nil {
			out.WaitResult = before
		}
		if silent { // it was no command of the agent
			_ = r.own().Mark(autoFile, r.time())
		}
	}
	return r, out.WaitResult, t.after, nil
}

// WantAuto records that an agent whose write was refused wants the turn, and makes it a
// member if it is none. st is the room after that: the turn may have ended meanwhile, and then nobody calls the
// agent for it.
func (c *Client) WantAuto(ctx context.Context, w *workspace.Workspace) (r *Room, st *turn.State, err error) {
	for tries := 0; ; tries++ {
		if r, _, err = c.joinAuto(ctx, w); err != nil {
			return r, nil, err
		}
		if st, err = r.want(ctx); err != nil || r.IsMember(st) || tries == mostTries {
			return r, st, err
		}
	}
}

func (c *Client) joinAuto(ctx context.Context, w *workspace.Workspace) (*Room, *snapshot, error) {
	r, err := c.SelectRoom(w, false)
	if err != nil {
		return nil, nil, err
	}
	snap, err := r.FS.View()
	if err != nil {
		return r, nil, err
	}
	m := snap.State.Member(r.Self.ID)
	if m != nil && !m.Observer && slices.Contains(c.Hearing().Rooms(), r.FS.Name()) {
		return r, snap, nil // else it is no full member, or was killed when it had just become one
	}
	if snap, err = r.join(ctx, false); err == nil && (m == nil || !m.Observer) {
		_ = r.own().Mark(autoFile, r.time())
	}
	return r, snap, err
}

// Place returns which place the agent has among those that want the turn. Who holds it, or is
// to have it first, is the first.
func (r *Room) Place(st *turn.State) int {
	f, mine := r.Facts(st), r.own().Marked(wantsFile)
	earlier := slices.DeleteFunc(st.Others(r.Self.ID), func(id string) bool {
		p := f.Presence(id)
		wants := p.Wants && r.FS.Agent(id).Marked(wantsFile).Before(mine)
		return id == cmp.Or(st.Owner, st.ReservedFor, st.Pending.Preferred) || !wants && !p.Waiting
	})
	return 2 + len(earlier)
}

// IsAuto reports whether a hook has taken the turn that the agent has, and ends it: the agent
// has not asked for it itself since.
func (r *Room) IsAuto(st *turn.State) bool {
	return st.Owner == r.Self.ID && st.Grant.Auto && st.Grant.Host == r.hosts.name() && !r.recorded(st).ByHand
}

// EndAuto ends the agent's turn with a handoff of facts, if a hook has taken it and no job of
// the agent runs. But it keeps one that has changed something and that another member wants,
// if keep says so. The turn of another window of the session goes on. It is over as long as the condition holds, nil: it
// is; to record the end of the turn takes time, in which the agent may come back. ended says whether the turn was ended.
func (r *Room) EndAuto(ctx context.Context, over func(*turn.State) bool, keep func() bool) (ended, kept bool, err error) {
	mayEnd := func(st *turn.State) bool {
		return r.IsAuto(st) && r.HeldByOtherWindow(st) == 0 && r.RunningJob(r.Self.ID) == nil && (over == nil || over(st))
	}
	snap, err := r.FS.View()
	if err != nil || !mayEnd(snap.State) {
		return false, false, err
	}
	fence := snap.State.Fence()
	end := r.autoEnd(ctx, snap.State)
	after, _, err := r.updateThen(ctx, nil, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		if st.Fence() != fence || !mayEnd(st) {
			return nil, nil
		}
		changed := end.Events(st)
		handoff, unchanged := turn.AutoHandoff(changed, end.verifiedWords())
		if kept = kept || !unchanged && st.IsWanted(f, r.Self.ID) && keep(); kept {
			return nil, nil
		}
		events, _, err = turn.Release(st, f, turn.ReleaseRequest{Fence: fence, Handoff: handoff, Changed: changed,
			Auto: true, Unchanged: unchanged})
		return events, err
	}, func() {
		ended = true
		r.forgetLease(r.Self.ID)
	})
	end.Result()
	if next := after; ended && next.State.ReservedFor != "" && !r.IsWaiting(next.State.ReservedFor) {
		r.notify(next.State, fsroom.Agent.Notify)
	}
	return ended, kept, err
}

// autoEnd begins to record the end of the turn. The agent does not wait for that, so it may take
// longer than for a release; and the beginning of a turn that has just begun may not be recorded
// yet.
func (r *Room) autoEnd(ctx context.Context, st *turn.State) *TurnEnd {
	for tries := 0; ; tries++ {
		end := r.Recorder(st).Ending(ctx, st, autoPatience)
		late := turn.IsLate(end.Events(st)) && r.Now().Since(st.Grant.At) < autoPatience && tries < 8
		if !late {
			return end
		}
		end.Result()
		select {
		case <-time.After(autoPatience / 20):
		case <-ctx.Done():
		}
	}
}

// autoPatience is how long the end of an automatic turn waits for what the turn changed.
const autoPatience = 3 * time.Second

// IsSilent reports whether a hook has made the agent a member of the room, and the agent has
// run no command of tt since.
func (r *Room) IsSilent() bool { return r.own().Has(autoFile) }
