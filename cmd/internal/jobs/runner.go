package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/lockfile"
)

// Variable is the environment variable that names the job which a process is part of:
// "test#17".
const Variable = "TT_JOB"

// A Runner is the process that starts the command of a job, waits for its end and says how
// it ended. It lives until the end was told.
type Runner struct {
	Room *Room
	ID   int64
	Drop []string // environment variables that the command does not get
	// Begins and Ends write down what the tree is when the command is about to begin, and when it has
	// ended. They may be nil.
	Begins, Ends func(*Job)
	// Tell tells the end of the job. It is called again after an error.
	Tell func(context.Context, *Job) error
}

// MaxOutput is how many bytes a command may write. Tests set less.
var MaxOutput int64 = 256 << 20

// stopGrace is the time between SIGTERM and SIGKILL. Tests set less.
var stopGrace = 10 * time.Second

// limitGrace is that for a command that writes too much.
const limitGrace = time.Second

// Run runs the job.
func (r *Runner) Run(ctx context.Context) error {
	runtime.GOMAXPROCS(1) // there is little to do; the command has all of them
	closeOnExec(readyFD)
	ready, alive := os.NewFile(readyFD, "ready"), os.NewFile(aliveFD, "alive")
	defer alive.Close()
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTERM)
	signal.Ignore(syscall.SIGHUP, os.Interrupt)
	j, err := r.Room.Load(r.ID)
	if err != nil {
		fmt.Fprint(ready, err)
		return err
	}
	c, out, err := r.begin(j)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		fmt.Fprint(ready, saidFull)
		return err
	case err != nil:
		fmt.Fprint(ready, err)
		return err
	}
	fmt.Fprint(ready, saidOK)
	ready.Close()
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	w := &watchdog{job: j, out: out, pid: c.Process.Pid}
	w.watch(done, stops)
	r.end(j, c.ProcessState, w.ended)
	out.Close()
	return r.tell(ctx, j)
}

// begin starts the command and writes down that it runs. The record is written before that, too, and is as large then: who
// has no space for it starts nothing.
func (r *Runner) begin(j *Job) (*exec.Cmd, *os.File, error) {
	unlock, err := lockfile.Lock(context.Background(), j.path(lockFile))
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = unlock() }()
	if fresh, err := r.Room.Load(j.ID); err != nil || fresh.Outcome != "" {
		return nil, nil, fmt.Errorf("it is over already: %w", err)
	}
	out, err := lockfile.OpenRegular(j.Log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return nil, nil, err
	}
	lockfile.Adopt(j.Log())
	if r.Begins != nil {
		r.Begins(j)
	}
	env := append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == Variable || slices.Contains(r.Drop, name) || slices.Contains(j.Overridden, name)
	}), append(j.Own, Variable+"="+j.End().Title())...)
	self := r.Room.Table.Self()
	j.Runner = &self
	if err := j.save(); err != nil {
		out.Close()
		return nil, nil, err
	}
	start := func(program string, args []string) (*exec.Cmd, error) {
		c := &exec.Cmd{Path: program, Args: args, Dir: j.Dir, Env: env, Stdout: out, Stderr: out}
		ownSession(c)
		return c, c.Start()
	}
	c, err := start(j.Program, j.Command)
	if errors.Is(err, syscall.ENOEXEC) { // the shell runs it, as shells do
		c, err = start("/bin/sh", append([]string{"/bin/sh", j.Program}, j.Command[1:]...))
	}
	if err != nil {
		out.Close()
		return nil, nil, err
	}
	if info, err := r.Room.Table.Inspect(c.Process.Pid); err == nil {
		j.Process = &info.Process
	}
	j.StartedAt = now()
	_ = j.save() // the runner knows, and writes it with the end
	return c, out, nil
}

// end writes down how the job ended. It tries until that is on disk: the status of the
// command is nowhere else.
func (r *Runner) end(j *Job, state *os.ProcessState, forced string) {
	j.EndedAt = now()
	j.Exit, j.Signal = endedBy(state)
	j.LogBytes = j.Written()
	switch {
	case forced != "":
		j.Outcome = forced
	case j.LogBytes > MaxOutput: // in so short a time that nobody has ended it
		j.Outcome = talk.JobOutputLimit
	case j.Exit != nil && *j.Exit == 0:
		j.Outcome = talk.JobPassed
	default:
		j.Outcome = talk.JobFailed
	}
	if j.LogBytes > MaxOutput && os.Truncate(j.Log(), MaxOutput) == nil {
		j.LogBytes = MaxOutput
	}
	if r.Ends != nil {
		r.Ends(j)
	}
	again(context.Background(), j.whileThere(j.save))
}

