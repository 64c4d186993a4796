package member

import (
	"context"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A leaseRecord is what an agent believes to hold: the fencing token of its turn,
// and the guardian that renews the lease. It is a file of the agent's own, so an
// agent whose turn was taken over is refused and not taken for the new owner. The
// record of a turn that has ended means nothing, see isCurrent.
type leaseRecord struct {
	Agent     string
	Turn      int64
	Lease     string
	Guardian  *identity.Process // nil: none was started
	Renewed   turn.Instant
	Stopped   string     // why the guardian stopped renewing; "" if it did not
	StoppedAt event.Time // when it stopped
}

func newLeaseRecord(f turn.Fence) leaseRecord {
	return leaseRecord{Agent: f.Agent, Turn: f.Turn, Lease: f.Lease}
}

func (l *leaseRecord) fence() turn.Fence {
	return turn.Fence{Agent: l.Agent, Turn: l.Turn, Lease: l.Lease}
}

// isCurrent reports whether the record is that of the current turn.
func (l *leaseRecord) isCurrent(st *turn.State) bool {
	return st.Owner != "" && l.Turn == st.Turn && l.Lease == st.Grant.Lease && l.Agent == st.Owner
}

// currentLease returns the record of the current turn, nil if its owner has none.
func (r *Room) currentLease(st *turn.State) *leaseRecord {
	if st.Owner == "" {
		return nil
	}
	var l leaseRecord
	if r.Agent(st.Owner).Read(leaseFile, &l) && l.isCurrent(st) {
		return &l
	}
	return nil
}

// leaseOf returns the agent's record of the turn, or a new one.
func (r *Room) leaseOf(fence turn.Fence) leaseRecord {
	var l leaseRecord
	if r.own().Read(leaseFile, &l) && l.fence() == fence {
		return l
	}
	return newLeaseRecord(fence)
}

// updateLease calls change with the room's state and the record of the current turn,
// and writes the record if change returns true. The record is a new one if the agent
// has none of this turn. The room is locked, so no other process writes the record
// meanwhile.
func (r *Room) updateLease(ctx context.Context, change func(*turn.State, *leaseRecord) (write bool, err error)) error {
	return r.Locked(ctx, func(snap *snapshot) error {
		st := snap.State
		l := r.leaseOf(turn.Fence{Agent: st.Owner, Turn: st.Turn, Lease: st.Grant.Lease})
		write, err := change(st, &l)
		if err != nil || !write {
			return err
		}
		return r.own().Write(leaseFile, &l)
	})
}

// forgetLease removes the record of an agent whose turn has ended. The room is
// locked, so the record is not one of a later turn.
func (r *Room) forgetLease(agent string) {
	_ = r.Agent(agent).Remove(leaseFile)
	if r.IsShared() {
		_ = r.Agent(agent).Remove(provedFile)
	}
}

// CurrentFence returns the fencing token that the owner has recorded for the current
// turn, a zero one if it has none.
func (r *Room) CurrentFence(st *turn.State) turn.Fence {
	if l := r.currentLease(st); l != nil {
		return l.fence()
	}
	return turn.Fence{}
}

// recordedFence returns the fencing token that the agent has recorded last, of whatever
// turn; the zero Fence if it has recorded none.
func (r *Room) recordedFence() turn.Fence {
	var l leaseRecord
	if r.own().Read(leaseFile, &l) && l.Agent == r.Self.ID && l.Lease != "" {
		return l.fence()
	}
	return turn.Fence{}
}

// Fence returns the fencing token that the agent shows to act on its turn, whether
// that is still its own or not. An agent that has none is refused.
func (r *Room) Fence(ctx context.Context) (turn.Fence, error) {
	fence := r.recordedFence()
	if fence != (turn.Fence{}) && !r.IsShared() {
		return fence, nil
	}
	snap, err := r.Snapshot()
	if err != nil {
		return turn.Fence{}, err
	}
	if fence != (turn.Fence{}) && r.IsMember(snap.State) {
		r.found = snap
		return fence, nil // who removes a member on another host does not remove the record
	}
	if !r.IsMember(snap.State) {
		return turn.Fence{}, r.refused(ctx, snap.State, turn.NotJoined(snap.State, r.Self.ID))
	}
	return turn.Fence{}, r.refused(ctx, snap.State, turn.NoActiveLease(snap.State, r.Facts(snap.State), r.Self.ID))
}

// Fields implements [wire.Fields].
func (l *leaseRecord) Fields(c *wire.Codec) {
	c.Text("agent_id", &l.Agent)
	c.Int("turn_id", &l.Turn)
	c.Text("lease_id", &l.Lease)
	if l.Guardian == nil && !c.Writes() {
		l.Guardian = new(identity.Process)
	}
	c.OptObject("guardian", l.Guardian, l.Guardian == nil)
	if !c.Writes() && *l.Guardian == (identity.Process{}) {
		l.Guardian = nil
	}
	c.OptObject("renewed", &l.Renewed, l.Renewed.IsZero())
	c.OptText("guardian_ended", &l.Stopped)
	if !c.Writes() || !l.StoppedAt.IsZero() {
		c.Time("guardian_ended_at", &l.StoppedAt)
	}
}
