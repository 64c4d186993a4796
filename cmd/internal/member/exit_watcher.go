package member

import (
	"slices"

	"github.com/talking-stick/tt/identity"
)

// An exitWatcher reports the end of any of a few processes. The zero exitWatcher
// watches none.
type exitWatcher struct {
	processes []identity.Process
	stops     []func()
	exited    chan struct{}
	closed    chan struct{}
}

// C returns a channel that delivers a value when a watched process has ended.
func (w *exitWatcher) C() <-chan struct{} { return w.exited }

// watch makes processes the watched ones. One that has ended already is not reported:
// a caller that looks at the room after watch sees that.
func (w *exitWatcher) watch(processes []identity.Process) {
	if slices.Equal(processes, w.processes) {
		return
	}
	w.close()
	w.processes, w.exited, w.closed = processes, make(chan struct{}, 1), make(chan struct{})
	for _, p := range processes {
		ended, stop, err := identity.WatchExit(p)
		if err != nil {
			continue
		}
		w.stops = append(w.stops, stop)
		go report(ended, w.exited, w.closed)
	}
}

func report(ended <-chan struct{}, exited chan<- struct{}, closed <-chan struct{}) {
	select {
	case <-ended:
	case <-closed:
		return
	}
	select {
	case exited <- struct{}{}:
	default:
	}
}

func (w *exitWatcher) close() {
	if w.closed == nil {
		return
	}
	close(w.closed)
	for _, stop := range w.stops {
		stop()
	}
	*w = exitWatcher{}
}
