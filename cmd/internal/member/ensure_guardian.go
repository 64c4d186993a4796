package member

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// Keep renews the lease of the agent's turn and returns the pid of its guardian. If none is
// alive, or the guardian has let the lease expire, it starts one. When several
// processes call it at once, one guardian remains. A turn that is not the agent's any
// more is refused as by [turn.State.Check], one that it has on another host as by a change, and one that
// another window of its session has as by [Room.CheckWindow]; nothing is written then. Where the process
// that took the turn has ended, it belongs to that of the caller from now on. byHand is set for a command
// of the agent that has asked for the turn.
//
// It looks at the room while that is locked. The agent has recorded its presence before: so
// either a takeover came first and is seen here, or one that comes later sees the presence.
// With an engine it is that which says whose the turn is.
func (r *Room) Keep(ctx context.Context, fence turn.Fence, byHand bool) (pid int, err error) {
	var before *identity.Process
	var belongs bool // the turn, to the caller's process
	keep := func(started *guardianProcess) error {
		return r.renewLease(ctx, func(st *turn.State, l *turn.Lease) (bool, error) {
			if err := cmp.Or(r.checkHost(st), r.holds(st, fence)); err != nil {
				return false, err
			}
			if pid = r.activeGuardian(st, l); pid == 0 && started == nil {
				before = guardianOf(*l)
				return false, nil
			}
			l.ByHand, l.ModelTurn = l.ByHand || byHand, r.modelTurn()
			if belongs = !r.inherits(l); !belongs {
				l.Holder = r.session()
				r.own().Notify() // the guardian watches that process from now on
			}
			if pid != 0 {
				l.Renew(r.Now(), st.Policy, turn.ProcessID{})
				return true, nil
			}
			l.Renew(r.Now(), st.Policy, started.process())
			r.notify(st, fsroom.Agent.NotifyHere) // they look when the lock is free
			return true, nil
		})
	}
	if err := keep(nil); err != nil || pid != 0 {
		if pid != 0 && belongs && code.Of(err) == code.DiskFull { // the guardian renews the lease as it did
			err = nil
		}
		return pid, err
	}
	started, failure := r.startGuardian(fence)
	if started == nil {
		return 0, notStarted(fence.Turn, failure)
	}
	if err := keep(started); err != nil || pid != 0 { // another process has started one, or the turn is over
		started.kill()
		return pid, err
	}
	if before != nil {
		what := "had ended"
		if r.isAlive(before) {
			what = "did not renew the lease"
		}
		r.Warn(fmt.Sprintf("the guardian of your turn, process %d, %s; process %d took its place", before.PID, what, started.PID))
		r.restarted = true
	}
	return started.PID, nil
}

// isKept reports whether the turn in progress is the caller's and a guardian renews its lease, of which l is the record, as far as
// that can be seen without a lock.
func (r *Room) isKept(st *turn.State, l *turn.Lease) bool {
	return st.Owner == r.Self.ID && r.Elsewhere(st) == "" && r.activeGuardian(st, l) != 0 && !r.inherits(l) && r.otherWindow(l.Holder) == 0
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

// activeGuardian returns the pid of the guardian that renews the lease, 0 if none is known to:
// none was recorded, it has ended, or it let the lease expire.
func (r *Room) activeGuardian(st *turn.State, l *turn.Lease) int {
	g := guardianOf(*l)
	if !r.isAlive(g) || l.Ended.Why != "" || st.LeaseExpired(turn.Facts{Now: r.Now(), Lease: *l}) {
		return 0
	}
	return g.PID
}

// ReplacePatience is how long a command that does something else waits for the
// room's lock, to replace a guardian that has ended. Tests allow more.
var ReplacePatience = time.Second

// ReplaceGuardian starts a new guardian if the agent has the turn and its guardian
// has ended, or the record of the lease was lost. If that fails, it warns. A hook also replaces one
// that cannot be seen from here, and does not warn, as the next hook or command does it: the guardian that
// a command has started may have ended with the sandbox of that command.
func (r *Room) ReplaceGuardian(ctx context.Context, st *turn.State, hook bool) {
	if st.Owner != r.Self.ID || r.Elsewhere(st) != "" {
		return
	}
	l := r.recorded(st)
	g, lost := guardianOf(l), l.Fence == turn.Fence{}
	if !lost && (g == nil || l.Ended.Why == "" && !r.hasEnded(*g, hook)) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ReplacePatience)
	defer cancel()
	_, err := r.Keep(ctx, st.Fence(), false)
	switch {
	case err == nil, hook, IsOvertaken(err), lost && comesFrom(err, code.LockTimeout):
	case lost:
		r.Warn(fmt.Sprintf(`your turn has no guardian, and none could be started: run "tt wait" (%v)`, err))
	default:
		r.Warn(fmt.Sprintf(`the guardian of your turn, process %d, has ended, and no other could be started: run "tt wait" (%v)`, g.PID, err))
	}
}

// hasEnded reports whether a guardian has ended, or for a hook that it cannot be seen from here.
func (r *Room) hasEnded(g identity.Process, hook bool) bool {
	v := r.Table.Verdict(g)
	return v == identity.Gone || hook && v != identity.Alive && !r.hosts.have(g)
}

// A Renewal says how the lease of the turn in progress is kept.
type Renewal struct {
	Status turn.Process `json:"status"`          // of the guardian: alive, stopped, gone, unknown, none
	PID    int          `json:"pid,omitempty"`   // of the guardian; 0: there is none, or it is one of another host
	Ended  string       `json:"ended,omitempty"` // why it gave up, "" if it did not
	At     time.Time    `json:"-"`               // the last renewal; zero: there was none, or it is not recorded
}

// Renewal returns how the lease of the turn in progress is kept.
func (r *Room) Renewal(st *turn.State) Renewal {
	l := r.lease(st)
	n := Renewal{Ended: l.Ended.Why, At: r.recorded(st).Renewed.Wall.Time}
	if n.Status, n.PID = r.guardian(st, l); n.Status == turn.Unseen {
		n.Status = turn.Unknown
	}
	if n.Status == turn.NoProcess {
		n.Status, n.Ended = "none", ""
	}
	return n
}

// notStarted is the error for a turn that was granted without a guardian.
func notStarted(turnID int64, failure error) error {
	why := fmt.Sprint(failure)
	if known := (*code.Error)(nil); errors.As(failure, &known) {
		why = known.Message
	}
	return code.New(code.GuardianFailed, "the turn is yours, but its guardian did not start: %s", why).
		WithHint(`run "tt wait" again to start it, or end the turn with "tt release"`).
		With("turn_id", turnID).Because(failure)
}

// ComesBack reports whether the agent, which has the turn in progress, has to renew its lease by
// [Room.ComeBack] before it writes: its model has begun a turn since it did so last, or no guardian
// renews the lease, or none has in time, as where the machine was asleep. What its hooks have noted of it has to be
// written before. Nothing is locked.
func (r *Room) ComesBack(st *turn.State) bool {
	began, inTurn := r.Client.Hearing().ModelTurn()
	l := r.recorded(st)
	return !r.isKept(st, &l) || l.Left(r.Now()) < l.TTL/2 || !began.IsZero() && !(inTurn && l.ModelTurn.Equal(event.NewTime(began).Time))
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
