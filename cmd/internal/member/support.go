package member

import (
	"github.com/talking-stick/tt/fsroom/turn"
)

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
