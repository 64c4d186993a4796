package simulation

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/lockfile"
)

// A machine has processes, files, locks and a clock, and is driven by one goroutine.
type machine struct {
	base   string // directory with all files of the run
	data   string // the data directory
	procs  []*proc
	pids   int
	boot   int
	began  time.Time
	booted time.Time
	log    []string
	steps  int
	disk
	onStep func(changed bool)               // after each step; whether the journal or state.json has changed
	last   string                           // what the files of the room were like
	held   atomic.Pointer[map[string]*proc] // who had which lock when the step began
	runs   atomic.Pointer[proc]             // the process of the step
	busy   atomic.Bool                      // it has not stopped
}

func (w *world) logf(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("  %10.3f ", time.Since(w.began).Seconds())+fmt.Sprintf(format, args...))
}

// newID returns the identity of a new process.
func (w *world) newID() identity.Process {
	w.pids++
	const beyond = 5_000_000 // no process of the real machine has such a pid
	return identity.Process{Host: "sim", Boot: fmt.Sprint("boot", w.boot), Namespace: "ns", PID: beyond + w.pids, Start: uint64(100000 + 1000*w.pids)}
}

// canRun reports whether a process could go on now.
func (w *world) canRun(p *proc) bool {
	late := !p.until.IsZero() && !time.Now().Before(p.until)
	switch {
	case p.frozen || p.state == finished || p.running:
		return false
	case p.state == waiting:
		return late || isFree(p.lock)
	case p.state == sleeping:
		return late || p.stir
	}
	return true
}

func isFree(path string) bool {
	unlock, err := lockfile.TryLock(path)
	if unlock != nil {
		_ = unlock()
	}
	return unlock != nil || err != nil
}

func modTime(path string) time.Time {
	if info, err := os.Lstat(path); err == nil {
		return info.ModTime()
	}
	return time.Time{}
}

// step lets a process go on, past so many points at most, 0 for as many as there are. It returns false if it cannot.
func (w *world) step(p *proc, points int) bool {
	if !w.canRun(p) {
		return false
	}
	p.budget = points
	for again := true; again; again = p.state == waiting && !p.killed && isFree(p.lock) { // a helper of its own had the lock
		p.state, p.running = ready, true
		w.busy.Store(true)
		w.runs.Store(p)
		p.resume <- struct{}{}
		synctest.Wait()
	}
	w.busy.Store(false)
	held := map[string]*proc{}
	for _, path := range append(w.glob("trees/*/lock"), w.file("lock")) {
		if !isFree(path) {
			held[path] = cmp.Or((*w.held.Load())[path], p)
		}
	}
	w.held.Store(&held)
	time.Sleep(time.Microsecond) // what is written next has a later time
	synctest.Wait()              // for what helpers do then
	w.steps++
	w.settle()
	return true
}

// settle does what follows a step.
func (w *world) settle() {
	w.bury()
	w.procs = slices.DeleteFunc(w.procs, func(p *proc) bool { return p.state == finished })
	w.age()
	before := w.last
	w.last = w.stamp()
	for _, p := range w.procs {
		p.stir = p.stir || p.state == sleeping && w.last != before
	}
	if w.onStep != nil {
		w.onStep(w.last != before)
	}
}

// pass lets time pass: until something is due, or for d. While processes could run it is short: nothing
// keeps them for as long as a lease.
func (w *world) pass(d time.Duration) {
	for _, p := range w.procs {
		if w.canRun(p) {
			d = min(d, 500*time.Millisecond)
		}
		if left := time.Until(p.until); !p.frozen && !p.until.IsZero() && (p.state == sleeping || p.state == waiting) && left > 0 {
			d = min(d, left)
		}
	}
	time.Sleep(d)
	synctest.Wait()
	w.settle()
}

// doom ends a process at the point where it stands. What it wrote stays.
func (w *world) doom(p *proc) {
	p.killed = true
	w.stirAll()
}

// bury lets the goroutines of processes end that were killed. One that waits for something of its own ends
// when it goes on.
func (w *world) bury() {
	buried := false
	for _, p := range w.procs {
		if p.killed && !p.running && p.state != finished {
			p.running = true
			p.resume <- struct{}{}
			synctest.Wait()
			buried = buried || p.points > 0
		}
	}
	if buried {
		closeFiles()
	}
}

// closeFiles closes the files that processes had open which were killed: with them go their locks. Nothing refers
// to them any more, so the garbage collector does.
func closeFiles() {
	for range 2 { // what the first round frees may refer to more
		var done atomic.Bool
		runtime.AddCleanup(new([16]byte), func(done *atomic.Bool) { done.Store(true) }, &done)
		for runtime.GC(); !done.Load(); {
			runtime.Gosched()
		}
	}
}

// stirAll wakes who may watch for the end of a process.
func (w *world) stirAll() {
	for _, p := range w.procs {
		p.stir = p.stir || p.state == sleeping
	}
}

// one returns the first for which something is so, nil if there is none.
func one[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// process returns the one with a name, nil if it has ended.
func (w *world) process(name string) *proc {
	return one(w.procs, func(p *proc) bool { return p.name == name && p.state != finished })
}

// running returns the process with a pid, nil if it has ended or was killed.
func (w *world) running(pid int) *proc {
	return one(w.procs, func(p *proc) bool { return p.id.PID == pid && p.state != finished && !p.killed })
}

// end ends all processes.
func (w *world) end() {
	w.onStep = nil
	for len(w.procs) > 0 {
		for _, p := range w.procs {
			w.doom(p)
		}
		w.pass(time.Second)
	}
}
