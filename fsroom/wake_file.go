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
func (a Agent) EnsureWakeFile() error { return a.ensureMark(WakeFile) }

func (a Agent) ensureMark(name string) error {
	if info, err := os.Lstat(a.Path(name)); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return a.Mark(name, time.Now())
}

// Notify wakes all processes that wait as the agent, see [Room.AwaitAs]. It does
// nothing if the agent has no wake file.
func (a Agent) Notify() {
	if a.NotifyHere(); a.peers != nil {
		a.peers.Notify(a.key())
	}
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
	return r.AwaitBoth(ctx, agent, noNeighbour, inspect)
}

// AwaitBoth is [Room.AwaitAs] that also inspects the room when its neighbour changes. neighbour returns nil
// as long as there is none, and may return another one later.
func (r *Room[S]) AwaitBoth(ctx context.Context, agent string, neighbour func() Neighbour, inspect Inspect[S]) error {
	if r.rules.Notify == nil {
		return r.AwaitBeside(ctx, neighbour, inspect)
	}
	return r.await(ctx, inspect, func() *subscription { return r.store.subscribe(r.Agent(agent).Path(WakeFile)) }, neighbour)
}

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

func (r *Files[S]) watch(s *Store, sub *subscription) { s.watch(sub, r.dir, "journal.jsonl") }

// AwaitBeside is [Room.Await] that also inspects the room when its neighbour changes, see
// [Room.AwaitBoth].
func (r *Room[S]) AwaitBeside(ctx context.Context, neighbour func() Neighbour, inspect Inspect[S]) error {
	// A change is in the journal. The state.json that follows may fail to be written.
	return r.await(ctx, inspect, func() *subscription { return r.store.subscribe(r.dir, "journal.jsonl") }, neighbour)
}
