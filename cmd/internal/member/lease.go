package member

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/wire"
)

// The record of a lease is a file of the owner's own, so that an agent whose turn was taken
// over is refused and not taken for the new owner. It is written before the turn is granted, so
// that a turn has its record from the beginning: one that is missing was lost, and says
// nothing. A record of a turn that has ended, or was not granted, means nothing either. It is
// read without the lock, and written only with it, by writeLease.

// recorded returns the owner's record of the current turn's lease, the zero Lease if it has
// none.
func (r *Room) recorded(st *turn.State) (l turn.Lease) {
	if st.Owner == "" || !r.FS.Agent(st.Owner).Read(leaseFile, &l) || l.Fence != st.Fence() {
		return turn.Lease{}
	}
	return l
}

// lease returns what is known of the current turn's lease beyond its grant, the zero Lease
// if nothing is.
func (r *Room) lease(st *turn.State) turn.Lease { return r.told(st, r.recorded(st)) }

// told adds to the record of the lease what other hosts have told of it.
func (r *Room) told(st *turn.State, recorded turn.Lease) turn.Lease {
	if told, ok := r.hosts.told(st); ok {
		return recorded.Told(told)
	}
	return recorded
}

// guardianOf returns the guardian of a lease, nil if it has none.
func guardianOf(l turn.Lease) *identity.Process {
	if l.Guardian == (turn.ProcessID{}) {
		return nil
	}
	p := identity.Process(l.Guardian)
	return &p
}

// noteMargin is how much longer than the lease a renewal is kept.
const noteMargin = time.Minute

// A leaseChange changes the lease of the turn in progress, and reports whether it did. It
// may be called more than once.
type leaseChange func(*turn.State, *turn.Lease) (bool, error)

// changeLease calls change with the lease of the agent's turn as it is recorded, while the
// room is locked, and writes the record if it was changed.
func (r *Room) changeLease(ctx context.Context, change leaseChange) error {
	return r.FS.Locked(ctx, func(snap *snapshot) error {
		l := r.toChange(snap.State)
		if changed, err := change(snap.State, &l); err != nil || !changed {
			return err
		}
		return r.writeLease(&l)
	})
}

// renewLease is changeLease for a change that renews the lease. With an engine the other
// hosts are told first, under the condition that nothing has happened in the room since it
// was as change got it: a takeover that came first is seen by change, and one that was
// decided without the renewal is decided again. What the engine confirms is the proof of
// the turn.
func (r *Room) renewLease(ctx context.Context, change leaseChange) error {
	var l turn.Lease
	return r.FS.Renew(ctx, func(snap *snapshot) (note []byte, keep time.Duration, err error) {
		l = r.toChange(snap.State)
		changed, err := change(snap.State, &l)
		if err != nil || !changed {
			return nil, 0, err
		}
		l.Proof = r.hosts.proof()
		return wire.Append(nil, &l), l.TTL + noteMargin, nil
	}, func() error { return r.writeLease(&l) })
}

// toChange returns the agent's record of the current turn's lease, or a new one.
func (r *Room) toChange(st *turn.State) turn.Lease {
	if l := r.recorded(st); l.Fence != (turn.Fence{}) {
		return l
	}
	return turn.Lease{Fence: st.Fence()}
}

// writeLease writes the record of the agent's lease. The room is locked.
func (r *Room) writeLease(l *turn.Lease) error { return r.own().Write(leaseFile, l) }

// A grant is a turn that is about to be granted to the agent: its lease is recorded, and its
// guardian waits for it.
type grant struct {
	lease   turn.Lease // as it is recorded; zero: nothing is
	started *guardianProcess
	failure error      // why no guardian was started; nil: one was
	before  turn.Lease // what was recorded before, of whatever turn; zero: nothing
}

// prepare starts the guardian of a turn that is granted next and writes its record. If no
// guardian can be started the record is written all the same, so that the turn can be
// released. It may be called again if the turn was not granted. The room is locked.
func (r *Room) prepare(g *grant, fence turn.Fence, policy turn.Policy, proof turn.Proof, byHand bool) error {
	if err := r.recordProcess(); err != nil { // without it the agent would be taken for one that has ended
		return err
	}
	if g.lease.Fence == (turn.Fence{}) {
		_ = r.own().Read(leaseFile, &g.before)
	}
	if g.lease.Fence != fence {
		g.started.kill()
		g.started, g.failure = r.startGuardian(fence)
	}
	g.lease = turn.Lease{Fence: fence, GrantedTo: r.Table.Self().PID, Holder: r.session(), ByHand: byHand, ModelTurn: r.modelTurn(),
		Proof: proof}
	g.lease.Renew(r.Now(), policy, g.started.process())
	if err := r.writeLease(&g.lease); err != nil {
		g.started.kill()
		g.lease, g.started = turn.Lease{}, nil
		return err
	}
	return nil
}

