package turn

import "time"

// A Process says what is known of the process behind a member.
type Process string

// What can be known of a process. Unknown is treated as alive until a timeout.
const (
	Alive   Process = "alive"
	Gone    Process = "gone"
	Unknown Process = "unknown"
)

// Presence is what the machine, not the journal, knows of a member.
type Presence struct {
	Seen    time.Time // its last command; zero: none since it joined
	Waited  time.Time // when it last began or ended waiting; zero: never
	Waiting bool      // one of its processes waits for the turn right now
	Process Process   // the process its identity hangs on
	PID     int       // of that process, for messages; 0: not known
	// OutlivesProcess is set where the end of Process does not prove the end of the agent:
	// its identity is an exported session, which outlives its process, or Process
	// is only its guardian. Such a member is gone only after silence as well.
	OutlivesProcess bool
	// Guardian is set if Process is the guardian of the member's turn, because no
	// process of the member itself is known.
	Guardian bool
	// EndedAt is when the process was seen to have ended; zero: not known.
	EndedAt time.Time
}

// ProcessOf sums up what is known of all processes that an agent was seen with: alive
// if one of them is, gone if every one has ended. Without any it is unknown.
func ProcessOf(processes []Process) Process {
	gone := 0
	for _, p := range processes {
		switch p {
		case Alive:
			return Alive
		case Gone:
			gone++
		}
	}
	if gone > 0 && gone == len(processes) {
		return Gone
	}
	return Unknown
}

// WithGuardian returns the presence of the owner of a turn whose guardian is as told.
// The guardian stands for an agent of which no process is known. It is the only
// sign of such an agent, but not the agent: see OutlivesProcess.
func (p Presence) WithGuardian(guardian Process, pid int) Presence {
	if p.Process != Unknown {
		return p
	}
	p.Process, p.PID, p.OutlivesProcess, p.Guardian = guardian, pid, true, true
	return p
}

// OfCaller returns the presence of the agent whose command asks, at that moment:
// it is here, whatever became of its processes.
func (p Presence) OfCaller(at time.Time) Presence {
	p.Seen = at
	if p.Process == Gone {
		p.Process = Unknown
	}
	return p
}

// shown is the process as members are shown: a guardian that has ended says
// nothing about its agent yet.
func (p Presence) shown(gone bool) Process {
	if p.Guardian && p.Process == Gone && !gone {
		return Unknown
	}
	return p.Process
}
