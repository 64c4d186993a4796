// Package machine has machines that do not exist: processes, the table of them, and the locks of files, in a bubble of
// testing/synctest. It is a test tool, which the simulations share.
//
// A process is a goroutine, and one runs at a time. It stops wherever it calls [Proc.Point], sleeps, or waits for a lock, and
// goes on when the scheduler calls [Machine.Step]. Time is that of the bubble.
package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/lockfile"
)

// A Machine is driven by one goroutine.
type Machine struct {
	Host    string
	Booted  time.Time
	Locks   func() []string                             // the files whose locks are waited for; nil: none
	Harness func(pid int) (p identity.Process, ok bool) // a process that is none of the machine's goroutines
	Panics  func(p *Proc, what string)                  // called when one does, but for being killed

	procs []*Proc
	boots int
	pids  int
	held  atomic.Pointer[map[string]*Proc] // who had which lock when the step began
	runs  atomic.Pointer[Proc]             // the process of the step
	busy  atomic.Bool                      // it has not stopped
}

// Boot begins another life of the machine, whose processes have ended.
func (m *Machine) Boot() {
	m.boots++
	m.Booted = time.Now()
	m.held.Store(&map[string]*Proc{})
}

// BootID names the life of the machine.
func (m *Machine) BootID() string { return fmt.Sprint(m.Host, " boot ", m.boots) }

// NewID returns the identity of a new process.
func (m *Machine) NewID() identity.Process {
	m.pids++
	const beyond = 5_000_000 // no process of the real machine has such a pid
	return identity.Process{Host: m.Host, Boot: m.BootID(), Namespace: "ns", PID: beyond + m.pids, Start: uint64(100000 + 1000*m.pids)}
}

// Running returns the process with a pid, nil if it has ended or was killed.
func (m *Machine) Running(pid int) *Proc {
	i := slices.IndexFunc(m.procs, func(p *Proc) bool { return p.ID.PID == pid && p.State != Finished && !p.Killed })
	if i < 0 {
		return nil
	}
	return m.procs[i]
}

// A State is what a process does.
type State int

const (
	Ready    State = iota // it can go on
	Waiting               // for the lock of a file
	Sleeping              // until a time, or until something changes
	Finished
)

// errKilled is what a process panics with that was killed.
var errKilled = errors.New("killed")

// A Proc is a process.
type Proc struct {
	Name   string
	ID     identity.Process
	Parent int // pid
	State  State
	Frozen bool      // stopped by a signal
	Until  time.Time // while it waits or sleeps; zero: without end
	Stir   bool      // something has changed while it slept
	Points int       // that it has passed
	Killed bool

	FailAt  int    // the call to the disk that fails, counted down; 0: none
	Failure error  // with which
	Failed  string // the call that has failed

	m       *Machine
	lock    string // path of the file whose lock it waits for
	budget  int    // how many points it may pass; 0: as many as there are
	running bool
	ending  bool // it was killed and has noticed
	resume  chan struct{}
	own     uintptr // the function that its goroutine runs
}

// Spawn starts a process. It runs when the scheduler picks it.
func (m *Machine) Spawn(name string, parent int, run func(*Proc)) *Proc {
	p := &Proc{m: m, Name: name, ID: m.NewID(), Parent: parent, resume: make(chan struct{})}
	m.procs = append(m.procs, p)
	go func() {
		<-p.resume
		p.own = outermost()
		defer func() {
			if r := recover(); r != nil && r != any(errKilled) {
				m.Panics(p, fmt.Sprintf("%v\n%s", r, debug.Stack()))
			}
			p.State = Finished
			m.busy.Store(false) // last: the scheduler goes on
		}()
		if !p.Killed {
			run(p)
		}
	}()
	return p
}

// Aside returns a process that does what it does at once.
func (m *Machine) Aside(name string) *Proc { return &Proc{m: m, Name: name} }

// CanRun reports whether the process could go on now.
func (p *Proc) CanRun() bool {
	late := !p.Until.IsZero() && !time.Now().Before(p.Until)
	switch {
	case p.Frozen || p.State == Finished || p.running:
		return false
	case p.State == Waiting:
		return late || IsFree(p.lock)
	case p.State == Sleeping:
		return late || p.Stir
	}
	return true
}

// IsFree reports whether nobody has the lock of a file.
func IsFree(path string) bool {
	unlock, err := lockfile.TryLock(path)
	if unlock != nil {
		_ = unlock()
	}
	return unlock != nil || err != nil
}

// Step lets a process go on, past so many points at most, 0 for as many as there are. It returns false if it cannot.
func (m *Machine) Step(p *Proc, points int) bool {
	if !p.CanRun() {
		return false
	}
	p.budget = points
	for again := true; again; again = p.State == Waiting && !p.Killed && IsFree(p.lock) { // a helper of its own had the lock
		p.State = Ready
		m.busy.Store(true)
		m.runs.Store(p)
		p.goOn()
	}
	m.busy.Store(false)
	held := map[string]*Proc{}
	if m.Locks != nil {
		for _, path := range m.Locks() {
			if !IsFree(path) {
				held[path] = cmp.Or((*m.held.Load())[path], p)
			}
		}
	}
	m.held.Store(&held)
	time.Sleep(time.Microsecond) // what is written next has a later time
	synctest.Wait()              // for what helpers do then
	m.forget()
	return true
}

// goOn lets the goroutine run until it stops again.
func (p *Proc) goOn() {
	p.running = true
	p.resume <- struct{}{}
	synctest.Wait()
}

// Kill ends the process with a pid at the point where it stands. What it wrote stays.
func (m *Machine) Kill(pid int) {
	if p := m.Running(pid); p != nil {
		p.Killed = true
		m.Stir()
	}
}

