package member

import (
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// provedFile has a proofRecord. It is known to this host alone.
const provedFile = "proved"

// A proofRecord is the last [turn.Proof] of an agent.
type proofRecord struct {
	turn.Proof
	At event.Time // on the wall clock of this machine, for people
}

// proofBegun returns the proof of what the engine is asked from now on.
func proofBegun() proofRecord {
	return proofRecord{
		Proof: turn.Proof{Boot: identity.BootID(), Uptime: identity.Uptime()},
		At:    event.NewTime(time.Now()),
	}
}

// proved records that the engine has confirmed the turn of the fence, which st has, since
// the proof was begun.
func (r *Room) proved(p proofRecord, fence turn.Fence, policy turn.Policy) {
	p.Fence, p.TTL = fence, time.Duration(policy.OwnerLeaseTTL)*time.Millisecond
	_ = r.own().Write(provedFile, &p) // without it the guard of edits closes
}

// Unproved reports whether the agent owns the turn of a shared room, but another agent may
// have taken it over unnoticed: the engine has not confirmed it for too long. since is
// when it did so last, zero if it is not known. Nothing is asked of the engine.
func (r *Room) Unproved(st *turn.State) (since time.Time, unproved bool) {
	if !r.IsShared() || st.Owner == "" || st.Owner != r.Self.ID {
		return time.Time{}, false
	}
	var p proofRecord
	if !r.own().Read(provedFile, &p) || p.Fence != (turn.Fence{Agent: st.Owner, Turn: st.Turn, Lease: st.Grant.Lease}) {
		return time.Time{}, true
	}
	return p.At.Time, !p.Stands(st, identity.BootID(), identity.Uptime())
}

// Fields implements [wire.Fields].
func (p *proofRecord) Fields(c *wire.Codec) {
	ttl, uptime := p.TTL.Milliseconds(), p.Uptime.Milliseconds()
	c.Text("agent_id", &p.Agent)
	c.Int("turn_id", &p.Turn)
	c.Text("lease_id", &p.Lease)
	c.Int("lease_ms", &ttl)
	c.Text("boot_id", &p.Boot)
	c.Int("uptime_ms", &uptime)
	c.Time("at", &p.At)
	p.TTL, p.Uptime = time.Duration(ttl)*time.Millisecond, time.Duration(uptime)*time.Millisecond
}
