package member

import (
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// Of an agent on another host there is that host's word, or silence; only the agent's host
// can prove that a process has ended. A process of another host is never looked for here:
// process numbers mean nothing there.

// intervalsHeard is for how many heartbeat intervals the last word of a host counts as a sign
// that the agent is alive.
const intervalsHeard = 2

// isElsewhere reports whether a process is one of another host.
func (r *Room) isElsewhere(p identity.Process) bool {
	return r.IsShared() && p.Host != r.Client.Store.Options().Host
}

// verdict is [Client.verdict] that also knows what other hosts have said: the processes of a
// host that has been booted since have ended.
func (r *Room) verdict(p identity.Process) turn.Process {
	if !r.isElsewhere(p) {
		return r.Client.verdict(p)
	}
	if boot := r.BootOf(p.Host); boot != "" && p.Boot != "" && boot != p.Boot {
		return turn.Gone
	}
	return turn.Unknown
}

// elsewhere adds to the presence of a member what its host says of it. l is its lease
// record if it is the owner, else nil.
func (r *Room) elsewhere(st *turn.State, id string, p turn.Presence, l *leaseRecord) turn.Presence {
	heard := r.Agent(id).Heard()
	if heard.IsZero() || id == r.Self.ID && !r.isGuardian {
		return p
	}
	p.PID = 0 // it would be taken for one of this host
	if l != nil && l.Stopped != "" && l.Guardian != nil && r.isElsewhere(*l.Guardian) && !p.Seen.After(l.StoppedAt.Time) {
		p.Process, p.OutlivesProcess, p.Guardian, p.EndedAt = turn.Gone, false, false, l.StoppedAt.Time // its host saw it
		return p
	}
	if id == st.Owner {
		if told := r.toldRenewal(st).Wall.Time; told.After(heard) {
			heard = told
		}
	}
	silent := r.time().Sub(heard)
	switch {
	case p.Process != turn.Unknown:
	case p.Waiting, silent <= intervalsHeard*st.Policy.RenewalInterval():
		p.Process = turn.Alive
	default:
		p.Silent = silent
	}
	return p
}

// guardianElsewhere returns whether the guardian of the current turn, which is one of another
// host, lives, as far as its renewals show it.
func (r *Room) guardianElsewhere(st *turn.State, l *leaseRecord) turn.Process {
	if v := r.verdict(*l.Guardian); v == turn.Gone || l.Stopped != "" {
		return turn.Gone
	}
	last := r.renewedBy(st, l)
	if last.IsZero() || r.Now().Since(last) > intervalsHeard*st.Policy.RenewalInterval() {
		return turn.Unknown
	}
	return turn.Alive
}

// OverrideWarning says, of an override that ends the turn of the owner, if that is an agent on
// another host, until when it may go on with the turn although another agent has it. It
// is "" where the turn could be ended without an override.
func (r *Room) OverrideWarning(st *turn.State) string {
	l := r.currentLease(st)
	if !r.IsShared() || st.Owner == "" || st.Owner == r.Self.ID || l != nil && l.Guardian != nil && !r.isElsewhere(*l.Guardian) {
		return ""
	}
	f := r.Facts(st)
	until := st.Room(f).LeaseExpiresAt
	if m := st.Member(st.Owner); until == nil || !f.Now.Wall.Before(until.Time) || m != nil && f.Gone(st, m) {
		return ""
	}
	return st.Owner + " is on another host and learns of this with its next command: until " + until.String() +
		" two agents may hold the stick at once; an override is the one case in which that can happen"
}
