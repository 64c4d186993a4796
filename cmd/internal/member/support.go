package member

import (
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// support returns what is known of the processes on which the turn with the lease depends.
func (r *Room) support(st *turn.State, lease turn.Lease, by caller) (k turn.Support) {
	guardian := guardianOf(lease)
	if h := r.FS.StoppedLockHolder(); h != nil {
		k.Lock = h.PID
	}
	k.CutOff = r.isCutOff(st, lease)
	switch {
	case st.Owner == "", by.isGuardian:
		k.Guardian = turn.ProcessUnknown
	case lease.Fence == turn.Fence{}: // the record was lost, or another host has it
		k.Guardian = turn.ProcessUnknown
	case guardian == nil:
		if k.Guardian = turn.NoProcess; r.FS.IsShared() {
			k.Guardian = turn.ProcessUnknown // another host may know it
		}
	case r.isElsewhere(*guardian):
		if k.Guardian = turn.ProcessUnknown; r.guardianElsewhere(st, lease) == turn.Gone {
			k.Guardian, k.Ended = turn.ProcessEnded, lease.Ended.At.Time
		}
	default:
		k.Guardian, k.PID, k.Ended = r.processState(*guardian), guardian.PID, lease.Ended.At.Time
		if k.Guardian == turn.ProcessUnseen {
			k.PID = 0 // it would be taken for one of this pid namespace
		}
	}
	return k
}

// isCutOff reports whether the engine has not confirmed the turn of an agent of this host, whose lease it
// is: it cannot be reached, or where nobody asked it, has not done so for longer than its guardian takes.
func (r *Room) isCutOff(st *turn.State, lease turn.Lease) bool {
	if lease.Proof.Boot == "" || lease.Proof.Boot != identity.BootID() {
		return false
	}
	if _, away := r.FS.Unreachable(); away != nil || r.Client.away != nil {
		return true
	}
	silent := identity.Uptime() - lease.Proof.Uptime
	return r.Client.Store.Options().Engine == nil && silent > intervalsHeard*lease.RenewalInterval(st.Policy)
}

// processState returns what is known of a process of this host.
func (c *Client) processState(p identity.Process) turn.ProcessState {
	verdict, stopped := identity.Condition(c.Table, p)
	self := c.Table.Self()
	switch {
	case stopped:
		return turn.ProcessStopped
	case verdict == identity.Alive:
		return turn.ProcessAlive
	case verdict == identity.Gone:
		return turn.ProcessEnded
	case p.Host == self.Host && p.Boot == self.Boot && p.Namespace != self.Namespace:
		return turn.ProcessUnseen
	}
	return turn.ProcessUnknown
}
