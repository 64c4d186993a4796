package turn

// Facts are the circumstances of one decision: what the rules need to know and
// the journal does not say. They are gathered before the room is locked.
type Facts struct {
	Now Instant
	// Presence returns what is known of an agent. It must answer for every agent
	// id, with the zero Presence for an unknown one.
	Presence func(agentID string) Presence
	// Hearing returns how an agent can hear of news, for every agent id. It is nil where
	// nothing is known to listen.
	Hearing func(agentID string) Hearing
	// Waiting returns Waiting and Inbox of the Presence of an agent, for less. It may be nil.
	Waiting func(agentID string) (waiting, inbox bool)
	// Support returns what is known of the processes on which the turn in progress depends.
	// It is nil where nobody asks for [State.Trouble].
	Support func() Support
	// Renewed is the last renewal of the current turn's lease. It is zero if the
	// lease was never renewed, or if the renewal was that of another turn.
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

func (f Facts) waiting(id string) (waiting, inbox bool) {
	if f.Waiting == nil {
		p := f.presence(id)
		return p.Waiting, p.Inbox
	}
	return f.Waiting(id)
}

func (f Facts) hearing(id string) Hearing {
	if f.Hearing == nil {
		return Hearing{}
	}
	return f.Hearing(id)
}

// leaseStart returns when the lease was granted or last renewed. A renewal counts
// as later than the grant whatever the clocks say: the machine may have been booted
// with another time in between.
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