// abandon undoes prepare where the turn was not granted, for the reason in err. Where that is in
// doubt, the guardian finds out.
func (r *Room) abandon(ctx context.Context, g *grant, err error) {
	defer func() { *g = grant{} }()
	if g.lease.Fence == (turn.Fence{}) || code.Of(err) == code.InDoubt || r.hosts.away(err) {
		return
	}
	_ = r.FS.Locked(ctx, func(snap *snapshot) error {
		var l turn.Lease
		if snap.State.Fence() == g.lease.Fence || !r.own().Read(leaseFile, &l) || l.Fence != g.lease.Fence {
			return nil
		}
		g.started.kill()
		if g.before.Fence == (turn.Fence{}) {
			return r.own().Remove(leaseFile)
		}
		return r.writeLease(&g.before)
	})
}

// digest stands for a fencing token where everybody can read it. A turn of another room, or of
// the same one in another data directory, has another.
func digest(fence turn.Fence) string {
	sum := sha256.Sum256([]byte(fence.Lease))
	return hex.EncodeToString(sum[:8])
}

// session returns the process of the agent's session, the zero ProcessID if none is known.
func (r *Room) session() turn.ProcessID {
	if r.Self.Root == nil {
		return turn.ProcessID{}
	}
	return turn.ProcessID(*r.Self.Root)
}

// HeldByOtherWindow returns the pid of the process of the agent's session that took the turn, if
// that is another one than the caller's and lives; 0 if the agent does not have the turn, the
// processes are the same or one is an ancestor of the other, or one of them is not known.
func (r *Room) HeldByOtherWindow(st *turn.State) (pid int) { return r.windowOf(st, r.recorded(st)) }

// windowOf is HeldByOtherWindow for the record of the lease.
func (r *Room) windowOf(st *turn.State, recorded turn.Lease) (pid int) {
	if st.Owner != r.Self.ID || r.Elsewhere(st) != "" {
		return 0
	}
	return r.otherWindow(recorded.Holder)
}

// CheckWindow refuses an agent of which another window has the turn.
func (r *Room) CheckWindow(st *turn.State) error {
	if r.HeldByOtherWindow(st) == 0 {
		return nil
	}
	return turn.HeldByWindow(st, r.Facts(st))
}

// otherWindow is HeldByOtherWindow for the process that took the turn.
func (r *Room) otherWindow(holder turn.ProcessID) (pid int) {
	mine := r.session()
	if holder == (turn.ProcessID{}) || mine == (turn.ProcessID{}) || holder == mine {
		return 0
	}
	if p := identity.Process(holder); r.hosts.have(p) || !r.isOpenIn(p) || identity.Related(r.Table, p, *r.Self.Root) {
		return 0
	}
	return holder.PID
}

// isOpenIn reports whether the agent's session is open in a process that lives, which may have another one by now.
func (r *Room) isOpenIn(p identity.Process) bool {
	return r.isAlive(&p) && slices.Contains(r.processRecord(r.Self.ID).Processes, p)
}

// forgetLease removes the record of an agent whose turn has ended. The room is
// locked, so the record is not one of a later turn.
func (r *Room) forgetLease(agent string) { _ = r.FS.Agent(agent).Remove(leaseFile) }

// CurrentFence returns the fencing token that the owner has recorded for the current
// turn, a zero one if it has none.
func (r *Room) CurrentFence(st *turn.State) turn.Fence { return r.recorded(st).Fence }

// StillHolds returns nil as long as the agent has the turn of a fencing token, and then the refusal of
// [turn.State.Check]. It takes no lock, so a change of the tree asks before each of its steps; whoever is granted
// the turn meanwhile waits for the end of that change, see [Recorder].
func (r *Room) StillHolds(fence turn.Fence) error {
	snap, err := r.FS.View()
	if err != nil {
		return err
	}
	return r.holds(snap.State, fence)
}

// holds is StillHolds for the room as it is given.
func (r *Room) holds(st *turn.State, fence turn.Fence) error {
	if err := st.Check(r.Facts(st), fence); err != nil {
		return err
	}
	return r.CheckWindow(st)
}

// recordedFence returns the fencing token that the agent has recorded last, of whatever
// turn; the zero Fence if it has recorded none.
func (r *Room) recordedFence() turn.Fence {
	var l turn.Lease
	if r.own().Read(leaseFile, &l) && l.Agent == r.Self.ID && l.Lease != "" {
		return l.Fence
	}
	return turn.Fence{}
}

// Fence returns the fencing token that the agent shows to act on its turn, whether
// that is still its own or not. An agent that has none is refused.
func (r *Room) Fence(ctx context.Context) (turn.Fence, error) {
	fence := r.recordedFence()
	if fence != (turn.Fence{}) && r.hosts == nil {
		return fence, nil
	}
	snap, err := r.FS.View()
	if err != nil {
		return turn.Fence{}, err
	}
	st := snap.State
	switch {
	case !r.IsMember(st):
		err = r.Client.tellLost(turn.NotJoined(st, r.Self.ID))
	case fence != (turn.Fence{}): // who removes a member on another host does not remove the record
		return fence, nil
	default:
		if err = r.checkHost(st); err == nil {
			refusal := turn.NoActiveLease(st, r.Facts(st), r.Self.ID)
			if owner := r.ActsFor(st); owner != "" {
				refusal.WithHint("%s", WorkFor(owner))
			}
			err = refusal
		}
	}
	return turn.Fence{}, r.refused(ctx, st, err)
}
