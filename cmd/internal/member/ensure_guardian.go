package member

import (
	"context"
	"fmt"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// EnsureGuardian returns the pid of the guardian of the agent's turn. If none is
// alive, or the guardian has let the lease expire, it starts one. When several
// processes call it at once, one guardian remains. A turn that is not the agent's any
// more is refused as by [turn.State.Check], and one that another window of its session has as by
// [Room.CheckWindow]; nothing is written then. Where the process that took the turn has ended, it
// belongs to that of the caller from now on.
//
// It looks at the room while that is locked. The agent has recorded its presence before: so
// either a takeover came first and is seen here, or one that comes later sees the presence.
// With an engine the lease is renewed too, so that it is the engine that says whose the
// turn is.
func (r *Room) EnsureGuardian(ctx context.Context, fence turn.Fence) (pid int, err error) {
	return r.keep(ctx, fence, keeping{})
}

// Renew renews the lease of the turn in progress, and starts a guardian if none is alive. It is for
// an agent that comes back to its turn: before the first write of a turn of its model, and where
// [Room.IsKept] does not hold. The signs of life of the agent have to be written before, so that
// being replaced comes either before it, and is refused as by [Room.EnsureGuardian], or does not come.
func (r *Room) Renew(ctx context.Context, st *turn.State) error {
	if err := r.checkHost(st); err != nil {
		return err
	}
	_, err := r.keep(ctx, turn.Fence{Agent: r.Self.ID, Turn: st.Turn, Lease: st.Grant.Lease}, keeping{renew: true})
	return err
}

// IsKept reports whether the turn in progress is the caller's and a guardian renews its lease, as far as that can be
// seen without a lock.
func (r *Room) IsKept(st *turn.State) bool {
	if st.Owner != r.Self.ID || r.holdsElsewhere(st) {
		return false
	}
	l := r.recorded(st)
	return r.activeGuardian(st, &l) != 0 && !r.inherits(&l) && r.otherWindow(l.Holder) == 0
}

// A keeping says for what a lease is kept.
type keeping struct {
	byHand bool // a command of the agent has asked for the turn
	renew  bool // the lease is renewed also if its guardian does that
}

// inherits reports whether the turn with the lease belongs to the caller's process from now on: that
// which took it has ended, or the session in it, or is not known.
func (r *Room) inherits(l *turn.Lease) bool {
	h := identity.Process(l.Holder)
	if r.Self.Root == nil || h == *r.Self.Root || l.Holder == (turn.ProcessID{}) {
		return r.Self.Root != nil && h != *r.Self.Root
	}
	v := r.Table.Verdict(h)
	return v == identity.Gone || v == identity.Alive && !r.isOpenIn(h)
}

// keep is EnsureGuardian with a purpose.
func (r *Room) keep(ctx context.Context, fence turn.Fence, k keeping) (pid int, err error) {
	var before *identity.Process
	ensure := func(started *guardianProcess) error {
		return r.renewLease(ctx, func(st *turn.State, l *turn.Lease) (bool, error) {
			if err := st.Check(r.Facts(st), fence); err != nil {
				return false, err
			}
			if pid := r.otherWindow(l.Holder); pid != 0 {
				return false, turn.HeldByWindow(st, r.Facts(st), pid)
			}
			changed := k.renew || r.FS.IsShared()
			if k.byHand && !l.ByHand {
				l.ByHand, changed = true, true
			}
			if r.inherits(l) {
				l.Holder, changed = r.session(), true
				r.own().Notify() // the guardian watches that process from now on
			}
			pid = r.activeGuardian(st, l)
			if pid != 0 {
				if k.renew || r.FS.IsShared() {
					l.Renew(r.Now(), st.Policy, turn.ProcessID{})
				}
				return changed, nil
			}
			if started == nil {
				before = guardianOf(*l)
				return false, nil
			}
			l.Renew(r.Now(), st.Policy, started.process())
			r.notifyHere(turn.Change{After: st, GuardianChanged: true}) // they look when the lock is free
			return true, nil
		})
	}
	if err := ensure(nil); err != nil || pid != 0 {
		return pid, err
	}
	started, failure := r.startGuardian(fence)
	if started == nil {
		return 0, notStarted(fence.Turn, failure)
	}
	if err := ensure(started); err != nil || pid != 0 { // another process has started one, or the turn is over
		started.kill()
		return pid, err
	}
	if before != nil {
		what := "had ended"
		if r.isAlive(before) {
			what = "did not renew the lease"
		}
		r.Warn(fmt.Sprintf("the guardian of your turn, process %d, %s; process %d renews the lease now", before.PID, what, started.PID))
		r.restarted = true
	}
	return started.PID, nil
}

// activeGuardian returns the pid of the guardian that renews the lease, 0 if none is known to:
// none was recorded, it has ended, it let the lease expire, or an older program wrote the
// record, which does not say under which promise.
func (r *Room) activeGuardian(st *turn.State, l *turn.Lease) int {
	g := guardianOf(*l)
	if !r.isAlive(g) || l.Ended.Why != "" || l.TTL == 0 || st.LeaseExpired(turn.Facts{Now: r.Now(), Lease: *l}) {
		return 0
	}
	return g.PID
}

// ReplacePatience is how long a command that does something else waits for the
// room's lock, to replace a guardian that has ended. Tests allow more.
var ReplacePatience = time.Second

// ReplaceGuardian starts a new guardian if the agent has the turn and its guardian
// has ended, or the record of the lease was lost. If that fails, it warns.
func (r *Room) ReplaceGuardian(ctx context.Context, st *turn.State) {
	if st.Owner != r.Self.ID || r.holdsElsewhere(st) {
		return
	}
	l := r.recorded(st)
	g, lost := guardianOf(l), l.Fence == turn.Fence{}
	if !lost && (g == nil || l.Ended.Why == "" && r.Table.Verdict(*g) != identity.Gone) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ReplacePatience)
	defer cancel()
	_, err := r.EnsureGuardian(ctx, st.Fence())
	switch {
	case err == nil, isOvertaken(err), lost && isLockTimeout(err):
	case lost:
		r.Warn(fmt.Sprintf(`your turn has no guardian, and none could be started: run "tt wait" (%v)`, err))
	default:
		r.Warn(fmt.Sprintf(`the guardian of your turn, process %d, has ended, and no other could be started: run "tt wait" (%v)`, g.PID, err))
	}
}

