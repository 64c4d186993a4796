package simulation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/lockfile"
)

// A state is what a process does.
type state int

const (
	ready    state = iota // it can go on
	waiting               // for the lock of a file
	sleeping              // until a time, or until something changes
	finished
)

// errKilled is what a process panics with that was killed.
var errKilled = errors.New("killed")

// A proc is a process of the machine: a goroutine that runs only while the scheduler lets it. It
// stops at points: calls of the product that touch the disk, the clock, the table of processes
// or a lock.
type proc struct {
	m      *Machine
	name   string // as traces call it
	id     identity.Process
	parent int // pid
	state  state
	frozen bool      // stopped by a signal
	until  time.Time // while it waits or sleeps; zero: without end
	lock   string    // path of the file whose lock it waits for
	wake   string    // path of the file whose time tells a sleeping process of a change
	seen   time.Time // time of that file when it fell asleep
	stir   bool      // something has changed while it slept

	points  int // that it has passed
	budget  int // how many points it may pass; 0: as many as there are
	running bool
	killed  bool
	ending  bool // it was killed and has noticed
	failAt  int  // the call to the disk that fails, counted down; 0: none
	failure error
	failed  string // the call that has failed
	resume  chan struct{}
	goid    string
	detail  string // for traces: what it runs

	window   *window // whose child it is; nil: it lives on alone
	away     bool    // the machine was suspended while it ran
	tool     bool    // its model waits for it
	agent    string  // of a guardian
	guards   int64   // the turn of a guardian
	children string  // a dot for each child
}

// A Machine has processes, files, locks and a clock, and is driven by one goroutine.
type Machine struct {
	t        testing.TB
	base     string // directory with all files of the run
	data     string // the data directory
	procs    []*proc
	live     map[int]*proc // by pid
	others   map[int]identity.Info
	pids     int
	boot     int
	began    time.Time
	booted   time.Time
	log      []string
	steps    int
	passed   int // points, by all processes
	disk     disk
	onStep   func() // after each step
	stamp    string
	lastFail string
	held     atomic.Pointer[map[string]bool] // locks that a process had when the step began
	busy     atomic.Bool                     // the process of the step has not stopped
}

// current is the machine of the run in progress: one runs at a time in a process.
var current *Machine

// goid returns the id of the running goroutine.
func goid() string {
	var b [32]byte
	s := b[len("goroutine "):runtime.Stack(b[:], false)]
	for i, c := range s {
		if c == ' ' {
			return string(s[:i])
		}
	}
	return string(s)
}

func (m *Machine) logf(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf("  %10.3f ", time.Since(m.began).Seconds())+fmt.Sprintf(format, args...))
}

// newID returns the identity of a new process.
func (m *Machine) newID() identity.Process {
	m.pids++
	const beyond = 5_000_000 // no process of the real machine has such a pid
	return identity.Process{Host: "sim", Boot: fmt.Sprint("boot", m.boot), Namespace: "ns", PID: beyond + m.pids, Start: uint64(100000 + 1000*m.pids)}
}

// newProcess starts a process that runs nothing of ours, such as a harness.
func (m *Machine) newProcess(name string) identity.Process {
	id := m.newID()
	m.others[id.PID] = identity.Info{Process: id, PPID: 1, Name: name, Args: []string{name}}
	return id
}

// spawn starts a process. It runs when the scheduler picks it.
func (m *Machine) spawn(name string, parent int, run func(*proc)) *proc {
	p := &proc{m: m, name: name, id: m.newID(), parent: parent, resume: make(chan struct{})}
	m.procs = append(m.procs, p)
	m.live[p.id.PID] = p
	go func() {
		<-p.resume
		p.goid = goid()
		defer func() {
			if r := recover(); r != nil && r != any(errKilled) {
				m.lastFail = fmt.Sprintf("panic in %s: %v\n%s", p.name, r, stack())
			}
			p.state = finished
			m.busy.Store(false)
			delete(m.live, p.id.PID)
		}()
		if !p.killed {
			run(p)
		}
	}()
	return p
}

func stack() string {
	b := make([]byte, 1<<14)
	return string(b[:runtime.Stack(b, false)])
}

