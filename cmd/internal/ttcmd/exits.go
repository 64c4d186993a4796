package ttcmd

import (
	"slices"

	"github.com/talking-stick/tt/identity"
)

// exits wakes a wait when one of a few processes ends.
type exits struct {
	processes []identity.Process
	stops     []func()
	rang      chan struct{}
	closed    chan struct{}
}

// any is ready to receive from when a watched process has ended.
func (e *exits) any() <-chan struct{} { return e.rang }

// watch makes ps the watched processes. A process that has ended already is not
// news: the pass that follows has seen it.
func (e *exits) watch(ps []identity.Process) {
	if slices.Equal(ps, e.processes) {
		return
	}
	e.close()
	e.processes, e.rang, e.closed = ps, make(chan struct{}, 1), make(chan struct{})
	for _, p := range ps {
		ended, stop, err := identity.WatchExit(p)
		if err != nil {
			continue
		}
		e.stops = append(e.stops, stop)
		go e.pass(ended, e.rang, e.closed)
	}
}

func (e *exits) pass(ended <-chan struct{}, rang chan<- struct{}, closed <-chan struct{}) {
	select {
	case <-ended:
	case <-closed:
		return
	}
	select {
	case rang <- struct{}{}:
	default:
	}
}

func (e *exits) close() {
	if e.closed == nil {
		return
	}
	close(e.closed)
	for _, stop := range e.stops {
		stop()
	}
	*e = exits{}
}
