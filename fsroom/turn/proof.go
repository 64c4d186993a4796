package turn

import "time"

// A Proof is the word of an engine that a turn was the owner's: until it is too old, no
// other agent has the turn, so the owner need not ask again. It is kept on the owner's
// host and is judged by that host's clock alone.
type Proof struct {
	Fence
	TTL    time.Duration // of the lease, when it was renewed
	Boot   string        // of the machine
	Uptime time.Duration // of the machine, also asleep, before the engine was asked
}

// Margin returns how much earlier than the other hosts an owner counts its lease as over.
// It covers the differences between the clocks of servers and hosts: 30 s, or a quarter of
// a lease that is shorter than two minutes.
func Margin(ttl time.Duration) time.Duration { return min(30*time.Second, ttl/4) }

// Stands reports whether no other agent can have taken the turn over since the proof. It
// may not be told, after a reboot or where the boot is not known: then it is false.
func (p *Proof) Stands(s *State, boot string, uptime time.Duration) bool {
	if p.Fence != (Fence{Agent: s.Owner, Turn: s.Turn, Lease: s.Grant.Lease}) || p.Boot == "" || p.Boot != boot {
		return false
	}
	ttl := min(p.TTL, ms(s.Policy.OwnerLeaseTTL))
	passed := uptime - p.Uptime
	return passed >= 0 && passed < ttl-Margin(ttl)
}
