package turn

import (
	"slices"
	"time"
)

// A Process says what is known of the process behind a member.
type Process string

// What can be known of a process. Unknown is treated as alive until a timeout. Those after it are said of
// a guardian alone.
const (
	Alive     Process = "alive"
	Gone      Process = "gone"
	Unknown   Process = "unknown"
	Stopped   Process = "stopped"
	Unseen    Process = "unseen" // of this host and boot, but in another pid namespace
	NoProcess Process = ""       // there is none
)

// Presence is what the machine, not the journal, knows of a member.
type Presence struct {
	Seen    time.Time // its last command; zero: none since it joined
	Waited  time.Time // when it last began or ended waiting; zero: never
	Waiting bool      // a process of it waits for the turn now
	Inbox   bool      // that wait ends for messages too
	Wants   bool      // a write of it was refused, and it is to be called
	Process Process   // the process that identifies the agent
	PID     int       // of that process, for messages; 0: not known
	Stopped bool      // that process is alive and suspended
	// OutlivesProcess is set if the end of Process does not prove the end of the
	// agent: the agent is identified by an exported session, which outlives its
	// process, or Process is only its guardian. Such a member counts as gone only
	// after it was silent for the grace time as well.
	OutlivesProcess bool
	// Guardian is set if Process is the guardian of the member's turn, because no
	// process of the member itself is known.
	Guardian bool
	// Silent is how long nothing was heard of a member on another host, if that is too long
	// to tell whether it is alive.
	Silent time.Duration
	// EndedAt is when the process was seen to have ended, or the session did; zero: not known.
	EndedAt time.Time
	// SessionEnded is set if the agent is gone because its session has ended, whatever its
	// process does.
	SessionEnded bool
}

// ProcessOf sums up the verdicts on all processes that an agent was seen with. It
// is Alive if one of them is, Gone if every one is, and otherwise Unknown.
func ProcessOf(verdicts []Process) Process {
	switch {
	case slices.Contains(verdicts, Alive):
		return Alive
	case len(verdicts) == 0, slices.ContainsFunc(verdicts, func(p Process) bool { return p != Gone }):
		return Unknown
	}
	return Gone
}

// WithGuardian returns the presence of the owner of a turn whose guardian has the
// given verdict. The guardian stands in for an agent of which no process is known.
// It is the only sign of such an agent, but not the agent itself, see
// OutlivesProcess.
func (p Presence) WithGuardian(guardian Process, pid int) Presence {
	if p.Process != Unknown {
		return p
	}
	p.Process, p.PID, p.OutlivesProcess, p.Guardian = guardian, pid, true, true
	return p
}

// OfCaller returns the presence of the agent that runs the command. It was seen at
// that moment, and is not gone even if its recorded processes have ended.
func (p Presence) OfCaller(at time.Time) Presence {
	p.Seen = at
	if p.Process == Gone {
		p.Process, p.SessionEnded = Unknown, false
	}
	return p
}

// shown returns the process as results show it. A suspended process is not said to be
// alive.
func (p Presence) shown() Process {
	if p.Stopped {
		return Unknown
	}
	return p.Process
}

// Gone reports whether the member is known to have ended.
func (f Facts) Gone(s *State, m *Member) bool {
	if !f.ended(m.AgentID) || s.isAuto(f, m.AgentID) && f.activity(m.AgentID).Job != "" {
		return false
	}
	return !f.presence(m.AgentID).OutlivesProcess || f.silence(m) > ms(s.Policy.GoneGrace)
}

// isAuto reports whether a member holds a turn that a hook has taken. It ends with the process that
// took it, but not while a job of it runs.
func (s *State) isAuto(f Facts, id string) bool {
	return s.Owner == id && s.Grant.Auto && !f.lease(s).ByHand
}

// ended reports whether every known process of the member has ended and nothing of it
// waits. It may be back, if it is a session that outlives its process.
func (f Facts) ended(id string) bool {
	return f.presence(id).Process == Gone && !f.isWaiting(id)
}

// UntilGone returns the time until a member whose process has ended, but who may
// outlive it, counts as gone. It is zero for every other member, and once the
// member counts as gone.
func (s *State) UntilGone(f Facts, id string) time.Duration {
	m := s.Member(id)
	if m == nil || !f.ended(id) || !f.presence(id).OutlivesProcess {
		return 0
	}
	left := ms(s.Policy.GoneGrace) - f.silence(m) + time.Millisecond
	return max(0, left.Truncate(time.Millisecond)) // the precision of [Facts]
}

// lastSeen returns when the member was last heard of.
func (f Facts) lastSeen(m *Member) time.Time {
	if p := f.presence(m.AgentID); p.Seen.After(m.JoinedAt.Time) {
		return p.Seen
	}
	return m.JoinedAt.Time
}

// silence returns the time since the member was last heard of.
func (f Facts) silence(m *Member) time.Duration {
	return max(0, f.Now.Wall.Sub(f.lastSeen(m)))
}

// expired reports whether the member was silent for the whole presence time.
func (f Facts) expired(s *State, m *Member) bool {
	return f.silence(m) >= ms(s.Policy.PresenceTTL)
}

// active reports whether the member takes part: it is not gone, and it was heard
// of lately, or waits, or holds the stick with a live lease.
func (f Facts) active(s *State, m *Member) bool {
	if f.Gone(s, m) {
		return false
	}
	return !f.expired(s, m) || f.isWaiting(m.AgentID) || s.holdsLease(f, m)
}

// ready reports whether the member would take the stick at once: it is at hand, or wants it.
func (f Facts) ready(s *State, m *Member) bool {
	return f.presence(m.AgentID).Wants || f.atHand(s, m)
}

// atHand reports whether the member waits, or waited or joined within the grace time.
func (f Facts) atHand(s *State, m *Member) bool {
	last := m.JoinedAt.Time
	if p := f.presence(m.AgentID); p.Waited.After(last) {
		last = p.Waited
	}
	return f.isWaiting(m.AgentID) || f.Now.Wall.Sub(last) < ms(s.Policy.WaiterGrace)
}

// takesTurns reports whether the member counts where the rules ask who could go on: it
// is no observer, or it is one that holds the stick.
func (s *State) takesTurns(m *Member) bool { return !m.Observer || s.Owner == m.AgentID }

// otherActive reports whether a member that takes turns and is not excepted is active.
func (f Facts) otherActive(s *State, except ...string) bool {
	for i := range s.Members {
		if m := &s.Members[i]; s.takesTurns(m) && !slices.Contains(except, m.AgentID) && f.active(s, m) {
			return true
		}
	}
	return false
}
