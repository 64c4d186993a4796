package fsroom

import (
	"context"
	"os"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// Setting the time of one of these marks wakes who waits as the agent.
const (
	markBell = "bell" // to look
	markNext = "next" // to look, and to expect the turn
)

// HangBells makes the marks that wake. Whoever waits as the agent sees to it
// first.
func (a Agent) HangBells() error {
	for _, name := range []string{markBell, markNext} {
		if _, err := os.Lstat(a.path(name)); err == nil {
			continue
		}
		if err := a.Mark(name, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// Ring wakes everybody who waits as the agent, see [Room.AwaitAs]. Where nobody
// ever did, there is no bell and nothing happens.
func (a Agent) Ring() { a.ring(markBell) }

func (a Agent) ring(name string) {
	if a.planted == nil {
		_ = touch(a.path(name), time.Now())
	}
}

// AwaitAs is [Room.Await] for one who needs to look only when the rules wake its
// agent, or when somebody rings for it: of hundreds who wait, a change that
// concerns one wakes one. Where the rules wake nobody it is Await.
//
// next is called when a change is being committed that makes the agent the next:
// what is started then is ready when the look comes. The change may still fail.
func (r *Room[S]) AwaitAs(ctx context.Context, agent string, look Look[S], next func()) error {
	if r.rules.Wakes == nil {
		return r.Await(ctx, look)
	}
	return r.await(ctx, look, func() *Subscription {
		return r.store.subscribe(r.Agent(agent).dir, markBell, markNext)
	}, func(ctx context.Context, heard string) {
		if heard == markNext {
			next()
		}
		r.settled(ctx)
	})
}

// wake rings for those whom the change from before to after concerns. It comes
// before the commit and under the lock, so a writer that is killed has told them
// or changed nothing; they wait until the lock is free before they look.
func (r *Room[S]) wake(before, after *S) {
	if r.rules.Wakes == nil {
		return
	}
	look, next := r.rules.Wakes(before, after)
	if next != "" {
		r.Agent(next).ring(markNext)
	}
	for _, id := range look {
		r.Agent(id).Ring()
	}
}

// settlePatience bounds how long who was rung waits for a writer to finish. One
// that takes longer is stuck, and the look that follows is as good as any.
const settlePatience = time.Second

// settled returns when the change that somebody was rung for is over.
func (r *Room[S]) settled(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settlePatience)
	defer cancel()
	_ = lockfile.Settled(ctx, r.lockPath())
}
