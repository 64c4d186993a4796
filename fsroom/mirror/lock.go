package mirror

import (
	"context"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
)

// lock takes the mirror's lock. Whoever has it may be waiting for an engine that is out of reach. So
// a process that waits for the lock asks by itself, and gives up with the engine's error. A
// server that was cut off from the others still answers reads: it is asked to store something.
func (r *mirror[S]) lock(ctx context.Context) (unlock func() error, err error) {
	ask := r.Store().Options().Ask
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	over, asked := make(chan struct{}), make(chan struct{})
	timer := time.AfterFunc(ask, func() {
		defer close(asked)
		for {
			// The question has its own time: how long the lock is waited for says nothing of the engine.
			own, cancel := context.WithTimeout(context.WithoutCancel(ctx), engine.Patience-ask+engine.Slack)
			err := r.explainEngine(r.engine.Probe(own))
			cancel()
			if fsroom.IsUnreachable(err) {
				giveUp(err)
				return
			}
			select {
			case <-over:
				return
			case <-time.After(ask):
			}
		}
	})
	unlock, err = r.Acquire(ctx)
	close(over)
	if !timer.Stop() && err == nil {
		select {
		case <-asked: // else the change would begin only now to wait for the engine
		case <-ctx.Done():
			_ = unlock()
			err = r.explainEngine(ctx.Err())
		}
	}
	if away := context.Cause(ctx); fsroom.IsUnreachable(away) {
		if err == nil {
			_ = unlock()
		}
		return nil, away
	}
	return unlock, err
}
