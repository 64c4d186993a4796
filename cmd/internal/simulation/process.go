package simulation

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/simulation/machine"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// A proc is a process of the machine. It stops at calls of the product that touch the disk, the clock, the table of processes
// or a lock.
type proc struct {
	*machine.Proc
	w      *world
	detail string // what it runs

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
	p := &proc{w: w}
	p.Proc = w.Spawn(name, parent, func(*machine.Proc) { run(p) })
	w.procs = append(w.procs, p)
	return p
}

// aside returns a process of that name that does what it does at once.
func (w *world) aside(name string) *proc { return &proc{Proc: w.Aside(name), w: w} }

// panics is called when a process does.
func (w *world) panics(p *machine.Proc, what string) {
	if w.onStep != nil {
		w.find("panic", "%s: %s", p.Name, what)
	}
}

// table returns a process of a harness, for the table of processes.
func (w *world) table(pid int) (p identity.Process, ok bool) {
	x := w.harness(pid)
	if x == nil {
		return p, false
	}
	return x.proc, true
}

// locks returns the files whose locks processes wait for.
func (w *world) locks() []string { return append(w.Glob("trees/*/lock"), w.File("lock")) }

// step lets a process go on, past so many points at most, 0 for as many as there are. It returns false if it cannot.
func (w *world) step(p *proc, points int) bool {
	before, failed := w.runs, p.Failed
	if w.runs = p; !w.Step(p.Proc, points) {
		w.runs = before
		return false
	}
	if p.Failed != failed {
		w.logf("%s: %s fails: %v", p.Name, p.Failed, p.Failure)
	}
	w.steps++
	w.settle()
	return true
}

// settle does what follows a step.
func (w *world) settle() {
	w.Bury()
	w.Age()
	before := w.last
	w.last = w.Stamp()
	if w.last != before {
		w.Stir()
	}
	if w.onStep != nil {
		w.onStep(w.last != before)
	}
	w.procs = slices.DeleteFunc(w.procs, func(p *proc) bool { return p.State == machine.Finished })
}

// pass lets time pass, see [machine.Machine.Pass].
func (w *world) pass(d time.Duration) {
	w.runs = nil
	w.Pass(d)
	w.settle()
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
	return one(w.procs, func(p *proc) bool { return p.Name == name && p.State != machine.Finished })
}

// running returns the process with a pid, nil if it has ended or was killed.
func (w *world) running(pid int) *proc {
	return one(w.procs, func(p *proc) bool { return p.ID.PID == pid && p.State != machine.Finished && !p.Killed })
}

// end ends all processes.
func (w *world) end() {
	w.onStep = nil
	for len(w.procs) > 0 {
		for _, p := range w.procs {
			w.Kill(p.ID.PID)
		}
		w.pass(time.Second)
	}
}

// startJob is the runner of a job up to where its command runs, which the command that asks for the job waits
// for. The rest of the runner is a process; its command writes into the tree.
func (w *world) startJob(p *proc, dir string, files []*os.File) (pid int, err error) {
	alive, err := syscall.Dup(int(files[1].Fd()))
	if err != nil {
		return 0, err
	}
	var j *jobs.Job
	q := w.spawn(p.Name+".j", 1, func(q *proc) {
		defer syscall.Close(alive)
		if w.state.Owner == j.Agent && w.slept != w.state.Turn && w.back != w.state.Turn { // else it needs no turn, or nothing renews that
			q.writer = w.byAgent(j.Agent)
		}
		q.Sleep(90 * time.Second)
		q.writer = nil
		at := event.NewTime(time.Now())
		patchJob(dir, func(j *jobs.Job) { j.EndedAt, j.Outcome, j.Exit = &at, "exited", new(int) })
		q.Point()
		var o fsroom.Options
		q.Store(&o, &w.Disk)
		store, err := fsroom.Open(w.Data, o)
		if err != nil {
			return
		}
		c := &member.Client{Store: store, Table: q, Clock: q.Clock}
		room := &jobs.Room{Store: store, Name: filepath.Base(filepath.Dir(dir)), Table: q}
		ended, err := room.Load(j.ID)
		if err == nil && c.Room(room.Name, nil).TellJob(context.Background(), ended) == nil {
			ended.Told()
		}
	})
	q.detail = "job"
	at := event.NewTime(time.Now())
	j = patchJob(dir, func(j *jobs.Job) { j.StartedAt, j.Runner, j.Process = &at, &q.ID, &q.ID })
	_, err = files[0].WriteString("ok")
	w.logf("%s starts the job %s of %s", p.Name, q.Name, w.named(j.Agent))
	return q.ID.PID, err
}

// patchJob changes what is recorded of a job, and returns it.
func patchJob(dir string, set func(*jobs.Job)) *jobs.Job {
	path, j := filepath.Join(dir, "job.json"), new(jobs.Job)
	b, _ := os.ReadFile(path)
	_ = json.Unmarshal(b, j)
	set(j)
	b, _ = json.Marshal(j)
	_ = lockfile.ReplaceUnsynced(path, b, dir)
	return j
}

// isRecorded reports whether the ledger has a file as it is now, with "" the whole tree.
func (w *world) isRecorded(file string) bool {
	l := ledger.New(filepath.Join(w.Data, ledger.Folder, fsroom.RoomName(w.dir)), ledger.Options{Root: w.dir, Home: w.home})
	v, err := l.Look(context.Background())
	if err != nil {
		return false
	}
	defer v.Close()
	return slices.ContainsFunc(v.All, func(s *ledger.Snapshot) bool {
		change, err := v.ChangeOf(s, v.Now, file)
		return s.Tree == v.Now.Tree || s.Scan == v.Now.Tree || file != "" && err == nil && change == nil
	})
}

// touch changes a file of the tree, as a person does with an editor.
func (w *world) touch(name string) {
	w.tree[name] = strconv.Itoa(len(w.log))
	_ = os.WriteFile(filepath.Join(w.dir, name), []byte(w.tree[name]), 0o600)
	w.touched = w.steps
}
