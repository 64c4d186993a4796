package turn

// Facts are the circumstances of one decision: what the rules need to know and the
// journal does not say. They are valid for the decision for which they were gathered: the
// facts of a change are gathered while the room is locked, and looked up when they are
// asked for.
type Facts struct {
	Now Instant
	// Presence returns what is known of an agent. It must answer for every agent
	// id, with the zero Presence for an unknown one.
	Presence func(agentID string) Presence
	// Hearing returns how an agent can hear of news, for every agent id. It is nil where
	// nothing is known to listen.
	Hearing func(agentID string) Hearing
	// Activity returns what an agent does, the zero Activity where nothing is known. It may be nil.
	Activity func(agentID string) Activity
	// Support returns what is known of the processes on which the turn in progress depends.
	// It is nil where nobody asks for [State.Trouble].
	Support func() Support
	// Host names this host among those that share the room; "": none do.
	Host string
	// Directory is that of the room on this host; "": the one where the room was made.
	Directory string
	// Window is the pid of the process of the asking agent's session that has the turn, in another window; 0: none.
	Window int
	// Lease is what is known of the current turn's lease beyond its grant. It is zero, or
	// that of another turn, if nothing is.
	Lease Lease
}

// Settled returns the facts with all that they say of the members of the room looked up now. The functions have to look
// up once, of each agent.
func (f Facts) Settled(s *State) Facts {
	for i := range s.Members {
		id := s.Members[i].AgentID
		f.presence(id)
		f.hearing(id)
		f.activity(id)
	}
	if f.Support != nil {
		f.Support()
	}
	return f
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

func (f Facts) isWaiting(id string) bool { return f.presence(id).Waiting }

func (f Facts) hearing(id string) Hearing {
	if f.Hearing == nil {
		return Hearing{}
	}
	return f.Hearing(id)
}

// LeaseExpired reports whether the turn in progress has outlived its lease.
func (s *State) LeaseExpired(f Facts) bool { return s.Owner != "" && f.lease(s).Expired(f.Now) }

// ClaimExpired reports whether the turn is reserved, and was not claimed in time.
func (s *State) ClaimExpired(f Facts) bool {
	return s.Owner == "" && s.ReservedFor != "" && f.Now.Expired(s.Pending.At, ms(s.Policy.ClaimTTL))
}