// mine reports whether the caller is the goroutine of the process, and that goes on. One that was
// killed meanwhile ends here.
func (p *proc) mine() bool {
	if goid() != p.goid || p.ending {
		return false
	}
	if p.killed {
		p.ending = true
		panic(errKilled)
	}
	return true
}

// point is where the process may be made to stop.
func (p *proc) point() {
	if !p.mine() {
		return
	}
	p.points++
	p.m.passed++
	if p.running {
		if p.budget == 0 {
			return
		}
		if p.budget--; p.budget > 0 {
			return
		}
	}
	p.park(ready)
}

// park gives the processor back.
func (p *proc) park(s state) {
	p.state, p.running = s, false
	p.m.busy.Store(false)
	<-p.resume
	p.mine()
}

// sleep lets the process sleep.
func (p *proc) sleep(d time.Duration) {
	if p.mine() {
		p.until = time.Now().Add(d)
		p.park(sleeping)
	}
}

// await is a sleep of a wait of the product, see [fsroom.Options].
func (p *proc) await(ctx context.Context, d time.Duration) (changed bool) {
	if !p.mine() {
		return false
	}
	p.setUntil(ctx, d)
	p.stir, p.seen = false, modTime(p.wake)
	p.park(sleeping)
	return p.stir
}

// pause is [lockfile.Pause].
func pause(ctx context.Context, path string, d time.Duration) {
	p := current.self()
	if p == nil {
		current.helperWaits(path)
		return
	}
	p.lock = path
	p.setUntil(ctx, d)
	p.park(waiting)
}

// helperWaits is pause for another goroutine of the process that runs. If that process has the lock itself, this is
// no matter of the scheduler: it is over in a moment of the real machine, unless the process stops.
func (m *Machine) helperWaits(path string) {
	for !(*m.held.Load())[path] && m.busy.Load() {
		if isFree(path) {
			return
		}
		runtime.Gosched()
	}
	time.Sleep(time.Millisecond)
}

// setUntil sets until when the process stands at most: for d, 0 for ever, and no longer than ctx.
func (p *proc) setUntil(ctx context.Context, d time.Duration) {
	p.until = time.Time{}
	if d > 0 {
		p.until = time.Now().Add(d)
	}
	if end, ok := ctx.Deadline(); ok && (p.until.IsZero() || end.Before(p.until)) {
		p.until = end
	}
}

// self returns the process whose goroutine calls, nil if it is none.
func (m *Machine) self() *proc {
	id := goid()
	for _, p := range m.procs {
		if p.goid == id && p.state != finished && !p.killed {
			return p
		}
	}
	return nil
}

