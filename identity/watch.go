package identity

import (
	"fmt"
	"sync"
	"time"
)

// WatchExit returns a channel that is closed once p has ended, and never
// otherwise. If p has already ended, the channel is closed on return. stop releases
// the resources of the watch before it returns, and may be called more than once.
// The watch blocks no thread.
//
// The error says that p cannot be watched from this process: it runs in another
// namespace or on another host, or too little is known about it.
func WatchExit(p Process) (ended <-chan struct{}, stop func(), err error) {
	return watchExit(System(), p)
}

// pollInterval is how often a process is looked up where the kernel does not report
// its end.
const pollInterval = time.Second

// watchByPolling looks p up at every interval. An Unknown, for instance for lack of
// file descriptors, does not count as its end.
func watchByPolling(table Table, p Process, interval time.Duration) (<-chan struct{}, func(), error) {
	switch table.Verdict(p) {
	case Gone:
		return alreadyEnded()
	case Unknown:
		return nil, nil, unwatchable(p)
	}
	quit := make(chan struct{})
	return watching(func(ended chan<- struct{}) {
		ticks := time.NewTicker(interval)
		defer ticks.Stop()
		for table.Verdict(p) != Gone {
			select {
			case <-ticks.C:
			case <-quit:
				return
			}
		}
		close(ended)
	}, func() { close(quit) })
}

// watching runs wait, which closes its channel when the process has ended. The
// stop function calls interrupt once and returns after wait has returned.
func watching(wait func(ended chan<- struct{}), interrupt func()) (<-chan struct{}, func(), error) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		wait(ended)
	}()
	var once sync.Once
	return ended, func() {
		once.Do(interrupt)
		<-done
	}, nil
}

func alreadyEnded() (<-chan struct{}, func(), error) {
	ended := make(chan struct{})
	close(ended)
	return ended, func() {}, nil
}

func unwatchable(p Process) error {
	return fmt.Errorf("process %v cannot be watched from here", p)
}
