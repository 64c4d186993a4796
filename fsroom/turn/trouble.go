package turn

import (
	"fmt"
	"strconv"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// What can be wrong with the holder of the turn.
const (
	GuardianStopped = "guardian_stopped"
	GuardianEnded   = "guardian_ended"
	GuardianUnseen  = "guardian_unseen" // it is in another pid namespace, or ended with one
	HarnessStopped  = "harness_stopped"
	HarnessEnded    = "harness_ended"
	LockStopped     = "lock_held_by_stopped" // a stopped process has the lock of the room
	CutOff          = "cut_off"              // the holder's host cannot reach the engine that shares the room
	HolderAsks      = "asks"                 // the holder waits for its user
	HolderLimited   = "limited"              // its model has reached a limit
	HolderIdle      = "idle"                 // its model has ended its turn without a release
)

// A Trouble is one thing that is wrong with the holder of the turn.
type Trouble struct {
	What  string      // one of the constants above
	PID   int         // of the process; 0: not known
	Since *event.Time // nil: not known
	Until *event.Time // when others may take the turn over; nil: not by time, or they may already
	Do    string      // the one next step
	Agent string      // the holder; not part of the JSON
	none  bool        // no guardian was started

	session bool // the session of the harness has ended, whatever its process does
}

// Fact says in words what is wrong.
func (t *Trouble) Fact() string {
	of, guardian := "process "+strconv.Itoa(t.PID)+" of "+t.Agent, fmt.Sprintf("the guardian of %s (process %d)", t.Agent, t.PID)
	if t.PID == 0 {
		of, guardian = "the process of "+t.Agent, "the guardian of "+t.Agent
	}
	if t.none {
		return "no guardian renews the lease of " + t.Agent
	}
	switch t.What {
	case GuardianStopped:
		return guardian + " is stopped"
	case GuardianEnded:
		return guardian + " has ended"
	case GuardianUnseen:
		return guardian + " cannot be seen from here: it is in another pid namespace, or has ended with one"
	case HarnessStopped:
		return of + " is stopped"
	case HarnessEnded:
		if t.session {
			return t.Agent + " is gone: its session has ended"
		}
		return of + " has ended"
	case LockStopped:
		return "process " + strconv.Itoa(t.PID) + ", which has the lock of the room, is stopped"
	case CutOff:
		return "the engine has not confirmed the turn of " + t.Agent + " since " + t.Since.Format(utcClock)
	case HolderAsks:
		return t.Agent + " waits for an answer of its user"
	case HolderLimited:
		return "the model of " + t.Agent + " has reached a limit"
	case HolderIdle:
		return "the model of " + t.Agent + " is idle"
	}
	return t.What
}

// Sentence is [Trouble.Fact] with what follows from it.
func (t *Trouble) Sentence() string {
	switch {
	case t.What == LockStopped:
		return t.Fact() + ": nobody can change the room"
	case t.Until != nil && t.What != CutOff:
		return t.Fact() + "; others may take the turn from " + t.Until.Format(utcClock) + " on"
	case t.What == HarnessStopped:
		return t.Fact() + ": it keeps the turn and does nothing"
	}
	return t.Fact()
}

// A ProcessState is what is known of a process that a turn depends on.
type ProcessState string

// The states of a process.
const (
	NoProcess      ProcessState = ""
	ProcessAlive   ProcessState = "alive"
	ProcessStopped ProcessState = "stopped"
	ProcessEnded   ProcessState = "ended"
	ProcessUnseen  ProcessState = "unseen" // of this host and boot, but in another pid namespace
	ProcessUnknown ProcessState = "unknown"
)

// Support is what the machine knows of the processes on which the turn in progress
// depends, besides [Presence].
type Support struct {
	Guardian ProcessState // the process that renews the lease
	PID      int          // of the guardian; 0: not known
	Ended    time.Time    // when the guardian ended; zero: not known
	Lock     int          // a stopped process that has the lock of the room; 0: none
	CutOff   bool         // this host is the holder's and cannot have its turn confirmed, see [Proof]
}

// Trouble returns what is wrong with the holder of the turn, and with the lock of the
// room. No other function judges that: whatever is said about the holder comes from here.
func (s *State) Trouble(f Facts) (list []Trouble) {
	if !s.Open || f.Support == nil {
		return nil
	}
	k := f.Support()
	if m := s.Member(s.Owner); m != nil {
		list = s.holderTrouble(f, m, k)
	}
	if k.Lock != 0 {
		list = append(list, Trouble{What: LockStopped, PID: k.Lock, Do: continueProcess(k.Lock)})
	}
	return list
}

// holderTrouble is Trouble for the processes of the holder: of its harness first.
func (s *State) holderTrouble(f Facts, m *Member, k Support) (list []Trouble) {
	p := f.presence(m.AgentID)
	unguarded := k.Guardian != ProcessAlive && k.Guardian != ProcessUnknown
	until := s.freeAt(f, m, unguarded)
	add := func(t Trouble, do string) {
		t.Agent, t.Do = m.AgentID, do
		if t.What != HarnessStopped || unguarded {
			t.Until = until
		}
		list = append(list, t)
	}
	take := hintTake
	if until != nil {
		take = fmt.Sprintf(hintTakeLater, until.Format(utcClock))
	}
	if k.CutOff {
		list = append(list, s.cutOff(f))
	}
	switch {
	case p.Guardian: // nothing is known of the harness
	case p.Process != Gone && !p.Stopped:
	case f.isWaiting(m.AgentID): // a process of the harness lives
	case p.Stopped:
		add(Trouble{What: HarnessStopped, PID: p.PID}, continueProcess(p.PID))
	case p.Process == Gone:
		do := take
		if a := f.activity(m.AgentID); a.Job != "" && s.isAuto(f, m.AgentID) {
			do = fmt.Sprintf(hintStopJob, a.JobID, a.Job)
		}
		add(Trouble{What: HarnessEnded, PID: p.PID, Since: known(p.EndedAt), session: p.SessionEnded}, do)
	}
	switch k.Guardian {
	case ProcessStopped:
		add(Trouble{What: GuardianStopped, PID: k.PID}, continueProcess(k.PID))
	case ProcessEnded, NoProcess:
		do := take
		none := k.Guardian == NoProcess
		if until != nil && (p.Process == Alive || none && p.Process != Gone) && !p.Guardian && !p.Stopped {
			do = fmt.Sprintf(hintNewGuardian, m.AgentID)
		}
		add(Trouble{What: GuardianEnded, PID: k.PID, Since: known(k.Ended), none: none}, do)
	case ProcessUnseen:
		add(Trouble{What: GuardianUnseen, PID: k.PID}, fmt.Sprintf(hintNewGuardian, m.AgentID))
	}
	if p.Process != Gone && !p.Stopped {
		list = append(list, s.activityTrouble(f, m, p.PID)...)
	}
	return list
}

// cutOff is the trouble of a holder whose host is cut off from the engine. Its edit guard closes
// at Until, before other hosts count the lease as expired.
func (s *State) cutOff(f Facts) Trouble {
	l := f.lease(s)
	end := l.End(f.Now)
	t := Trouble{What: CutOff, Agent: s.Owner, Since: known(l.Proof.At.Time), Until: known(l.Proof.At.Add(l.TTL - Margin(l.TTL)))}
	if f.Now.Wall.Before(t.Until.Time) {
		t.Do = fmt.Sprintf(hintCutOff, t.Until.Format(utcClock), end.Format(utcClock))
	} else {
		t.Do = fmt.Sprintf(hintCutOffLong, end.Format(utcClock))
	}
	return t
}

// isCutOff reports whether nothing that this host knows of the turn counts before the engine answers.
func isCutOff(list []Trouble) bool { return len(list) > 0 && list[0].What == CutOff }

// activityTrouble is holderTrouble for what the holder does.
func (s *State) activityTrouble(f Facts, m *Member, pid int) []Trouble {
	a := f.activity(m.AgentID)
	t := Trouble{Agent: m.AgentID, Since: known(a.Since.Time), Do: hintTake}
	if a.What == ActivityAsks {
		t.What, t.PID, t.Do = HolderAsks, pid, fmt.Sprintf(hintAnswerAgent, m.AgentID)
		return []Trouble{t}
	}
	reason, left := s.rest(f)
	switch reason {
	case ReasonOwnerIdle:
		t.What = HolderIdle
	case ReasonOwnerLimited:
		t.What = HolderLimited
	default:
		return nil
	}
	switch {
	case left > 0:
		t.Until = known(f.Now.Wall.Add(left))
		t.Do = fmt.Sprintf(hintTakeLater, t.Until.Format(utcClock))
	case left < 0:
		t.Do = fmt.Sprintf(hintAskRelease, m.AgentID)
	}
	return []Trouble{t}
}

// freeAt returns when others may take the turn over if its holder goes on as it does: when
// it counts as gone, or when its lease ends, which counts only if nothing renews it. It is
// nil if they may already, or if that does not come by time alone.
func (s *State) freeAt(f Facts, m *Member, unguarded bool) *event.Time {
	if s.Status(f) != StateOwned {
		return nil
	}
	at := s.GoneAt(f, m.AgentID)
	if lease, _ := s.deadlines(f); unguarded && (at == nil || lease.Before(at.Time)) {
		at = lease
	}
	return at
}

// GoneAt returns when a member whose process has ended, but who may outlive it, counts as
// gone if nothing is heard of it. It is nil for every other member.
func (s *State) GoneAt(f Facts, id string) *event.Time {
	if s.UntilGone(f, id) == 0 || f.isWaiting(id) {
		return nil
	}
	return known(f.lastSeen(s.Member(id)).Add(ms(s.Policy.GoneGrace)))
}

// known returns a time, nil for the zero one.
func known(at time.Time) *event.Time {
	if at.IsZero() {
		return nil
	}
	t := event.NewTime(at)
	return &t
}