// tell tells the end of the job, and tries again as long as that fails.
func (r *Runner) tell(ctx context.Context, j *Job) error {
	again(ctx, j.whileThere(func() error {
		if j.isTold() {
			return nil
		}
		err := r.Tell(ctx, j)
		if err == nil {
			j.Told()
		}
		return err
	}))
	return ctx.Err()
}

// whileThere returns f for as long as the job has a directory: once somebody has removed it,
// there is nothing to write and nobody to tell.
func (j *Job) whileThere(f func() error) func() error {
	return func() error {
		if _, err := os.Lstat(j.room.job(j.ID)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return f()
	}
}

// again calls f until it succeeds or ctx ends, less and less often.
func again(ctx context.Context, f func() error) {
	for pause := 100 * time.Millisecond; f() != nil && ctx.Err() == nil; pause = min(2*pause, time.Minute) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// A watchdog ends a command that takes too long, writes too much, or is to be stopped.
type watchdog struct {
	job   *Job
	out   *os.File
	pid   int
	ended string // the outcome if it ends because of the watchdog

	kill <-chan time.Time
}

// watch returns when the command has ended.
func (w *watchdog) watch(done <-chan error, stops <-chan os.Signal) {
	const often, seldom, fast = 50 * time.Millisecond, time.Second, 8 << 20
	var late <-chan time.Time
	if d := time.Duration(w.job.Timeout) * time.Millisecond; d > 0 {
		late = time.After(d - time.Since(w.job.StartedAt.Time))
	}
	pause, size := often, int64(0)
	for {
		select {
		case <-done:
			return
		case <-late:
			w.end(talk.JobTimeout, stopGrace)
		case <-stops:
			w.end(talk.JobStopped, stopGrace)
			w.stopIfAsked()
		case <-w.kill:
			signalGroup(w.pid, syscall.SIGKILL)
		case <-time.After(pause):
			w.stopIfAsked()
			before := size
			if info, err := w.out.Stat(); err == nil {
				size = info.Size()
			}
			if size > MaxOutput {
				w.end(talk.JobOutputLimit, limitGrace)
			}
			if pause = min(2*pause, seldom); size-before > fast {
				pause = often
			}
		}
	}
}

// end asks the command to end, and kills it if it has not ended after the grace time.
func (w *watchdog) end(outcome string, grace time.Duration) {
	if w.ended != "" {
		return
	}
	w.ended, w.kill = outcome, time.After(grace)
	signalGroup(w.pid, syscall.SIGTERM)
}

// stopIfAsked looks whether the job is to be stopped: a signal may not reach this process.
func (w *watchdog) stopIfAsked() {
	asked, atOnce := w.job.stopAsked()
	if !asked {
		return
	}
	w.end(talk.JobStopped, stopGrace)
	if atOnce {
		signalGroup(w.pid, syscall.SIGKILL)
	}
}

const stopAtOnce = "kill"

// stopAsked reports whether the job is to be stopped, and whether at once.
func (j *Job) stopAsked() (asked, atOnce bool) {
	how, err := lockfile.ReadRegular(j.path(stopFile), 16)
	return err == nil, strings.TrimSpace(string(how)) == stopAtOnce
}

// Stop makes a job end that has not ended. If its runner is not there any more, Stop itself
// ends the command, and waits for that for as long as it is asked only, or until ctx ends.
func (j *Job) Stop(ctx context.Context, kill bool) error {
	how := "stop"
	if kill {
		how = stopAtOnce
	}
	if err := lockfile.Replace(j.path(stopFile), []byte(how+"\n"), filepath.Dir(j.path(stopFile))); err != nil {
		return j.room.Store.Explain(err, j.path(stopFile))
	}
	if j.Attended() && j.Runner != nil && j.room.Table.Verdict(*j.Runner) == identity.Alive {
		_ = unix.Kill(j.Runner.PID, unix.SIGTERM) // it looks then
	} else if j.stopUnattended(); !kill && !j.pause(ctx, stopGrace) {
		j.stopUnattended()
	}
	return nil
}

// stopUnattended ends the command of a job that is to be stopped and whose runner has ended: it asks it to, and
// kills it if it was to be stopped at once, or a while ago.
func (j *Job) stopUnattended() {
	asked, atOnce := j.stopAsked()
	if !asked || j.Process == nil || j.room.Table.Verdict(*j.Process) != identity.Alive {
		return
	}
	sig := syscall.SIGTERM
	if info, err := os.Lstat(j.path(stopFile)); atOnce || err == nil && time.Since(info.ModTime()) >= stopGrace {
		sig = syscall.SIGKILL
	}
	signalGroup(j.Process.PID, sig)
}
