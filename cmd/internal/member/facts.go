package member

import (
	"sync"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// verdicts are what is known of processes. A process is named by its pid and its exact
// start, so a verdict does not change its meaning: who has ended does not come back, and
// who has ended since was alive when it was looked at. That makes verdicts the one part of
// the facts that is gathered before the room is locked; all other facts are read while it is.
type verdicts map[identity.Process]condition

// A condition is what is known of a process.
type condition struct {
	verdict turn.Process
	stopped bool // it is suspended, which no decision depends on
}

// condition looks at a process. One of another host is known to have ended if that was booted since.
func (r *Room) condition(p identity.Process) condition {
	switch {
	case !r.hosts.have(p):
	case r.hosts.ended(p):
		return condition{verdict: turn.Gone}
	default:
		return condition{verdict: turn.Unknown}
	}
	verdict, stopped := identity.Condition(r.Table, p)
	return condition{turn.Process(verdict), stopped}
}

// A caller is for whom facts are gathered.
type caller struct {
	id         string // the agent that runs this command, which shows that it is there; "" for none
	isGuardian bool   // a guardian asks in the agent's name: that is no sign of the agent
}

// Facts returns the circumstances of the agent's decision on the state. What is known of a
// member is looked up when it is first asked for, and once.
func (r *Room) Facts(st *turn.State) turn.Facts {
	return r.facts(st, caller{id: r.Self.ID}, make(verdicts))
}

// facts is [Room.Facts] for a caller, with verdicts to which it adds. If the caller has the turn on another
// host, what is known of it is what that host says, and if it has it in another window, what that window does.
func (r *Room) facts(st *turn.State, by caller, judged verdicts) turn.Facts {
	owner, recorded := st.Owner, r.recorded(st)
	lease, window := r.told(st, recorded), r.windowOf(st, recorded)
	if r.Elsewhere(st) != "" || window != 0 {
		by.id = ""
	}
	look := func(p identity.Process) condition {
		c, ok := judged[p]
		if !ok {
			c = r.condition(p)
			judged[p] = c
		}
		return c
	}
	presence := oncePerAgent(func(id string) turn.Presence {
		p := r.presence(id, look)
		p.OutlivesProcess = p.OutlivesProcess && (id == owner || !p.SessionEnded) // only a turn is kept for one that has ended
		// A turn that a hook has taken ends with the process that took it, and what another window has is judged by that.
		auto := st.Grant.Auto && !lease.ByHand
		if h := identity.Process(lease.Holder); id == owner && id != by.id && (auto || window != 0) && !r.hosts.have(h) {
			if p.OutlivesProcess = p.OutlivesProcess && !auto; !p.SessionEnded && h != (identity.Process{}) {
				c := look(h)
				p.Process, p.PID, p.Stopped, p.OutlivesProcess = c.verdict, h.PID, c.stopped, false
			}
		}
		if id == by.id && r.Self.Root != nil {
			p.Process, p.Stopped, p.SessionEnded = turn.Alive, false, false
		}
		// The guardian stands for an owner of which no process is known. A guardian
		// does not judge by the death of the one before it.
		guardian := guardianOf(lease)
		if id == owner && !by.isGuardian && p.Process == turn.Unknown && guardian != nil {
			c := look(*guardian)
			p = p.WithGuardian(c.verdict, guardian.PID)
			p.Stopped = c.stopped
		}
		of := turn.Lease{}
		if id == owner {
			of = lease
			if !p.SessionEnded {
				p.EndedAt = lease.Ended.At.Time
			}
		}
		if id != by.id {
			p = r.hosts.presence(st, id, p, of)
		}
		// What waits for one that is stopped, or has ended, can tell nobody.
		p.Waiting = r.IsWaiting(id) && (id == by.id || p.Process != turn.Gone && !p.Stopped)
		p.Inbox = p.Waiting && r.FS.Agent(id).Held(inboxFile)
		return p
	})
	f := turn.Facts{Now: r.Now(), Host: r.hosts.name(), Directory: r.here(), Lease: lease, Window: window}
	f.Presence = func(id string) turn.Presence {
		p := presence(id)
		if id == by.id {
			p = p.OfCaller(r.time()) // the time of this question, so that a caller is never silent
		}
		return p
	}
	hearingOf := func(id string) hearing.Agent {
		return hearing.Agent{Store: r.Store, Table: judgedTable{r.Table, look}, ID: id}
	}
	doing := oncePerAgent(func(id string) turn.Activity {
		a := hearingOf(id).Activity()
		if h := identity.Process(lease.Holder); id == owner && a.What == "" && h != (identity.Process{}) && look(h).verdict == turn.Gone {
			at := st.Grant.At // its window has ended, and in the others nothing has happened
			a = turn.Activity{What: turn.ActivityIdle, Began: at, Since: at.Wall, At: at.Wall, Source: "host"}
		}
		if a.What != "" && presence(id).Process == turn.Gone {
			a.What = turn.ActivityEnded
		}
		return a
	})
	f.Activity = oncePerAgent(func(id string) turn.Activity {
		a := r.withJob(id, doing(id))
		if id == owner {
			a = r.sinceJob(id, a)
		}
		return a
	})
	f.Hearing = oncePerAgent(func(id string) turn.Hearing { return r.hearing(st, hearingOf(id), doing(id)) })
	f.Support = sync.OnceValue(func() turn.Support { return r.support(st, lease, by) })
	return f
}

// A judgedTable is a process table whose verdicts are those of a look.
type judgedTable struct {
	identity.Table
	look func(identity.Process) condition
}

func (t judgedTable) Verdict(p identity.Process) identity.Verdict {
	return identity.Verdict(t.look(p).verdict)
}

// oncePerAgent returns look, which it calls once for each agent.
func oncePerAgent[T any](look func(id string) T) func(id string) T {
	known := make(map[string]T)
	return func(id string) T {
		v, ok := known[id]
		if !ok {
			v = look(id)
			known[id] = v
		}
		return v
	}
}

// watched returns the processes whose end changes what the agent is told while it
// waits, see [turn.State.WatchedBy]. For an owner of which no process is known, it is
// the guardian.
func (r *Room) watched(st *turn.State) (processes []identity.Process) {
	for _, id := range st.WatchedBy(r.Self.ID) {
		known := r.processRecord(id).Processes
		if g := guardianOf(r.recorded(st)); len(known) == 0 && id == st.Owner && g != nil {
			known = []identity.Process{*g}
		}
		processes = append(processes, known...)
	}
	if r.HeldByOtherWindow(st) != 0 {
		processes = append(processes, identity.Process(r.recorded(st).Holder))
	}
	return processes
}

// support returns what is known of the processes on which the turn with the lease depends.
func (r *Room) support(st *turn.State, lease turn.Lease, by caller) (k turn.Support) {
	if h := r.FS.StoppedLockHolder(); h != nil {
		k.Lock = h.PID
	}
	k.CutOff, k.Lost = r.hosts.cutOff(st, lease)
	if k.Guardian = turn.Unknown; st.Owner == "" || by.isGuardian || lease.Fence == (turn.Fence{}) {
		return k // the record was lost, or another host has it
	}
	k.Guardian, k.PID = r.guardian(st, lease)
	k.Ended = lease.Ended.At.Time
	switch {
	case k.Guardian == turn.NoProcess && r.hosts != nil: // another host may know it
		k.Guardian = turn.Unknown
	case k.Guardian == turn.Unseen: // its number would be taken for one of this pid namespace
		k.PID = 0
	}
	return k
}

// guardian returns what is known of the guardian of a lease, and its pid, 0 on another host.
func (r *Room) guardian(st *turn.State, lease turn.Lease) (turn.Process, int) {
	g := guardianOf(lease)
	if g == nil {
		return turn.NoProcess, 0
	}
	if r.hosts.have(*g) {
		return r.hosts.guardian(st, lease), 0
	}
	c, self := r.condition(*g), r.Table.Self()
	switch {
	case c.stopped:
		c.verdict = turn.Stopped
	case c.verdict == turn.Unknown && g.Host == self.Host && g.Boot == self.Boot && g.Namespace != self.Namespace:
		c.verdict = turn.Unseen
	}
	return c.verdict, g.PID
}
