package simulation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal"
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
	w      *world
	name   string // as traces call it
	id     identity.Process
	parent int // pid
	state  state
	frozen bool      // stopped by a signal
	until  time.Time // while it waits or sleeps; zero: without end
	lock   string    // path of the file whose lock it waits for
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
	own     uintptr // the function that its goroutine runs
	detail  string  // what it runs

	window   *window // whose child it is; nil: it lives on alone
	writer   *window // who writes by it into the tree; nil: nobody
	excused  bool    // no order helps against what it writes: see [world.overrun]
	tool     bool    // its model waits for it
	older    bool    // what it says may be from before a grant to its agent, or before something that was undone
	guards   int64   // the turn of a guardian
	children int
}

// spawn starts a process. It runs when the scheduler picks it.
func (w *world) spawn(name string, parent int, run func(*proc)) *proc {
	p := &proc{w: w, name: name, id: w.newID(), parent: parent, resume: make(chan struct{})}
	w.procs = append(w.procs, p)
	go func() {
		<-p.resume
		p.own = outermost()
		defer func() {
			if r := recover(); r != nil && r != any(errKilled) && w.onStep != nil {
				w.find("panic", "%s: %v\n%s", p.name, r, debug.Stack())
			}
			p.state = finished
			w.busy.Store(false) // last: the scheduler goes on
		}()
		if !p.killed {
			run(p)
		}
	}()
	return p
}

// mine reports whether the caller is the goroutine of the process, and that goes on. One that was
// killed meanwhile ends here.
func (p *proc) mine() bool {
	if outermost() != p.own || p.ending {
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
	if p.budget--; p.running && p.budget != 0 {
		return
	}
	p.park(ready)
}

// park gives the processor back.
func (p *proc) park(s state) {
	p.state, p.running = s, false
	p.w.busy.Store(false)
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
	p.stir = false
	p.park(sleeping)
	return p.stir
}

// pause is [lockfile.Pause]. If another goroutine calls and its process has the lock itself, this is no matter of the scheduler:
// it is over in a moment of the real machine, unless the process stops.
func (w *world) pause(ctx context.Context, path string) {
	if p := w.runs.Load(); w.busy.Load() && !p.killed && outermost() == p.own {
		p.lock = path
		p.setUntil(ctx, 0)
		p.park(waiting)
		return
	}
	for has := (*w.held.Load())[path]; (has == nil || has == w.runs.Load()) && w.busy.Load(); runtime.Gosched() {
		if isFree(path) {
			return
		}
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

// outermost returns the function that the running goroutine began with. Of the goroutines that a process of the
// simulation has, one began as [world.spawn] does.
func outermost() uintptr {
	var pcs [512]uintptr
	n := runtime.Callers(0, pcs[:])
	if n < 2 || n == len(pcs) {
		return 0
	}
	return runtime.FuncForPC(pcs[n-2]).Entry() // goexit is below it
}

// Self, Inspect, Look and Verdict are the table of processes as one of them sees it.
func (p *proc) Self() identity.Process { return p.id }

func (p *proc) Inspect(pid int) (identity.Info, error) {
	if q := p.w.running(pid); q != nil {
		return identity.Info{Process: q.id, PPID: q.parent, Name: "tt", Args: []string{"tt"}, Stopped: q.frozen}, nil
	}
	if x := p.w.harness(pid); x != nil {
		return identity.Info{Process: x.proc, PPID: 1, Name: "claude", Args: []string{"claude"}}, nil
	}
	return identity.Info{}, fs.ErrNotExist
}

func (p *proc) Look(pid int) (identity.Info, error) {
	p.point()
	return p.Inspect(pid)
}

func (p *proc) Verdict(other identity.Process) identity.Verdict {
	p.point()
	return identity.Judge(other, p.id, p.Inspect)
}

// clock is the clock of a process.
func (p *proc) clock() turn.Instant {
	p.point()
	return turn.At(time.Now(), fmt.Sprint("boot", p.w.boot), time.Since(p.w.booted)+time.Hour)
}

// options completes the options of the store of a process.
func (p *proc) options(o *fsroom.Options) {
	o.NoWatch, o.BlindPoll, o.BlindPollMax = true, 5*time.Second, 20*time.Second
	o.Sleep = p.await
	o.Fault = func(s fsroom.Step) error {
		p.point()
		if s == fsroom.StepDone || s == fsroom.StepUnlock {
			return nil
		}
		return p.fail(string(s))
	}
	o.Sync = func(log *journal.Log) error {
		p.point()
		if err := p.fail("sync"); err != nil {
			return err
		}
		p.w.sync()
		return nil
	}
	o.SyncDir = func(string) error { return p.fail("sync directory") }
}

// fail returns the error of a call to the disk.
func (p *proc) fail(what string) error {
	if p.killed {
		return errKilled
	}
	if p.failAt == 0 || outermost() != p.own {
		return nil
	}
	if p.failAt--; p.failAt > 0 {
		return nil
	}
	p.failed = what
	p.w.logf("%s: %s fails: %v", p.name, what, p.failure)
	return &fs.PathError{Op: what, Path: filepath.Join(p.w.data, "x"), Err: p.failure}
}
