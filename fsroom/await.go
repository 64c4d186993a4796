package fsroom

import (
	"context"
	"time"
)

// A Pause says when to look again although nothing in the room has changed.
type Pause struct {
	For  time.Duration   // at the latest after this time; zero: no such moment
	Exit <-chan struct{} // when this is closed; nil: no such thing
}

// Await looks at the room, and again after every change, until look is done or
// fails or ctx ends, whose cause is then returned. It looks at least once, be ctx
// at its end already.
//
// It watches before it looks a second time, so that nothing that happens in
// between is missed, and starts no watcher if the first look is enough.
func (r *Room[S]) Await(ctx context.Context, look func(*Snapshot[S]) (done bool, pause Pause, err error)) error {
	var bell *Subscription
	for {
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
		if bell == nil {
			bell = r.store.subscribe(r.dir, "state.json")
			// Ending a watch takes the kernel milliseconds that the answer must
			// not wait for.
			defer func() { go bell.Close() }()
			continue
		}
		if err := bell.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// wait returns nil when it is time to look again.
func (s *Subscription) wait(ctx context.Context, pause Pause) error {
	d := s.poll()
	if pause.For > 0 && pause.For < d {
		d = pause.For
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.C:
	case <-pause.Exit:
	case <-timer.C:
	}
	return nil
}
