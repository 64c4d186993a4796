package member

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// EnsureGuardian returns the pid of the guardian of the agent's turn. If none is
// alive, or the guardian has let the lease expire, it starts one. When several
// processes call it at once, one guardian remains. A turn that is not the agent's any
// more is refused as by [turn.State.Check], and nothing is written.
func (r *Room) EnsureGuardian(ctx context.Context, fence turn.Fence) (pid int, err error) {
	snap, err := r.View()
	if err != nil {
		return 0, err
	}
	if pid, err := r.activeGuardian(snap.State, fence); err != nil || pid != 0 {
		return pid, err
	}
	before := r.leaseOf(fence).Guardian
	started, failure := r.startGuardian(fence)
	err = r.updateLease(ctx, func(st *turn.State, l *leaseRecord) (bool, error) {
		if pid, err = r.activeGuardian(st, fence); err != nil || pid != 0 {
			return false, err
		}
		l.renewBy(started.process(), r.Now())
		r.notify(turn.Change{After: st, GuardianChanged: true}) // they look when the lock is free
		return true, nil
	})
	switch {
	case err != nil:
		started.kill()
		return 0, err
	case pid != 0: // started by another process meanwhile
		started.kill()
	case started == nil:
		return 0, notStarted(fence.Turn, failure)
	default:
		pid = started.PID
	}
	if before != nil && pid != before.PID {
		what := "had ended"
		if r.isAlive(before) {
			what = "did not renew the lease"
		}
		r.Warn(fmt.Sprintf("the guardian of your turn, process %d, %s; process %d renews the lease now", before.PID, what, pid))
	}
	return pid, nil
}

// activeGuardian returns the pid of the guardian that renews the lease of the turn, 0
// if there is none: none was recorded, it has ended, or it let the lease expire. A turn
// that is not the agent's is refused.
func (r *Room) activeGuardian(st *turn.State, fence turn.Fence) (int, error) {
	f := r.Facts(st)
	if err := st.Check(f, fence); err != nil {
		return 0, err
	}
	if g := r.leaseOf(fence).Guardian; r.isAlive(g) && !st.LeaseExpired(f) {
		return g.PID, nil
	}
	return 0, nil
}

// replacePatience is how long a command that does something else waits for the
// room's lock, to replace a guardian that has ended.
const replacePatience = time.Second

// ReplaceGuardian starts a new guardian if the agent has the turn and its guardian
// has ended. If that fails, it warns.
func (r *Room) ReplaceGuardian(ctx context.Context, st *turn.State) {
	if st.Owner != r.Self.ID {
		return
	}
	l := r.currentLease(st)
	if l == nil || l.Guardian == nil || r.Table.Verdict(*l.Guardian) != identity.Gone {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, replacePatience)
	defer cancel()
	_, err := r.EnsureGuardian(ctx, l.fence())
	if err == nil {
		err = r.proveAnew(ctx, l.fence())
	}
	if err != nil && !isOvertaken(err) {
		r.Warn(fmt.Sprintf(`the guardian of your turn, process %d, has ended, and no other could be started: run "tt wait" (%v)`, l.Guardian.PID, err))
	}
}

// GuardianStatus tells whether the guardian of the current turn lives. The process is
// nil if there is no guardian, and has no number if it is one of another host; stopped is
// why it stopped renewing, "" if it did not.
func (r *Room) GuardianStatus(st *turn.State) (process *identity.Process, status turn.Process, stopped string) {
	l := r.currentLease(st)
	if l == nil || l.Guardian == nil {
		return nil, turn.Unknown, ""
	}
	if r.isElsewhere(*l.Guardian) {
		return &identity.Process{}, r.guardianElsewhere(st, l), l.Stopped
	}
	return l.Guardian, r.verdict(*l.Guardian), l.Stopped
}

// renewBy records a renewal, and the guardian that renews from now on; nil leaves the
// guardian as it is.
func (l *leaseRecord) renewBy(guardian *identity.Process, at turn.Instant) {
	if guardian != nil {
		l.Guardian, l.Stopped, l.StoppedAt = guardian, "", event.Time{}
	}
	l.Renewed = at
}

// proveAnew renews the lease of a turn that the agent had before, so that it is known to
// have it still. Without an engine it does nothing.
func (r *Room) proveAnew(ctx context.Context, fence turn.Fence) error {
	g := r.leaseOf(fence).Guardian
	if g == nil {
		return nil
	}
	return r.tellRenewal(ctx, fence.Turn, *g)
}

// recordGrant writes the lease record of a turn that was just granted, and returns
// the pid of its guardian. If no guardian was started, for the reason in failure, the
// record is written all the same, so that the turn can be released. The room is
// locked.
func (r *Room) recordGrant(fence turn.Fence, policy turn.Policy, started *guardianProcess, failure error) (pid int, err error) {
	l := r.leaseOf(fence)
	l.renewBy(started.process(), r.Now())
	if err := r.own().Write(leaseFile, &l); err != nil {
		started.kill()
		return 0, err
	}
	if r.IsShared() {
		r.proved(r.asked, fence, policy)
	}
	if started == nil {
		return 0, notStarted(fence.Turn, failure)
	}
	return started.PID, nil
}

// notStarted is the error for a turn that was granted without a guardian.
func notStarted(turnID int64, failure error) error {
	return code.New(code.GuardianFailed, "the turn is yours, but its guardian did not start: %v", failure).
		WithHint(`run "tt wait" again to start it, or end the turn with "tt release"`).
		With("turn_id", turnID).Because(failure)
}

// A pendingGuardian is a guardian that is started while its turn is being committed,
// so that the two do not add up. It waits for the grant, and ends if that never comes.
type pendingGuardian struct {
	turn  int64
	start func() (*guardianProcess, error) // returns when the guardian has been started
}

func (r *Room) startPendingGuardian(fence turn.Fence) *pendingGuardian {
	start := sync.OnceValues(func() (*guardianProcess, error) { return r.startGuardian(fence) })
	go start()
	return &pendingGuardian{fence.Turn, start}
}

// guardianFor returns a guardian for the turn: the pending one if it was started for
// this turn, else a new one.
func (r *Room) guardianFor(fence turn.Fence, pending *pendingGuardian) (*guardianProcess, error) {
	if pending != nil && pending.turn == fence.Turn {
		return pending.start()
	}
	pending.cancel()
	return r.startGuardian(fence)
}

// cancel ends the guardian of a turn that was not granted.
func (p *pendingGuardian) cancel() {
	if p != nil {
		started, _ := p.start()
		started.kill()
	}
}
