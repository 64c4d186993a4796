package ttcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
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
	Ended    string       // why the guardian gave up; empty: it did not
	EndedAt  event.Time   // when it gave up
}

func (h *hold) fence() turn.Fence { return turn.Fence{Agent: h.Agent, Turn: h.Turn, Lease: h.Lease} }

// of reports whether the hold is the state's current turn.
func (h *hold) of(st *turn.State) bool {
	return st.Owner != "" && h.Turn == st.Turn && h.Lease == st.Grant.Lease && h.Agent == st.Owner
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

// myHold is what the caller believes to hold, whether it still does or not; nil
// for nothing.
func (s *seat) myHold() *hold {
	var h hold
	if s.mine().Read(fileHold, &h) && h.Agent == s.me.ID && h.Lease != "" {
		return &h
	}
	return nil
}

// guarded makes sure that the turn the caller owns is kept by a guardian, and
// returns the guardian's pid. One that lives and has kept the lease stays; several
// calls at once agree on one. A turn that somebody else has by now is refused as
// by [turn.State.Check], and nothing is written.
func (s *seat) guarded(ctx context.Context, fence turn.Fence) (pid int, err error) {
	snap, err := s.room.View()
	if err != nil {
		return 0, err
	}
	kept, err := s.keeper(snap.State, fence)
	if err != nil || kept != 0 {
		return kept, err
	}
	before := s.recorded(fence).Guardian
	child, failure := s.spawnGuardian(fence)
	lockErr := s.room.Locked(ctx, func(snap *snapshot) error {
		kept, err := s.keeper(snap.State, fence)
		if err != nil {
			return err
		}
		if kept != 0 {
			child.kill()
			pid, failure = kept, nil
			return nil
		}
		pid, failure = s.install(fence, child, failure)
		s.wake(turn.Change{After: snap.State, GuardianChanged: true})
		return nil
	})
	if lockErr != nil {
		child.kill()
		return 0, lockErr
	}
	if failure == nil && before != nil && pid != before.PID {
		what := "had ended"
		if s.alive(before) {
			what = "did not renew the lease"
		}
		s.call.Notice(fmt.Sprintf("the guardian of your turn, process %d, %s; process %d renews the lease now", before.PID, what, pid))
	}
	return pid, failure
}

// keeper returns the pid of the guardian that keeps the turn, 0 if there is none:
// none was recorded, it has ended, or it let the lease run out. A turn that is not
// the caller's is refused.
func (s *seat) keeper(st *turn.State, fence turn.Fence) (int, error) {
	f := s.facts(st)
	if err := st.Check(f, fence); err != nil {
		return 0, err
	}
	if g := s.recorded(fence).Guardian; s.alive(g) && !st.LeaseExpired(f) {
		return g.PID, nil
	}
	return 0, nil
}

// mendPatience is how long a command that does something else waits for the
// room's lock, to replace a guardian that has ended.
const mendPatience = time.Second

// mendGuardian replaces the guardian of the caller's turn if it has ended. It is
// no reason for the command to fail.
func (s *seat) mendGuardian(ctx context.Context, st *turn.State) {
	if st.Owner != s.me.ID {
		return
	}
	h := s.holdOf(st)
	if h == nil || h.Guardian == nil || s.table.Verdict(*h.Guardian) != identity.Gone {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mendPatience)
	defer cancel()
	if _, err := s.guarded(ctx, h.fence()); err != nil && !overtaken(err) {
		s.call.Notice(fmt.Sprintf(`the guardian of your turn, process %d, has ended, and no other could be started: run "tt wait" (%v)`, h.Guardian.PID, err))
	}
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
// and returns the guardian's pid. failure is why there is no child; the turn is
// written down all the same, so that it can be released. The room is locked.
func (s *seat) install(fence turn.Fence, child *child, failure error) (int, error) {
	h := s.recorded(fence)
	if child != nil {
		h.Guardian, h.Ended, h.EndedAt = &child.process, "", event.Time{}
	}
	h.Renewed = now()
	err := s.mine().EnsureWakeFile() // for the guardian
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