// canRun reports whether a process could go on now.
func (m *Machine) canRun(p *proc) bool {
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
	if path == "" {
		return time.Time{}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// step lets a process go on, past so many points at most, 0 for as many as there are.
func (m *Machine) step(p *proc, points int) {
	held := map[string]bool{}
	for _, path := range slices.Concat(m.glob("rooms/*/lock"), m.glob("trees/*/lock")) {
		held[path] = !isFree(path)
	}
	m.held.Store(&held)
	p.budget = points
	for again := true; again; again = p.state == waiting && !p.killed && isFree(p.lock) { // a helper of its own had the lock
		p.state, p.running = ready, true
		m.busy.Store(true)
		p.resume <- struct{}{}
		synctest.Wait()
	}
	m.busy.Store(false)
	time.Sleep(time.Microsecond) // what is written next has a later time
	m.steps++
	m.settle()
}

// settle does what follows a step.
func (m *Machine) settle() {
	m.bury()
	m.procs = slices.DeleteFunc(m.procs, func(p *proc) bool { return p.state == finished })
	m.disk.age()
	stamp := m.disk.stamp()
	for _, p := range m.procs {
		if p.state == sleeping && (stamp != m.stamp || !modTime(p.wake).Equal(p.seen)) {
			p.stir = true
		}
	}
	m.stamp = stamp
	if m.onStep != nil {
		m.onStep()
	}
}

// pass lets time pass: until something is due, or for d. While processes could run it is short: nothing
// keeps them for as long as a lease.
func (m *Machine) pass(d time.Duration) {
	for _, p := range m.procs {
		if m.canRun(p) {
			d = min(d, 500*time.Millisecond)
		}
		if left := time.Until(p.until); !p.frozen && !p.until.IsZero() && (p.state == sleeping || p.state == waiting) && left > 0 {
			d = min(d, left)
		}
	}
	time.Sleep(d)
	synctest.Wait()
	m.settle()
}

// suspend lets time pass while the whole machine stands still.
func (m *Machine) suspend(d time.Duration) {
	for _, p := range m.procs {
		p.away = true
		if (p.state == sleeping || p.state == waiting) && !p.until.IsZero() {
			p.until = p.until.Add(d)
		}
	}
	time.Sleep(d)
	synctest.Wait()
}

// doom ends a process at the point where it stands. What it wrote stays.
func (m *Machine) doom(p *proc) {
	p.killed = true
	delete(m.live, p.id.PID)
	m.stirAll()
}

// kill is doom for the scheduler.
func (m *Machine) kill(p *proc) {
	m.doom(p)
	m.bury()
}

// bury lets the goroutines of processes end that were killed. One that waits for something of its own ends
// when it goes on.
func (m *Machine) bury() {
	buried := false
	for _, p := range m.procs {
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

// exit ends a process that runs nothing of ours.
func (m *Machine) exit(id identity.Process) {
	delete(m.others, id.PID)
	m.stirAll()
}

// stirAll wakes who may watch for the end of a process.
func (m *Machine) stirAll() {
	for _, p := range m.procs {
		p.stir = p.stir || p.state == sleeping
	}
}

// find returns the process with a name, nil if it has ended.
func (m *Machine) find(name string) *proc {
	for _, p := range m.procs {
		if p.name == name && p.state != finished {
			return p
		}
	}
	return nil
}

// A table is the table of processes as one of them sees it.
type table struct{ p *proc }

func (t table) Self() identity.Process { return t.p.id }

func (t table) Inspect(pid int) (identity.Info, error) {
	m := t.p.m
	if q := m.live[pid]; q != nil {
		return identity.Info{Process: q.id, PPID: q.parent, Name: "tt", Args: []string{"tt"}, Stopped: q.frozen}, nil
	}
	if info, ok := m.others[pid]; ok {
		return info, nil
	}
	return identity.Info{}, fs.ErrNotExist
}

func (t table) Look(pid int) (identity.Info, error) {
	t.p.point()
	return t.Inspect(pid)
}

func (t table) Verdict(p identity.Process) identity.Verdict {
	t.p.point()
	return identity.Judge(p, t.p.id, t.Inspect)
}

// clock is the clock of a process.
func (p *proc) clock() turn.Instant {
	p.point()
	m := p.m
	return turn.At(time.Now(), fmt.Sprint("boot", m.boot), time.Since(m.booted)+time.Hour)
}

// names returns the names of the processes, for traces and findings.
func (m *Machine) names() string {
	var all []string
	for _, p := range m.procs {
		all = append(all, p.name)
	}
	return strings.Join(all, " ")
}

// end ends all processes.
func (m *Machine) end() {
	m.onStep = nil
	for len(m.procs) > 0 {
		for _, p := range slices.Clone(m.procs) {
			m.kill(p)
		}
		m.procs = slices.DeleteFunc(m.procs, func(p *proc) bool { return p.state == finished })
		time.Sleep(time.Second)
		synctest.Wait()
	}
	for _, pid := range slices.Sorted(maps.Keys(m.others)) {
		delete(m.others, pid)
	}
}

// glob returns the files below the data directory that match. In the rooms and listeners there is one name for
// each directory, which stays.
func (m *Machine) glob(pattern string) (found []string) {
	folder, rest, _ := strings.Cut(pattern, "/*")
	if folder != "rooms" && folder != "listeners" || strings.Contains(rest, "*") || rest == "" {
		found, _ = filepath.Glob(filepath.Join(m.data, pattern))
		return found
	}
	entries, _ := os.ReadDir(filepath.Join(m.data, folder))
	for _, e := range entries {
		if path := filepath.Join(m.data, folder, e.Name(), rest); e.IsDir() && exists(path) {
			found = append(found, path)
		}
	}
	return found
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
