package member

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// EndSession records that the agent's session has ended, while its process may go on: the agent is
// gone until a prompt or a command of it. If quits is set the process ends, too, and a turn that the
// agent has is kept for it within the grace. It wakes what waits for the agent, the guardian of its turn and who waits for that.
func (c *Client) EndSession(quits bool) error {
	err := c.Hearing().SetEnded(hearing.Ending{At: event.NewTime(c.time()), Quits: quits, Process: c.Self.Root})
	for _, r := range c.RoomsHeard() {
		r.own().NotifyHere()
		if snap, err := r.FS.Known(); err == nil && snap.State.Owner == c.Self.ID {
			r.notify(snap.State, fsroom.Agent.Notify)
		}
	}
	return err
}

// LeaveWindow records that the agent's session is open in this process no more, if that goes on or the session is open in
// another one, as far as is known. It reports whether it is. quits says that the process ends.
func (c *Client) LeaveWindow(quits bool) (others bool) {
	for _, r := range c.RoomsHeard() {
		var record processRecord
		_ = r.own().Change(processesFile, &record, func() {
			beside := c.isOpenBeside(record.Processes, c.Self.Root)
			switch others = others || beside; {
			case !beside: // what another window wants it wants after its process is recorded
				r.unwant(c.Self.ID)
			case r.Called(): // the other window may be the one that wants the turn
				_ = r.own().Remove(calledFile)
				c.Store.NotifyListener(c.Self.ID)
			}
			if c.Self.Root != nil && (beside || !quits || record.Lingers) { // else it is gone with its process
				record.Processes = slices.DeleteFunc(record.Processes, func(p identity.Process) bool { return p == *c.Self.Root })
			}
		})
	}
	return others
}

// isOpenBeside reports whether one of the processes of a session lives, and is another one than p.
func (c *Client) isOpenBeside(processes []identity.Process, p *identity.Process) bool {
	return p != nil && slices.ContainsFunc(processes, func(q identity.Process) bool {
		return c.isAlive(&q) && !identity.Related(c.Table, q, *p)
	})
}

// HoldsIn reports whether a process of the agent's session has taken a turn that the agent has.
func (c *Client) HoldsIn(p *identity.Process) bool {
	return p != nil && slices.ContainsFunc(c.RoomsHeard(), func(r *Room) bool {
		snap, err := r.FS.Known()
		return err == nil && snap.State.Owner == c.Self.ID && identity.Process(r.recorded(snap.State).Holder) == *p
	})
}

// IsBesideHolder reports whether what was noted last of the agent is of another window, which goes on and has a turn, as this one has not.
func (c *Client) IsBesideHolder() bool {
	by := c.Hearing().NotedIn()
	return by != nil && c.Self.Root != nil && *by != *c.Self.Root && c.Table.Verdict(*by) != identity.Gone &&
		c.HoldsIn(by) && !c.HoldsIn(c.Self.Root)
}

// SessionsBefore returns the other agents of the harness whose session was open in the process of
// the agent last, as members of a room or among the ids of others, and not known to have ended
// while that goes on. One that is open in another process, too, is not among them. late reports whether one of them
// began after this process: the harness has ended the agent's session meanwhile.
func (c *Client) SessionsBefore(others []string) (before []identity.Agent, late bool) {
	root := c.Self.Root
	if root == nil {
		return nil, false
	}
	self := c.Table.Self()
	before = c.sessions(others, func(l hearing.Listener, processes []identity.Process) bool {
		return slices.Contains(processes, *root) && !c.isOpenBeside(processes, root)
	})
	for _, agent := range before {
		l := c.HearingOf(agent.ID).Listener()
		late = late || l.BegunAfter(self, *root)
	}
	return before, late
}

// SessionsBeside returns the other agents of the harness, as SessionsBefore, whose session has no process of
// its own, and for which isOpen reports true.
func (c *Client) SessionsBeside(others []string, isOpen func(session string) bool) []identity.Agent {
	return c.sessions(others, func(l hearing.Listener, processes []identity.Process) bool {
		return len(processes) == 0 && l.Session != "" && isOpen(l.Session)
	})
}

// sessions returns those of the other agents of the harness, members of a room or among the ids of others, for which is
// reports true and whose session is not known to have ended while its process goes on.
func (c *Client) sessions(others []string, is func(hearing.Listener, []identity.Process) bool) (found []identity.Agent) {
	add := func(id string, processes []identity.Process) {
		isFound := slices.ContainsFunc(found, func(a identity.Agent) bool { return a.ID == id })
		if isFound || id == c.Self.ID || !strings.HasPrefix(id, c.Self.Harness+":") {
			return
		}
		l := c.HearingOf(id).Listener()
		if processes == nil && l.Process != nil {
			processes = []identity.Process{*l.Process}
		}
		e, ended := c.HearingOf(id).Ended()
		if ended && e.Process != nil && len(processes) == 0 {
			processes = []identity.Process{*e.Process}
		}
		if !(ended && !e.Quits) && is(l, processes) {
			agent := c.Self
			agent.ID = id
			found = append(found, agent)
		}
	}
	for _, id := range others {
		add(id, nil)
	}
	names, _ := c.Offline().Rooms()
	for _, name := range names {
		r := c.Offline().Room(name, nil)
		if snap, err := r.FS.View(); err == nil {
			for _, m := range snap.State.Members {
				add(m.AgentID, append([]identity.Process{}, r.processRecord(m.AgentID).Processes...))
			}
		}
	}
	return found
}
