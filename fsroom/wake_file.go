package fsroom

import (
	"context"
	"os"
	"time"

	"github.com/talking-stick/tt/journal/event"
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
	if a.NotifyHere(); a.peers != nil {
		a.peers.Notify(a.key())
	}
}

// NotifyHere is Notify for the processes of this host.
func (a Agent) NotifyHere() { a.Touch(WakeFile, time.Now()) }

// NotifyAgents notifies the agents, and the listeners of those, that the change concerns. It comes
// before the commit and under the lock, so a writer that is killed has notified them
// or has changed nothing. They wait for the lock to be free before they inspect the room.
func (r *Files[S]) NotifyAgents(before, after S, events []event.Event) {
	if r.rules.Notify != nil {
		for _, id := range r.rules.Notify(before, after, events) {
			r.localAgent(id).Notify() // other hosts hear of the change itself
		}
	}
	if r.rules.Listeners != nil {
		for _, id := range r.rules.Listeners(before, after, events) {
			r.store.NotifyListener(id)
		}
	}
}

// A Neighbour is a room whose changes end the sleep of a wait in another one. It is a
// [Room] of any rules.
type Neighbour interface {
	Pull(ctx context.Context) (stop func())
	isCurrent() bool
	Name() string
	watch(*Store, *subscription)
	journalStamp() stamp
	Settled(context.Context) bool
}

func (r *Files[S]) watch(s *Store, sub *subscription) { s.watch(sub, r.dir, journalFile) }
