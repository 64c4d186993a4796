package ttcmd

import (
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// The files of an agent in a room, see [fsroom.Agent].
const (
	markSeen      = "seen"           // its last command
	markWaiting   = "waiting"        // held while one of its processes waits; when it last waited
	fileProcesses = "processes.json" // the processes behind it
	fileHold      = "hold.json"      // the turn it holds
	fileCursor    = "cursor.json"    // how far it has read its messages
)

// A processRecord names the processes an agent's identity hangs on. A session
// that was resumed has had several.
type processRecord struct {
	Processes []identity.Process
	Lingers   bool
}

// maxProcesses bounds the record; the oldest go first.
const maxProcesses = 8

// facts are the circumstances of a decision on the state. What is asked of a
// member is looked up once, when it is first asked.
func (s *seat) facts(st *turn.State) turn.Facts {
	known := make(map[string]turn.Presence)
	owner, held := st.Owner, s.holdOf(st)
	f := turn.Facts{Now: now(), Presence: func(id string) turn.Presence {
		p, ok := known[id]
		if !ok {
			p = s.presence(id)
			// A guardian does not conclude from the death of the one before it.
			if id == owner && !s.proxy && p.Process == turn.Unknown && held != nil && held.Guardian != nil {
				p = p.WithGuardian(verdict(s.table, *held.Guardian), held.Guardian.PID)
			}
			if id == owner && held != nil {
				p.EndedAt = held.EndedAt.Time
			}
			known[id] = p
		}
		if id == s.me.ID && !s.proxy {
			p = p.OfCaller(time.Now()) // not the time when the decision began: a caller is never silent
		}
		return p
	}}
	if held != nil {
		f.Renewed = held.Renewed
	}
	return f
}

// renewal brings the facts about the lease up to date with the state.
func (s *seat) renewal(st *turn.State, f *turn.Facts) {
	f.Renewed = turn.Instant{}
	if held := s.holdOf(st); held != nil {
		f.Renewed = held.Renewed
	}
}

// presence is what the machine knows of one member.
func (s *seat) presence(id string) turn.Presence {
	a := s.room.Agent(id)
	p := turn.Presence{
		Seen: a.Marked(markSeen), Waited: a.Marked(markWaiting), Waiting: a.Held(markWaiting), Process: turn.Unknown,
	}
	var r processRecord
	if a.Read(fileProcesses, &r) && len(r.Processes) > 0 {
		p.Process, p.PID, p.OutlivesProcess = s.judge(r.Processes), r.Processes[len(r.Processes)-1].PID, r.Lingers
	}
	if id == s.me.ID && s.me.Root != nil {
		p.Process = turn.Alive
	}
	return p
}

// judge is what is known of all processes of one agent, see [turn.ProcessOf].
func (s *seat) judge(ps []identity.Process) turn.Process {
	verdicts := make([]turn.Process, 0, maxProcesses)
	for _, p := range ps {
		v := verdict(s.table, p)
		if v == turn.Alive {
			return v
		}
		verdicts = append(verdicts, v)
	}
	return turn.ProcessOf(verdicts)
}

func verdict(t identity.Table, p identity.Process) turn.Process {
	switch t.Verdict(p) {
	case identity.Alive:
		return turn.Alive
	case identity.Gone:
		return turn.Gone
	}
	return turn.Unknown
}

// recordProcess adds the caller's process to its record, if it is not there.
func (s *seat) recordProcess() {
	if s.me.Root == nil {
		return
	}
	var r processRecord
	s.mine().Read(fileProcesses, &r)
	if slices.Contains(r.Processes, *s.me.Root) && r.Lingers == s.me.SessionExported {
		return
	}
	r.Processes = slices.DeleteFunc(r.Processes, func(p identity.Process) bool {
		return p == *s.me.Root || s.table.Verdict(p) == identity.Gone
	})
	r.Processes = append(r.Processes, *s.me.Root)
	if n := len(r.Processes); n > maxProcesses {
		r.Processes = r.Processes[n-maxProcesses:]
	}
	r.Lingers = s.me.SessionExported
	_ = s.mine().Write(fileProcesses, &r)
}

// watched returns the processes whose end changes what the caller is told while it
// waits, see [turn.State.WatchedBy].
func (s *seat) watched(st *turn.State) (ps []identity.Process) {
	for _, id := range st.WatchedBy(s.me.ID) {
		ps = append(ps, s.processesOf(st, id)...)
	}
	return ps
}

// processesOf returns the processes that are known of a member; for an owner of
// which none is known, its guardian.
func (s *seat) processesOf(st *turn.State, id string) []identity.Process {
	var r processRecord
	if s.room.Agent(id).Read(fileProcesses, &r) && len(r.Processes) > 0 {
		return r.Processes
	}
	if held := s.holdOf(st); held != nil && held.Guardian != nil && id == st.Owner {
		return []identity.Process{*held.Guardian}
	}
	return nil
}
