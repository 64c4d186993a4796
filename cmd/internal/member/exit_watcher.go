package member

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/identity"
)

// An ExitWatcher reports the end of any of a few processes. The zero ExitWatcher
// watches none.
type ExitWatcher struct {
	processes []identity.Process
	exited    chan struct{}
	stop      context.CancelFunc
}

// C returns a channel that delivers a value when a watched process has ended.
func (w *ExitWatcher) C() <-chan struct{} { return w.exited }

// Watch makes processes the watched ones.
func (w *ExitWatcher) Watch(processes []identity.Process) {
	if slices.Equal(processes, w.processes) {
		return
	}
	w.Close()
	ctx, stop := context.WithCancel(context.Background())
	*w = ExitWatcher{processes, make(chan struct{}, 1), stop}
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

func (w *ExitWatcher) Close() {
	if w.stop != nil {
		w.stop()
	}
	*w = ExitWatcher{}
}

// Processes returns the recorded processes of a member.
func (r *Room) Processes(id string) []identity.Process { return r.processRecord(id).Processes }
