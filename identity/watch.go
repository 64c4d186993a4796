package identity

import (
	"fmt"
	"sync"
	"time"
)

// WatchExit returns a channel that is closed when p has ended, and never
// otherwise; when p has already ended, it is closed on return. stop frees what
// the watch holds; it may be called more than once, and when it returns
// nothing of the watch is left. No thread waits meanwhile.
//
// The error says that p cannot be watched from here, because it lives in
// another namespace or on another host, or because too little is known of it.
func WatchExit(p Process) (ended <-chan struct{}, stop func(), err error) {
	return watchExit(System(), p)
}

// pollInterval is how often processes are looked at where the kernel cannot
// tell of their end.
const pollInterval = time.Second

// watchByPolling looks at p again and again. An Unknown in between, such as a
// process that cannot be read for lack of file descriptors, is not an end.
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
// stop it returns calls interrupt once and returns when wait has returned.
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
