package fsroom

import (
	"context"
	"errors"
	"os"
	"time"
)

// A Sleep tells when a wait ends its sleep although nothing in the room has changed.
// All fields may be zero.
type Sleep struct {
	For  time.Duration   // at most this long
	Poll time.Duration   // how often to check, at least, whether the journal has changed unnoticed
	Exit <-chan struct{} // until this is closed
}

// An Inspect function is given the room as it is now. It returns whether the wait is over,
// and if not, how long to sleep until the next inspection unless the room changes.
type Inspect[S any] func(*Snapshot[S]) (done bool, sleep Sleep, err error)

// Await calls inspect with the room as it is, and again after every change, until
// inspect returns done or an error. If ctx ends first, Await returns the cause. It calls
// inspect at least once, also if ctx has ended.
//
// While an engine cannot be reached, Await waits until it can, or ctx ends. If it could
// not inspect the room at all, the error says why.
func (r *Room[S]) Await(ctx context.Context, inspect Inspect[S]) error {
	return r.AwaitBoth(ctx, "", nil, inspect)
}

// AwaitAs is [Room.Await] for a process that needs to inspect the room only when the rules
// notify its agent, or when a process calls [Agent.Notify] for it. So a change that
// concerns one of hundreds of waiting agents wakes only that one. If the rules have no
// Notify, AwaitAs is Await.
func (r *Room[S]) AwaitAs(ctx context.Context, agent string, inspect Inspect[S]) error {
	return r.AwaitBoth(ctx, agent, nil, inspect)
}

// AwaitBoth is [Room.AwaitAs], or Await without an agent, that also inspects the room when its neighbour changes. neighbour
// may be nil, returns nil as long as there is none, and may return another one later.
//
// It subscribes before the second inspection, so that no change in between is
// missed, and starts no watcher if the first inspection is enough. After subscribing
// and after each notification it waits for the change under way to end: notifications
// come before the commit, so an inspection at once could come too early, and nothing
// would follow.
func (r *Room[S]) AwaitBoth(ctx context.Context, agent string, neighbour func() Neighbour, inspect Inspect[S]) error {
	var sub *subscription
	var watched Neighbour // nil: none is watched yet
	stopPulling := func() {}
	defer func() { stopPulling() }()
	stamps := func() (s [2]stamp) {
		s[0] = r.journalStamp()
		if watched != nil {
			s[1] = watched.journalStamp()
		}
		return s
	}
	settle := func() bool { return r.Settled(ctx) && (watched == nil || watched.Settled(ctx)) }
	settled := true
	var away error // why the room could not be inspected yet
	for {
		seen, looked := stamps(), time.Now()
		snap, err := r.View()
		var done bool
		var sleep Sleep
		switch {
		case err == nil:
			away = nil
			done, sleep, err = inspect(snap)
		case IsUnreachable(err):
			if sub == nil {
				away = err
			}
			sleep, err = Sleep{For: unreachablePoll}, nil // until it is back, or the wait is over
		}
		if done || err != nil {
			return err
		}
		if ctx.Err() != nil && away != nil {
			return away
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if sub == nil {
			if agent != "" && r.rules.Notify != nil {
				sub = r.store.subscribe(r.Agent(agent).Path(WakeFile))
			} else { // a change is in the journal; the state.json that follows may fail to be written
				sub = r.store.subscribe(r.dir, journalFile)
			}
			defer r.Pull(ctx)()
			// To close a watch takes the kernel milliseconds, which the answer must
			// not wait for.
			defer func() { go sub.stop() }()
			settled = settle()
			continue
		}
		next := watched
		if neighbour != nil {
			next = neighbour()
		}
		if next != nil && (watched == nil || watched.Name() != next.Name()) {
			watched = next
			stopPulling()
			stopPulling = watched.Pull(ctx)
			watched.watch(r.store, sub)
			settled = settle()
			continue
		}
		if !settled { // A writer is stuck. When it commits at last, no notification follows.
			sleep.Poll = unsettledPoll
		}
		reason, err := sub.wait(ctx, sleep)
		for err == nil && reason == polled && (r.shared == nil || time.Since(looked) < recordsPoll) && r.isCurrent() &&
			(watched == nil || watched.isCurrent()) && stamps() == seen {
			if sleep.For > 0 {
				sleep.For = max(sleep.For-sub.slept, 1)
			}
			reason, err = sub.wait(ctx, sleep)
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if reason == notified || reason == polled && !settled {
			settled = settle()
		}
	}
}

// A stamp is the size and the time of the journal: one system call tells whether the
// journal has changed.
type stamp struct {
	size  int64
	mtime int64
}

func (r *Files[S]) journalStamp() stamp {
	info, err := os.Lstat(r.JournalPath())
	if err != nil {
		return stamp{size: -1}
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}
}

// unsettledPoll is how often a waiter checks whether the journal has changed while a
// writer has the lock for longer than a waiter waits for it.
const unsettledPoll = 200 * time.Millisecond

// recordsPoll is how often a wait looks at a room that hosts share, though its journal has not
// changed: what another host says of its agents and processes is in no journal.
const recordsPoll = 30 * time.Second

// unreachablePoll is how often a wait asks for an engine that cannot be reached.
const unreachablePoll = time.Second

// A wakeReason is what ended a sleep.
type wakeReason int

const (
	notified wakeReason = iota
	polled              // it is time to check for changes that went unnoticed
	ended               // Sleep.For or Sleep.Exit, or the context
)

// wait sleeps until there is a reason to inspect the room again. The error is the cause of
// ctx's end.
func (s *subscription) wait(ctx context.Context, sleep Sleep) (wakeReason, error) {
	d, reason := s.poll(), polled
	if sleep.Poll > 0 {
		d = min(d, sleep.Poll)
	}
	if sleep.For > 0 && sleep.For <= d {
		d, reason = sleep.For, ended
	}
	began := time.Now() // a process that is stopped sleeps longer than it was to
	defer func() { s.slept = time.Since(began) }()
	if s.sleep != nil {
		changed := s.sleep(ctx, sleep.For)
		if ctx.Err() != nil {
			return ended, context.Cause(ctx)
		}
		if changed {
			return notified, nil
		}
		return ended, nil
	}
	select {
	case <-ctx.Done():
		return ended, context.Cause(ctx)
	case <-s.c:
		s.safety = 0
		return notified, nil
	case <-sleep.Exit:
		return ended, nil
	case <-time.After(d):
		return reason, nil
	}
}
