package fsroom

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// markBell is the mark whose time is set to wake who waits as its agent.
const markBell = "bell"

// HangBell makes the bell that [Agent.Ring] rings. Whoever waits as the agent sees
// to it first.
func (a Agent) HangBell() error {
	if info, err := os.Lstat(a.path(markBell)); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return a.Mark(markBell, time.Now())
}

// Ring wakes everybody who waits as the agent, see [Room.AwaitAs]. Where nobody
// ever did, there is no bell and nothing happens.
func (a Agent) Ring() {
	if a.planted == nil {
		_ = touch(a.path(markBell), time.Now())
	}
}

// AwaitAs is [Room.Await] for one who needs to look only when the rules wake its
// agent, or when somebody rings for it: of hundreds who wait, a change that
// concerns one wakes one. Where the rules wake nobody it is Await.
func (r *Room[S]) AwaitAs(ctx context.Context, agent string, look Look[S]) error {
	if r.rules.Wakes == nil {
		return r.Await(ctx, look)
	}
	return r.await(ctx, look, func() *Subscription {
		return r.store.subscribe(r.Agent(agent).path(markBell))
	})
}

// wake rings for those whom the change from before to after concerns. It comes
// before the commit and under the lock, so a writer that is killed has told them
// or changed nothing; they wait until the lock is free before they look.
func (r *Room[S]) wake(before, after *S) {
	if r.rules.Wakes == nil {
		return
	}
	for _, id := range r.rules.Wakes(before, after) {
		r.Agent(id).Ring()
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
	return !errors.As(lockfile.Settled(ctx, r.lockPath()), &busy)
}
