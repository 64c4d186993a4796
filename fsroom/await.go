package fsroom

import (
	"context"
	"errors"
	"os"
	"time"
)

// A Pause says when to look again although nothing in the room has changed.
type Pause struct {
	For  time.Duration   // at the latest after this time; zero: no such moment
	Poll time.Duration   // whether the journal has changed unheard, this often at least; zero: as usual
	Exit <-chan struct{} // when this is closed; nil: no such thing
}

// A Look is told how the room is. It says whether the waiting is over, and if
// not, when to look again although no notification came.
type Look[S any] func(*Snapshot[S]) (done bool, pause Pause, err error)

// Await looks at the room, and again after every change, until look is done or
// fails or ctx ends, whose cause is then returned. It looks at least once, be ctx
// at its end already.
func (r *Room[S]) Await(ctx context.Context, look Look[S]) error {
	// The journal is the change. The state.json that follows may fail to be written.
	return r.await(ctx, look, func() *Subscription { return r.store.subscribe(r.dir, "journal.jsonl") })
}

// await subscribes before it looks a second time, so that nothing that happens
// in between is missed, and starts no watcher if the first look is enough. After
// subscribing and after each notification it lets the change under way settle: a
// notification comes before the commit, so a look at once could come too early, and
// no other notification would follow.
func (r *Room[S]) await(ctx context.Context, look Look[S], subscribe func() *Subscription) error {
	var changes *Subscription
	settled := true
	for {
		seen := r.stamp()
		snap, err := r.View()
		if err != nil {
			return err
		}
		done, pause, err := look(snap)
		if done || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if changes == nil {
			changes = subscribe()
			// Ending a watch takes the kernel milliseconds that the answer must
			// not wait for.
			defer func() { go changes.Close() }()
			settled = r.settled(ctx)
			continue
		}
		if !settled { // A writer is stuck. Its commit sends no other notification.
			pause.Poll = unsettledPoll
		}
		woken, err := changes.wait(ctx, pause)
		for err == nil && woken == byPoll && r.stamp() == seen {
			pause = pause.less(changes.slept)
			woken, err = changes.wait(ctx, pause)
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if woken == byRing || woken == byPoll && !settled {
			settled = r.settled(ctx)
		}
	}
}

// A stamp tells one state of the journal from another, for one system call.
type stamp struct {
	size  int64
	mtime int64
}

func (r *Room[S]) stamp() stamp {
	info, err := os.Lstat(r.JournalPath())
	if err != nil {
		return stamp{size: -1}
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}
}

// less is what is left of the pause after some of it.
func (p Pause) less(d time.Duration) Pause {
	if p.For > 0 {
		p.For = max(p.For-d, 1)
	}
	return p
}

// What ended a sleep.
type waking int

const (
	byRing waking = iota
	byPoll        // nothing did: it may have been missed
	byTime        // or the end of a process
)

// wait returns nil when it is time to look again, and why.
func (s *Subscription) wait(ctx context.Context, pause Pause) (waking, error) {
	d, woken := s.poll(), byPoll
	if pause.Poll > 0 {
		d = min(d, pause.Poll)
	}
	if pause.For > 0 && pause.For <= d {
		d, woken = pause.For, byTime
	}
	began := time.Now() // a process that was stopped sleeps longer than it meant to
	defer func() { s.slept = time.Since(began) }()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return byTime, context.Cause(ctx)
	case <-s.C:
		s.safety = 0
		return byRing, nil
	case <-pause.Exit:
		return byTime, nil
	case <-timer.C:
		return woken, nil
	}
}
