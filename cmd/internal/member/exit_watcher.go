package member

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/identity"
)

// An exitWatcher reports the end of any of a few processes. The zero exitWatcher
// watches none.
type exitWatcher struct {
	processes []identity.Process
	exited    chan struct{}
	stop      context.CancelFunc
}

// C returns a channel that delivers a value when a watched process has ended.
func (w *exitWatcher) C() <-chan struct{} { return w.exited }

// watch makes processes the watched ones.
func (w *exitWatcher) watch(processes []identity.Process) {
	if slices.Equal(processes, w.processes) {
		return
	}
	w.close()
	ctx, stop := context.WithCancel(context.Background())
	*w = exitWatcher{processes, make(chan struct{}, 1), stop}
	for _, p := range processes {
		if ended, release, err := identity.WatchExit(p); err == nil {
			go report(ctx, ended, release, w.exited)
		}
	}
}

func report(ctx context.Context, ended <-chan struct{}, release func(), exited chan<- struct{}) {
	defer release()
	select {
	case <-ctx.Done():
		return
	case <-ended:
	}
	select {
	case exited <- struct{}{}:
	default: // another end is reported already
	}
}

func (w *exitWatcher) close() {
	if w.stop != nil {
		w.stop()
	}
	*w = exitWatcher{}
}