// KeepGuardian starts a new guardian if the agent has the turn and none can be seen from
// here: the one that a command has started may have ended with the sandbox of that command.
// Where the guardian lives that costs one look at a file, and where the agent has no turn one
// at the room as this host knows it.
func (r *Room) KeepGuardian(ctx context.Context) {
	var l turn.Lease
	if r.own().Read(leaseFile, &l) {
		if g := guardianOf(l); g == nil || r.isElsewhere(*g) || r.isAlive(g) {
			return
		}
	}
	snap, err := r.FS.Known()
	if err != nil || snap.State.Owner != r.Self.ID || r.holdsElsewhere(snap.State) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ReplacePatience)
	defer cancel()
	_, _ = r.EnsureGuardian(ctx, snap.State.Fence()) // else the next hook or command does
}

// GuardianStatus tells whether the guardian of the current turn lives. The process is
// nil if there is no guardian, and has no number if it is one of another host; stopped is
// why it stopped renewing, "" if it did not.
func (r *Room) GuardianStatus(st *turn.State) (process *identity.Process, status turn.Process, stopped string) {
	l := r.lease(st)
	g := guardianOf(l)
	if g == nil {
		return nil, turn.Unknown, ""
	}
	if r.isElsewhere(*g) {
		return &identity.Process{}, r.guardianElsewhere(st, l), l.Ended.Why
	}
	return g, r.verdict(*g), l.Ended.Why
}

// notStarted is the error for a turn that was granted without a guardian.
func notStarted(turnID int64, failure error) error {
	return code.New(code.GuardianFailed, "the turn is yours, but its guardian did not start: %v", failure).
		WithHint(`run "tt wait" again to start it, or end the turn with "tt release"`).
		With("turn_id", turnID).Because(failure)
}
