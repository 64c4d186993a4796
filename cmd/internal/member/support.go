package member

import (
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// support returns what is known of the processes on which the turn of the record depends;
// lease is nil if the owner has none.
func (r *Room) support(st *turn.State, lease *leaseRecord) (k turn.Support) {
	if h := r.StoppedLockHolder(); h != nil {
		k.Lock = h.PID
	}
	switch {
	case st.Owner == "", r.isGuardian:
		k.Guardian = turn.ProcessUnknown
	case lease == nil || lease.Guardian == nil:
		if k.Guardian = turn.NoProcess; r.IsShared() {
			k.Guardian = turn.ProcessUnknown // another host may know it
		}
	case r.isElsewhere(*lease.Guardian):
		if k.Guardian = turn.ProcessUnknown; r.guardianElsewhere(st, lease) == turn.Gone {
			k.Guardian, k.Ended = turn.ProcessEnded, lease.StoppedAt.Time
		}
	default:
		k.Guardian, k.PID, k.Ended = r.processState(*lease.Guardian), lease.Guardian.PID, lease.StoppedAt.Time
		if k.Guardian == turn.ProcessUnseen {
			k.PID = 0 // it would be taken for one of this pid namespace
		}
	}
	return k
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
