package turn

import (
	"cmp"
	"fmt"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A Trouble is one thing that is wrong with the holder of the turn.
type Trouble struct {
	What  string      `json:"what"`           // one of the constants beside ground
	PID   int         `json:"pid,omitempty"`  // of the process; 0: not known
	Since *event.Time `json:"since,omitzero"` // nil: not known
	Until *event.Time `json:"until,omitzero"` // when others may take the turn over; nil: not by time, or they may already
	Do    string      `json:"do"`             // the one next step
	Agent string      // the holder; not part of the JSON
	row   string      // of grounds; "": What
	auto  bool        // a hook has taken the turn, so that it is released at Until
}

func (t *Trouble) ground() ground { return grounds[cmp.Or(t.row, t.What)] }

// Short says in a word what is wrong.
func (t *Trouble) Short() string { return t.ground().short }

// Fact says in words what is wrong.
func (t *Trouble) Fact() string {
	since := ""
	if t.Since != nil {
		since = t.Since.Format(utcClock)
	}
	return fill(t.ground().fact, t.Agent, t.PID, "{since}", since)
}

// Sentence is [Trouble.Fact] with what follows from it.
func (t *Trouble) Sentence() string {
	if t.Until != nil && t.What != CutOff && !t.auto {
		return t.Fact() + "; others may take the turn from " + t.Until.Format(utcClock) + " on"
	}
	if then := t.ground().then; then != "" {
		return t.Fact() + ": " + then
	}
	return t.Fact()
}

// Support is what the machine knows of the processes on which the turn in progress
// depends, besides [Presence].
type Support struct {
	Guardian Process   // the process that renews the lease
	PID      int       // of the guardian; 0: not known
	Ended    time.Time // when the guardian ended; zero: not known
	Lock     int       // a stopped process that has the lock of the room; 0: none
	Lost     bool      // with CutOff: the engine has lost the turn, so the edit guard is closed
	CutOff   bool      // this host is the holder's and cannot have its turn confirmed, see [Proof]
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
		list = append(list, Trouble{What: LockStopped, PID: k.Lock}.with(""))
	}
	return list
}

// holderTrouble is Trouble for the processes of the holder: of its harness first.
func (s *State) holderTrouble(f Facts, m *Member, k Support) (list []Trouble) {
	p := f.presence(m.AgentID)
	unguarded := k.Guardian != Alive && k.Guardian != Unknown
	until := s.freeAt(f, m, unguarded)
	add := func(t Trouble, do string) {
		if t.Agent = m.AgentID; t.What != HarnessStopped || unguarded {
			t.Until = until
		}
		list = append(list, t.with(do))
	}
	if k.CutOff {
		list = append(list, s.cutOff(f, k.Lost))
	}
	switch {
	case p.Guardian, p.Process != Gone && !p.Stopped, f.isWaiting(m.AgentID): // its harness lives, or is not known
	case p.Stopped:
		add(Trouble{What: HarnessStopped, PID: p.PID}, "")
	case p.Process == Gone:
		do := ""
		if a := f.activity(m.AgentID); a.Job != "" && s.isAuto(f, m.AgentID) {
			do = fmt.Sprintf(hintStopJob, a.JobID, a.Job)
		}
		add(ended(m.AgentID, p), do)
	}
	switch k.Guardian {
	case Stopped:
		add(Trouble{What: GuardianStopped, PID: k.PID}, "")
	case Gone, NoProcess:
		t, do := Trouble{What: GuardianEnded, PID: k.PID, Since: known(k.Ended)}, ""
		if k.Guardian == NoProcess {
			t.row = noGuardian
		}
		if until != nil && (p.Process == Alive || t.row != "" && p.Process != Gone) && !p.Guardian && !p.Stopped {
			do = hintNewGuardian
		}
		add(t, do)
	case Unseen:
		add(Trouble{What: GuardianUnseen, PID: k.PID}, "")
	}
	if p.Process != Gone && !p.Stopped {
		list = append(list, s.activityTrouble(f, m, p.PID)...)
	}
	return list
}

