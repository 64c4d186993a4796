package main

import (
	"context"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// A hold is what an agent believes to hold: the fence it shows for its turn, and
// the guardian that renews the lease. It is a file of the agent's own, so that an
// agent that was overtaken is told so and not taken for the new holder.
type hold struct {
	Agent    string
	Turn     int64
	Lease    string
	Guardian *identity.Process
	Renewed  turn.Instant // the last heartbeat
	Ended    string
}

func (h *hold) fence() turn.Fence { return turn.Fence{Agent: h.Agent, Turn: h.Turn, Lease: h.Lease} }

// of reports whether the hold is the state's current turn.
func (h *hold) of(st *turn.State) bool {
	return st.Owner != "" && h.Turn == st.Turn && h.Lease == st.Held.Lease && h.Agent == st.Owner
}

// holdOf returns the hold of the current turn, nil if its owner has none.
func (s *seat) holdOf(st *turn.State) *hold {
	if st.Owner == "" {
		return nil
	}
	var h hold
	if s.room.Agent(st.Owner).Read(fileHold, &h) && h.of(st) {
		return &h
	}
	return nil
}

// myHold is what the caller believes to hold, whether it still does or not.
func (s *seat) myHold() (*hold, error) {
	var h hold
	if s.mine().Read(fileHold, &h) && h.Agent == s.me.ID && h.Lease != "" {
		return &h, nil
	}
	return nil, code.New(code.NoActiveLease, "%s holds no turn here", s.me.ID).
		WithHint(`get one with "tt wait"; if you had it before a crash, "tt wait" gives it back`).With("agent_id", s.me.ID)
}

// guarded makes sure that the turn the caller owns is kept by a guardian, and
// returns the guardian's pid. One that lives stays; several calls at once agree
// on one. A turn that somebody else has by now is refused as by
// [turn.State.Check], and nothing is written.
func (s *seat) guarded(ctx context.Context, fence turn.Fence) (pid int, err error) {
	if h := s.recorded(fence); s.alive(h.Guardian) {
		return h.Guardian.PID, nil
	}
	child, failure := s.spawnGuardian(fence)
	lockErr := s.room.Locked(ctx, func(snap *snapshot) error {
		if err := snap.State.Check(s.facts(snap.State), fence); err != nil {
			return err
		}
		pid, err = s.install(fence, child, failure)
		s.wakeOthers(snap.State) // they have another process to keep an eye on
		return nil
	})
	if lockErr != nil {
		child.kill()
		return 0, lockErr
	}
	return pid, err
}

// recorded is the hold of the turn as it was written down, or a new one.
func (s *seat) recorded(fence turn.Fence) hold {
	var h hold
	if s.mine().Read(fileHold, &h) && h.fence() == fence {
		return h
	}
	return hold{Agent: fence.Agent, Turn: fence.Turn, Lease: fence.Lease}
}

// install writes the turn down as the caller's, with the child as its guardian,
// and returns the guardian's pid. If another one lives, that stays and the child
// is ended. failure is why there is no child; the turn is written down all the
// same, so that it can be released. The room is locked.
func (s *seat) install(fence turn.Fence, child *child, failure error) (int, error) {
	h := s.recorded(fence)
	if s.alive(h.Guardian) {
		child.kill()
		return h.Guardian.PID, nil
	}
	if child != nil {
		h.Guardian, h.Ended = &child.process, ""
	}
	h.Renewed = now()
	err := s.mine().HangBell() // for the guardian
	if err == nil {
		err = s.mine().Write(fileHold, &h)
	}
	switch {
	case err != nil:
		child.kill()
		return 0, err
	case child == nil:
		return 0, code.New(code.GuardianFailed, "the turn is yours, but its guardian did not start: %v", failure).
			WithHint(`run "tt wait" again to start it, or end the turn with "tt release"`).
			With("turn_id", fence.Turn).Because(failure)
	}
	return child.process.PID, nil
}

func (s *seat) alive(p *identity.Process) bool {
	return p != nil && s.table.Verdict(*p) == identity.Alive
}

func fenceOf(agent string, res turn.WaitResult) turn.Fence {
	return turn.Fence{Agent: agent, Turn: res.TurnID, Lease: res.LeaseID}
}
