package fsroom

import (
	"context"
	"os"
	"time"

	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// WakeFile is the file of an agent whose modification time is set to wake the
// processes that wait as the agent.
const WakeFile = "bell"

// EnsureWakeFile creates the file that [Agent.Notify] touches. A process does so
// before it waits as the agent.
func (a Agent) EnsureWakeFile() error {
	if info, err := os.Lstat(a.Path(WakeFile)); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return a.Mark(WakeFile, time.Now())
}

// Notify wakes all processes that wait as the agent, see [Room.AwaitAs]. It does
// nothing if the agent has no wake file.
func (a Agent) Notify() {
	a.NotifyHere()
	a.peers.Notify(a.key())
}

// NotifyHere is Notify for the processes of this host.
func (a Agent) NotifyHere() {
	if a.unusable == nil {
		_ = lockfile.Touch(a.Path(WakeFile), time.Now())
	}
}

// AwaitAs is [Room.Await] for a process that needs to inspect the room only when the rules
// notify its agent, or when a process calls [Agent.Notify] for it. So a change that
// concerns one of hundreds of waiting agents wakes only that one. If the rules have no
// Notify, AwaitAs is Await.
func (r *Room[S]) AwaitAs(ctx context.Context, agent string, inspect Inspect[S]) error {
	if r.rules.Notify == nil {
		return r.Await(ctx, inspect)
	}
	return r.await(ctx, inspect, func() *subscription {
		return r.store.subscribe(r.Agent(agent).Path(WakeFile))
	}, noNeighbour)
}

// NotifyAgents notifies the agents, and the listeners of those, that the change concerns. It comes
// before the commit and under the lock, so a writer that is killed has notified them
// or has changed nothing. They wait for the lock to be free before they inspect the room.
func (r *Files[S]) NotifyAgents(before, after S, events []event.Event) {
	if r.rules.Notify != nil {
		for _, id := range r.rules.Notify(before, after) {
			r.localAgent(id).Notify() // other hosts hear of the change itself
		}
	}
	if r.rules.Listeners != nil {
		for _, id := range r.rules.Listeners(before, after, events) {
			r.store.NotifyListener(id)
		}
	}
}