// cutOff is the trouble of a holder whose host is cut off from the engine. Its edit guard closes
// at Until, before other hosts count the lease as expired; it is closed if the engine has lost the turn.
func (s *State) cutOff(f Facts, lost bool) Trouble {
	l := f.lease(s)
	end := l.End(f.Now)
	t := Trouble{What: CutOff, Agent: s.Owner, Since: known(l.Proof.At.Time), Until: known(l.Proof.At.Add(l.TTL - Margin(l.TTL)))}
	if lost {
		t.Until = t.Since
	}
	if f.Now.Wall.Before(t.Until.Time) {
		t.Do = fmt.Sprintf(hintCutOff, t.Until.Format(utcClock), end.Format(utcClock))
	} else {
		t.Do = fmt.Sprintf(hintCutOffLong, end.Format(utcClock))
	}
	return t
}

// IsCutOff reports whether nothing that this host knows of the turn counts before the engine answers.
func IsCutOff(list []Trouble) bool { return len(list) > 0 && list[0].What == CutOff }

// with returns the trouble with the next step in words, "": that of its ground.
func (t Trouble) with(do string) Trouble {
	take := hintTake
	if t.Until != nil {
		take = fmt.Sprintf(hintTakeLater, t.Until.Format(utcClock))
	}
	t.Do = fill(cmp.Or(do, t.ground().do), t.Agent, t.PID, "{take}", take)
	return t
}

// ended is the trouble with an agent whose process or session has ended, or the guardian that stands for it.
func ended(who string, p Presence) Trouble {
	t := Trouble{What: HarnessEnded, Agent: who, PID: p.PID, Since: known(p.EndedAt)}
	switch {
	case p.Guardian && p.PID != 0:
		t.What = GuardianEnded
	case p.SessionEnded:
		t.row = sessionEnded
	}
	return t
}

// activityTrouble is holderTrouble for what the holder does.
func (s *State) activityTrouble(f Facts, m *Member, pid int) []Trouble {
	t := Trouble{Agent: m.AgentID, Since: known(f.activity(m.AgentID).Since.Time)}
	if f.activity(m.AgentID).What == ActivityAsks {
		t.What, t.PID = HolderAsks, pid
		return []Trouble{t.with("")}
	}
	reason, left := s.rest(f)
	if reason == "" {
		return nil
	}
	t.What, t.row = grounds[reason].short, reason
	do := ""
	switch {
	case left > 0:
		if t.Until, t.auto = known(f.Now.Wall.Add(left)), reason == ReasonOwnerIdle && s.isAuto(f, m.AgentID); t.auto {
			do = fmt.Sprintf(hintReleasedAt, t.Until.Format(utcClock))
		}
	case left < 0:
		do = hintAskRelease
	}
	return []Trouble{t.with(do)}
}

// freeAt returns when others may take the turn over if its holder goes on as it does: when
// it counts as gone, when its model has rested for too long, or when its lease ends, which counts only if nothing
// renews it. It is nil if they may already, or if that does not come by time alone.
func (s *State) freeAt(f Facts, m *Member, unguarded bool) *event.Time {
	if s.takeoverReason(f) != "" {
		return nil
	}
	at := s.GoneAt(f, m.AgentID)
	if _, left := s.rest(f); left > 0 && at == nil {
		at = known(f.Now.Wall.Add(left))
	}
	if lease, _ := s.deadlines(f); unguarded && (at == nil || lease.Before(at.Time)) {
		at = lease
	}
	return at
}

// GoneAt returns when a member whose process has ended, but who may outlive it, counts as
// gone if nothing is heard of it. It is nil for every other member.
func (s *State) GoneAt(f Facts, id string) *event.Time {
	if s.UntilGone(f, id) == 0 {
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
