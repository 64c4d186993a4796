package member

import (
	"sync"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// Facts returns the circumstances of a decision on the state. What is known of a
// member is looked up when it is first asked for, and once.
func (r *Room) Facts(st *turn.State) turn.Facts {
	known := make(map[string]turn.Presence)
	owner, lease := st.Owner, r.currentLease(st)
	f := turn.Facts{Now: r.Now(), Presence: func(id string) turn.Presence {
		p, ok := known[id]
		if !ok {
			p = r.presence(id)
			// The guardian stands for an owner of which no process is known. A new
			// guardian does not judge by the death of the one before it.
			if id == owner && !r.isGuardian && p.Process == turn.Unknown && lease != nil && lease.Guardian != nil {
				p = p.WithGuardian(r.verdict(*lease.Guardian), lease.Guardian.PID)
				p.Stopped = r.processState(*lease.Guardian) == turn.ProcessStopped
			}
			if id == owner && lease != nil {
				p.EndedAt = lease.StoppedAt.Time
			}
			if r.IsShared() {
				l := lease
				if id != owner {
					l = nil
				}
				p = r.elsewhere(st, id, p, l)
			}
			known[id] = p
		}
		if id == r.Self.ID && !r.isGuardian {
			p = p.OfCaller(r.time()) // the time of this question, so that a caller is never silent
		}
		return p
	}}
	f.Waiting = func(id string) (waiting, inbox bool) {
		if p, ok := known[id]; ok {
			return p.Waiting, p.Inbox
		}
		waiting = r.IsWaiting(id)
		return waiting, waiting && r.Agent(id).Held(inboxFile)
	}
	heard := make(map[string]turn.Hearing)
	f.Hearing = func(id string) turn.Hearing {
		h, ok := heard[id]
		if !ok {
			h = r.hearing(st, id)
			heard[id] = h
		}
		return h
	}
	f.Renewed = r.renewedBy(st, lease)
	f.Support = sync.OnceValue(func() turn.Support { return r.support(st, lease) })
	return f
}

// renewed returns when the current lease was last renewed.
func (r *Room) renewed(st *turn.State) turn.Instant {
	return r.renewedBy(st, r.currentLease(st))
}

func (r *Room) renewedBy(st *turn.State, lease *leaseRecord) (at turn.Instant) {
	if lease != nil {
		at = lease.Renewed
	}
	if told := r.toldRenewal(st); told.Since(at) > 0 {
		at = told
	}
	return at
}

// watched returns the processes whose end changes what the agent is told while it
// waits, see [turn.State.WatchedBy]. For an owner of which no process is known, it is
// the guardian.
func (r *Room) watched(st *turn.State) (processes []identity.Process) {
	for _, id := range st.WatchedBy(r.Self.ID) {
		known := r.processRecord(id).Processes
		if l := r.currentLease(st); len(known) == 0 && id == st.Owner && l != nil && l.Guardian != nil {
			known = []identity.Process{*l.Guardian}
		}
		processes = append(processes, known...)
	}
	return processes
}
