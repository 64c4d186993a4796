package turn

import "time"

// Facts are the circumstances of one decision. They are gathered before the
// room is locked.
type Facts struct {
	Now Instant
	// Presence tells of a member; it must answer for any agent id, with the
	// zero Presence for one it has never heard of.
	Presence func(agentID string) Presence
	// Renewed is the last renewal of the current turn's lease, zero if it was
	// never renewed or belongs to another turn.
	Renewed Instant
}

func (f Facts) presence(id string) Presence {
	if f.Presence == nil {
		return Presence{Process: Unknown}
	}
	p := f.Presence(id)
	if p.Process == "" {
		p.Process = Unknown
	}
	return p
}

// lastSeen is when the member was last heard of.
func (f Facts) lastSeen(m *Member) time.Time {
	if p := f.presence(m.AgentID); p.Seen.After(m.JoinedAt.Time) {
		return p.Seen
	}
	return m.JoinedAt.Time
}

// silence is the time since the member was last heard of.
func (f Facts) silence(m *Member) time.Duration {
	return max(0, f.Now.Wall.Sub(f.lastSeen(m)))
}

// Gone reports whether the member is known to have ended.
func (f Facts) Gone(s *State, m *Member) bool {
	p := f.presence(m.AgentID)
	if p.Waiting || p.Process != Gone {
		return false
	}
	return !p.OutlivesProcess || f.silence(m) > ms(s.Policy.GoneGrace)
}

// expired reports whether the member's presence has run out.
func (f Facts) expired(s *State, m *Member) bool {
	return f.silence(m) >= ms(s.Policy.PresenceTTL)
}

// active reports whether the member takes part: not gone, and heard of lately
// or waiting or holding the stick with a live lease.
func (f Facts) active(s *State, m *Member) bool {
	if f.Gone(s, m) {
		return false
	}
	if !f.expired(s, m) || f.presence(m.AgentID).Waiting {
		return true
	}
	return s.Owner == m.AgentID && !f.leaseExpired(s)
}

// ready reports whether the member would take the stick at once: it waits, or
// waited or joined within the grace.
func (f Facts) ready(s *State, m *Member) bool {
	p := f.presence(m.AgentID)
	if p.Waiting {
		return true
	}
	last := m.JoinedAt.Time
	if p.Waited.After(last) {
		last = p.Waited
	}
	return f.Now.Wall.Sub(last) < ms(s.Policy.WaiterGrace)
}

// otherActive reports whether an active member exists besides those named.
func (f Facts) otherActive(s *State, except ...string) bool {
next:
	for i := range s.Members {
		m := &s.Members[i]
		for _, id := range except {
			if m.AgentID == id {
				continue next
			}
		}
		if f.active(s, m) {
			return true
		}
	}
	return false
}

// leaseStart is when the lease was granted or last renewed. A renewal is later
// than its grant whatever the clocks say: between the two the machine may have
// been booted with another time.
func (f Facts) leaseStart(s *State) Instant {
	if !f.Renewed.IsZero() {
		return f.Renewed
	}
	return s.Grant.At
}

// LeaseExpired reports whether the turn in progress has outlived its lease.
func (s *State) LeaseExpired(f Facts) bool { return s.Owner != "" && f.leaseExpired(s) }

func (f Facts) leaseExpired(s *State) bool {
	return f.Now.Expired(f.leaseStart(s), ms(s.Policy.OwnerLeaseTTL))
}

func (f Facts) claimExpired(s *State) bool {
	return f.Now.Expired(s.Pending.At, ms(s.Policy.ClaimTTL))
}