// Stir wakes the processes that sleep until something changes.
func (m *Machine) Stir() {
	for _, p := range m.procs {
		p.Stir = p.Stir || p.State == Sleeping
	}
}

// Pass lets time pass: until something is due, or for d. While processes could run it is short: nothing
// keeps them for as long as a lease.
func (m *Machine) Pass(d time.Duration) {
	for _, p := range m.procs {
		if p.CanRun() {
			d = min(d, 500*time.Millisecond)
		}
		if left := time.Until(p.Until); !p.Frozen && !p.Until.IsZero() && (p.State == Sleeping || p.State == Waiting) && left > 0 {
			d = min(d, left)
		}
	}
	time.Sleep(d)
	synctest.Wait()
}

// Suspend lets time pass while the whole machine stands still.
func (m *Machine) Suspend(d time.Duration) {
	for _, p := range m.procs {
		if (p.State == Sleeping || p.State == Waiting) && !p.Until.IsZero() {
			p.Until = p.Until.Add(d)
		}
	}
	time.Sleep(d)
	synctest.Wait()
}

// forget drops the processes that have ended.
func (m *Machine) forget() {
	m.procs = slices.DeleteFunc(m.procs, func(p *Proc) bool { return p.State == Finished })
}

// Bury lets the goroutines of processes end that were killed, where they stand: what they wrote stays. One that waits for
// something of its own ends when it goes on.
func (m *Machine) Bury() {
	buried := false
	for _, p := range m.procs {
		if p.Killed && !p.running && p.State != Finished {
			p.goOn()
			buried = buried || p.Points > 0
		}
	}
	if buried {
		closeFiles()
	}
	m.forget()
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

// Mine reports whether the caller is the goroutine of the process, and that goes on. One that was
// killed meanwhile ends here.
func (p *Proc) Mine() bool {
	if outermost() != p.own || p.ending {
		return false
	}
	p.End()
	return true
}

// End ends the process if it was killed. What runs in it may have taken that for an error of its own.
func (p *Proc) End() {
	if p.Killed {
		p.ending = true
		panic(errKilled)
	}
}

// Point is where the process may be made to stop.
func (p *Proc) Point() {
	if !p.Mine() {
		return
	}
	p.Points++
	if p.budget--; p.running && p.budget != 0 {
		return
	}
	p.park(Ready)
}

// park gives the processor back.
func (p *Proc) park(s State) {
	p.State, p.running = s, false
	p.m.busy.Store(false)
	<-p.resume
	p.Mine()
}

// Sleep lets the process sleep.
func (p *Proc) Sleep(d time.Duration) {
	if p.Mine() {
		p.Until = time.Now().Add(d)
		p.park(Sleeping)
	}
}

// Await sleeps for d at most, 0 for ever, no longer than ctx, and until Stir is set. It reports whether it is.
func (p *Proc) Await(ctx context.Context, d time.Duration) (changed bool) {
	if !p.Mine() {
		return false
	}
	p.setUntil(ctx, d)
	p.Stir = false
	p.park(Sleeping)
	return p.Stir
}

// Pause is [lockfile.Pause]. If another goroutine calls and its process has the lock itself, this is no matter of the scheduler:
// it is over in a moment of the real machine, unless the process stops.
func (m *Machine) Pause(ctx context.Context, path string) {
	if p := m.runs.Load(); m.busy.Load() && !p.Killed && outermost() == p.own {
		p.lock = path
		p.setUntil(ctx, 0)
		p.park(Waiting)
		return
	}
	for has := (*m.held.Load())[path]; (has == nil || has == m.runs.Load()) && m.busy.Load(); runtime.Gosched() {
		if IsFree(path) {
			return
		}
	}
	time.Sleep(time.Millisecond)
}

// setUntil sets until when the process stands at most: for d, 0 for ever, and no longer than ctx.
func (p *Proc) setUntil(ctx context.Context, d time.Duration) {
	p.Until = time.Time{}
	if d > 0 {
		p.Until = time.Now().Add(d)
	}
	if end, ok := ctx.Deadline(); ok && (p.Until.IsZero() || end.Before(p.Until)) {
		p.Until = end
	}
}

// outermost returns the function that the running goroutine began with. Of the goroutines that a process
// has, one began as [Machine.Spawn] does.
func outermost() uintptr {
	var pcs [512]uintptr
	n := runtime.Callers(0, pcs[:])
	if n < 2 || n == len(pcs) {
		return 0
	}
	return runtime.FuncForPC(pcs[n-2]).Entry() // goexit is below it
}

// Clock is the clock of a process.
func (p *Proc) Clock() turn.Instant {
	p.Point()
	return turn.At(time.Now(), p.m.BootID(), time.Since(p.m.Booted)+time.Hour)
}

// Self, Inspect, Look and Verdict are the table of processes as one of them sees it.
func (p *Proc) Self() identity.Process { return p.ID }

func (p *Proc) Inspect(pid int) (identity.Info, error) {
	if q := p.m.Running(pid); q != nil {
		return identity.Info{Process: q.ID, PPID: q.Parent, Name: "tt", Args: []string{"tt"}, Stopped: q.Frozen}, nil
	}
	if h, ok := p.m.Harness(pid); ok {
		return identity.Info{Process: h, PPID: 1, Name: "claude", Args: []string{"claude"}}, nil
	}
	return identity.Info{}, fs.ErrNotExist
}

func (p *Proc) Look(pid int) (identity.Info, error) {
	p.Point()
	return p.Inspect(pid)
}

func (p *Proc) Verdict(other identity.Process) identity.Verdict {
	p.Point()
	return identity.Judge(other, p.ID, p.Inspect)
}
