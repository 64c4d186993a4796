package fsroom

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// wakeFile is the file of an agent whose modification time is set to wake the
// processes that wait as the agent.
const wakeFile = "bell"

// EnsureWakeFile creates the file that [Agent.Notify] touches. A process does so
// before it waits as the agent.
func (a Agent) EnsureWakeFile() error {
	if info, err := os.Lstat(a.path(wakeFile)); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return a.Mark(wakeFile, time.Now())
}

// Notify wakes all processes that wait as the agent, see [Room.AwaitAs]. It does
// nothing if the agent has no wake file.
func (a Agent) Notify() {
	if a.planted == nil {
		_ = lockfile.Touch(a.path(wakeFile), time.Now())
	}
}

// AwaitAs is [Room.Await] for a process that needs to look only when the rules wake
// its agent, or when a process calls [Agent.Notify] for it. So a change that
// concerns one of hundreds of waiting agents wakes only that one. If the rules have
// no Notify, AwaitAs is Await.
func (r *Room[S]) AwaitAs(ctx context.Context, agent string, look Look[S]) error {
	if r.rules.Notify == nil {
		return r.Await(ctx, look)
	}
	return r.await(ctx, look, func() *Subscription {
		return r.store.subscribe(r.Agent(agent).path(wakeFile))
	})
}

// wake notifies the agents that the change from before to after concerns. It comes
// before the commit and under the lock, so a writer that is killed has notified them
// or has changed nothing. They wait for the lock to be free before they look.
func (r *Room[S]) wake(before, after S) {
	if r.rules.Notify == nil {
		return
	}
	for _, id := range r.rules.Notify(before, after) {
		r.Agent(id).Notify()
	}
}

// unsettledPoll is how often a waiter looks whether the journal has changed while a
// writer takes longer than anybody waits for its lock.
const unsettledPoll = 200 * time.Millisecond

// settled returns true when the change that was under way is over, and false if
// that takes too long.
func (r *Room[S]) settled(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, r.store.opts.Patience)
	defer cancel()
	var busy *lockfile.BusyError
	return !errors.As(lockfile.Settled(ctx, r.LockPath()), &busy)
}
