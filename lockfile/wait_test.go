package lockfile

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A passed lock is held by others until a time; then whoever waits gets it.
type passed struct{ free <-chan struct{} }

func (p passed) TryLock() (bool, error)     { return false, nil }
func (p passed) Lock() error                { <-p.free; return nil }
func (p passed) Unlock() error              { return nil }
func (p passed) Stat() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// TestStill has a lock move at certain times, in virtual time, and another process give it back
// at last.
func TestStill(t *testing.T) {
	const ms = time.Millisecond
	often := []time.Duration{190 * ms, 390 * ms, 590 * ms, 790 * ms, 990 * ms, 1190 * ms, 1390 * ms, 1590 * ms, 1790 * ms}
	tests := []struct {
		name   string
		moves  []time.Duration // when the holder, or the file beside the lock, changes
		free   time.Duration   // when it can be had; 0 for never
		waited time.Duration   // 0 if it is got
	}{
		{"one process holds it", nil, 0, 300 * ms},
		{"given back in time", nil, 290 * ms, 0},
		{"given back too late", nil, 400 * ms, 300 * ms},
		{"passed on once", []time.Duration{190 * ms}, 450 * ms, 0},
		{"passed on, then held", []time.Duration{220 * ms, 480 * ms}, 0, 800 * ms},
		{"passed on all the time", often, 0, 2 * time.Second},
		{"got in the end", often, 1900 * ms, 0},
	}
	for _, tt := range tests {
		for _, sign := range []string{"holder", "file"} {
			t.Run(tt.name+", "+sign, func(t *testing.T) {
				path := inTemp(t, "lock")
				unlock, err := Lock(t.Context(), path) // there is a file
				check(t, err)
				check(t, unlock())
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					free := make(chan struct{})
					give := sync.OnceFunc(func() { close(free) })
					defer give()
					if tt.free > 0 {
						time.AfterFunc(tt.free, give)
					}
					var moved atomic.Int64
					for _, at := range tt.moves {
						time.AfterFunc(at, func() { moved.Add(1) })
					}
					l := locker{path: path, open: func(string) handle { return passed{free} }, holds: func() int { return 1 }}
					l.Still = 300 * ms
					if sign == "holder" {
						l.holds = func() int { return int(moved.Load()) }
					} else {
						l.Moved = func() any { return moved.Load() }
					}
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
					defer cancel()
					_, err := l.wait(ctx)
					busy := (*BusyError)(nil)
					switch {
					case tt.waited == 0:
						if took := time.Since(began); err != nil || took != tt.free {
							t.Errorf("%v after %v", err, took)
						}
					case !errors.As(err, &busy) || busy.Waited != tt.waited:
						t.Errorf("%v, want one that waited %v", err, tt.waited)
					}
				})
			})
		}
	}
}

// TestStillWithProcesses waits behind one process that keeps the lock, and behind some that
// pass it on.
func TestStillWithProcesses(t *testing.T) {
	path := inTemp(t, "lock")
	w := Wait{Still: 60 * time.Millisecond}
	holder := start(t, "lock", path)
	_, err := w.Lock(t.Context(), path)
	if busy := (*BusyError)(nil); !errors.As(err, &busy) || busy.Waited < w.Still {
		t.Errorf("held: %v", err)
	}
	if err := w.Settled(t.Context(), path); !errors.As(err, new(*BusyError)) {
		t.Errorf("held, not settled: %v", err)
	}
	holder.end(t)
	w.Still = time.Minute // a process may be stopped for a while that has it
	loops := []*process{start(t, "loop", path), start(t, "loop", path), start(t, "loop", path)}
	for range 20 {
		unlock, err := w.Lock(t.Context(), path)
		check(t, err)
		check(t, unlock())
	}
	for _, p := range loops {
		p.end(t)
	}
}
