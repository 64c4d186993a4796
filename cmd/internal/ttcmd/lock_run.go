package ttcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/lockfile/queue"
)

// The exit statuses of lock run besides that of the command.
const (
	statusLockBusy  = 75 // as in sysexits.h: a temporary failure
	statusCannotRun = second.StatusCannotRun
	statusNotFound  = 127
)

var lockRunCommand = &cli.Command{
	Name: "lock run",
	Args: []cli.Arg{
		{Name: "name", Usage: "the lock: lower-case letters, digits, and . _ - behind the first, 64 at most"},
		{Name: "line", Show: "-- COMMAND", Rest: true, Usage: "the command and its arguments, behind --"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("shared", "exclude only those that do not share the lock")
		f.Duration("timeout", "D", 0, "how long to wait for the lock; 0 takes it only if it is free (default: no end)")
		f.Bool("tree", "a lock of this working tree alone, not of the repository")
		f.Bool("machine", "a lock of all repositories, for ports and devices")
	},
	Exclusive: [][2]string{{"machine", "path"}, {"machine", "tree"}},
	Run:       runLockRun,
	Traits:    cli.Traits{NoSync: true, HostOnly: true},
}

func runLockRun(ctx context.Context, c *cli.Invocation) error {
	argv, id, err := lockLine(c)
	if err != nil {
		return err
	}
	program, err := findProgram(argv[0])
	if err != nil {
		return err
	}
	l, self, err := openLocks(c)
	if err != nil {
		return notRun(err)
	}
	inside := l.Inside(c.Env.Lookup(locks.Variable))
	t := &queue.Ticket{Agent: self.ID, Mode: queue.Exclusive, PID: os.Getpid(), Command: argv, Dir: c.Env.Dir}
	if c.Bool("shared") {
		t.Mode = queue.Shared
	}
	for _, h := range inside {
		t.Inside = append(t.Inside, h.String())
	}
	if t.Process, err = json.Marshal(l.Table.Self()); err != nil {
		return err
	}
	c.Out.TellNotices() // before it becomes COMMAND
	if slices.ContainsFunc(inside, func(h locks.Holding) bool {
		return h.ID == id && (h.Mode == queue.Exclusive || t.Mode == queue.Shared)
	}) {
		return second.Exec(program, argv, lockEnviron(t.Inside), nil)
	}
	wait := &lockWait{call: c, locks: l, id: id, began: time.Now()}
	// What the process was started to ignore, as by nohup, stays ignored.
	ctx, stop := onSignal(ctx, slices.DeleteFunc(append([]os.Signal{syscall.SIGQUIT}, endings...), signal.Ignored)...)
	hold, err := wait.acquire(ctx, t)
	stop()
	if ended := interrupted(ctx, nil); ended != nil {
		if hold != nil {
			hold.Release()
		}
		return ended
	}
	if err != nil {
		return err
	}
	return second.Exec(program, argv, lockEnviron(append(t.Inside, locks.RefTo(id, &hold.Ticket).String())), hold)
}

// lockLine returns what the command line names: the command, which must stand behind --,
// and the lock.
func lockLine(c *cli.Invocation) ([]string, locks.ID, error) {
	id := locks.ID{Name: c.Arg("name"), Scope: locks.Machine}
	argv, err := commandLine(c, "tt lock run "+id.Name)
	if err != nil {
		return nil, id, err
	}
	if !locks.ValidName(id.Name) {
		return nil, id, badName(c, "lock", id.Name, "").With("argument", "name")
	}
	if c.Bool("machine") {
		return argv, id, nil
	}
	w, err := locateArg(c)
	if err != nil {
		return argv, id, err
	}
	if id.Scope = locks.Repository(w); c.Bool("tree") {
		id.Scope = locks.TreeOf(w)
	}
	return argv, id, nil
}

// badName refuses what cannot be the name of a lock or a job.
func badName(c *cli.Invocation, what, name, besides string) *code.Error {
	return c.Usagef("%q cannot be the name of a %s", shortened(name), what).
		WithHint("use lower-case letters and digits, and . _ - behind the first; 64 at most%s", besides)
}

// openLocks returns the locks of the data directory and the caller.
func openLocks(c *cli.Invocation) (*locks.Locks, identity.Agent, error) {
	table := processes(c)
	self, err := session.Caller(c, table)
	if err != nil {
		return nil, self, err
	}
	store, err := openStore(c)
	return &locks.Locks{Store: store, Table: table}, self, err
}

// findProgram looks the command up as a shell does, before any waiting.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) { // PATH has a relative directory, as the user wanted
		err = nil
	}
	if err == nil {
		return path, nil
	}
	status, problem := statusNotFound, "there is no command"
	if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
		status, problem = statusCannotRun, "this is no program that can be run:"
	}
	return "", cli.Fail(status, code.New(code.Usage, "%s %s", problem, name).Because(err))
}

// notRun says of an error that the command was not run because of it.
func notRun(err error) error {
	var coded *code.Error
	if !errors.As(err, &coded) || coded.Code == code.Usage || coded.Code == code.LockCycle {
		return err
	}
	said := *coded
	said.Message = "the command was not run, because the lock cannot be taken: " + coded.Message
	return &said
}

// lockEnviron returns the environment of a command that runs under the locks.
func lockEnviron(refs []string) []string {
	return jobs.Environ(locks.Variable + "=" + strings.Join(refs, " "))
}

// sayAgain is how often a wait that does not change is reported.
const sayAgain = 30 * time.Second

// A lockWait waits for a lock and reports it on standard error.
type lockWait struct {
	call  *cli.Invocation
	locks *locks.Locks
	id    locks.ID
	began time.Time

	last   lockProgress // as it was seen last
	said   string       // what the last line was about
	saidAt time.Time
}

// A lockProgress is how a wait stands.
type lockProgress struct {
	Lock     string            `json:"lock"`
	Status   string            `json:"status"` // waiting, held
	Ahead    *int              `json:"ahead,omitempty"`
	Holder   *locks.TicketView `json:"holder,omitempty"`
	WaitedMS *int64            `json:"waited_ms,omitempty"`
}

// acquire waits for the lock. Its errors say that the command was not run.
func (w *lockWait) acquire(ctx context.Context, t *queue.Ticket) (*queue.Hold, error) {
	q, err := w.locks.Queue(w.id)
	if err != nil {
		return nil, notRun(err)
	}
	patience := time.Duration(-1)
	if w.call.Given("timeout") {
		patience = w.call.Duration("timeout")
	}
	hold, err := q.Acquire(ctx, t, queue.Options{
		Patience: patience,
		Look:     func(me *queue.Ticket, others []*queue.Entry) error { return w.look(me, others, patience) },
	})
	if err != nil {
		return nil, w.refused(err, q.Dir, patience)
	}
	if w.said != "" {
		waited := time.Since(w.began).Milliseconds()
		w.print(lockProgress{Lock: w.id.Name, Status: "held", WaitedMS: &waited},
			fmt.Sprintf("lock %s is yours after %s", w.id.Name, cli.Duration(time.Since(w.began).Round(100*time.Millisecond))))
	}
	return hold, nil
}

// refused explains the error of a wait for the lock, whose tickets are in dir.
func (w *lockWait) refused(err error, dir string, patience time.Duration) error {
	stuck := (*lockfile.BusyError)(nil) // the mutex of the queue
	switch {
	case errors.As(err, &stuck):
		return cli.Fail(statusLockBusy, w.busy(max(patience, stuck.Waited.Round(time.Second)), stuck))
	case errors.Is(err, queue.ErrTimeout):
		return cli.Fail(statusLockBusy, w.busy(patience, nil))
	case errors.Is(err, queue.ErrNoNumber):
		return notRun(code.New(code.CorruptRoom, "a process has the last ticket number of the lock: %v", err).
			WithHint("tickets count up from 1, so another program has made that file; move it away").With("path", dir).Because(err))
	case errors.Is(err, queue.ErrTicketLost):
		return notRun(code.New(code.DataDirUnusable, "another program has removed the ticket of this process in %s", dir).Because(err).
			WithHint("leave the directory alone while locks are used, and run the command again"))
	}
	return notRun(w.locks.Store.Explain(err, dir))
}

// look reports the progress, and refuses a wait that would never end.
func (w *lockWait) look(me *queue.Ticket, others []*queue.Entry, patience time.Duration) error {
	if by, circle := w.locks.Circle(w.id, me, others); circle {
		e := code.New(code.LockCycle, "waiting for lock %s would never end: those before it wait for lock %s, which this "+
			"command has", w.id.Name, by.Name)
		if by == w.id {
			e = code.New(code.LockCycle, "waiting for lock %s would never end: this command runs under it already", w.id.Name)
		}
		return e.With("lock", w.id.Name).With("held", by.Name).WithHint("take several locks in the same order everywhere; an " +
			"exclusive lock inside of a shared one is not had")
	}
	ahead := 0
	p := lockProgress{Lock: w.id.Name, Status: string(queue.Waiting), Ahead: &ahead}
	for _, b := range queue.Blockers(me, others) {
		switch {
		case b.State == queue.Waiting:
			ahead++
		case p.Holder == nil:
			p.Holder = locks.ViewOf(b)
		}
	}
	if w.last = p; patience != 0 {
		w.say(p)
	}
	return nil
}

// say prints a line if it is about another number of processes ahead or another holder than the last one, or that is old.
func (w *lockWait) say(p lockProgress) {
	about := fmt.Sprint(*p.Ahead)
	if p.Holder != nil {
		about += fmt.Sprint(" ", p.Holder.Ticket, p.Holder.Process)
	}
	now := w.call.Env.Now()
	if w.said == about && now.Sub(w.saidAt) < sayAgain {
		return
	}
	w.said, w.saidAt = about, now
	text := "waits for lock " + w.id.Name
	if why := p.words(now); why != "" {
		text += ": " + why
	}
	w.print(p, text)
}

// words says what a wait waits for.
func (p lockProgress) words(now time.Time) string {
	var parts []string
	if p.Holder != nil {
		parts = append(parts, holderWords(p.Holder, now))
	}
	if p.Ahead != nil && *p.Ahead > 0 {
		parts = append(parts, fmt.Sprintf("%d before you", *p.Ahead))
	}
	return strings.Join(parts, "; ")
}

// print prints a line, unless its reader would have to be waited for.
func (w *lockWait) print(p lockProgress, text string) {
	if !w.call.Out.CanRemarkNow() {
		return
	}
	line := w.call.Program.Name + ": " + cli.Line(text) + "\n"
	if w.call.JSON {
		line = cli.JSONLine(p) + "\n"
	}
	_, _ = io.WriteString(w.call.Env.Stderr, line)
}

// busy is the error of a wait that has lasted too long. stuck is set if the queue itself was waited for.
func (w *lockWait) busy(patience time.Duration, stuck *lockfile.BusyError) error {
	e := code.New(code.LockBusy, "lock %s was not to be had in %s", w.id.Name, cli.Duration(patience)).
		With("lock", w.id.Name).With("waited_ms", time.Since(w.began).Milliseconds())
	why, stopped := w.last.words(w.call.Env.Now()), 0
	if h := w.last.Holder; h != nil {
		e.With("holder", h)
		if h.Process == string(queue.Stopped) {
			stopped = h.PID
		}
	}
	if stuck != nil {
		why = "its queue is locked"
		if h := stuck.Holder; h != nil {
			why += " by " + h.String()
			if h.State == "stopped" {
				stopped = h.PID
			}
		}
	}
	if why != "" {
		e.Message += ": " + why
	}
	hint := "tt lock list"
	if stopped != 0 {
		hint += fmt.Sprintf("; a stopped holder: kill -CONT %d", stopped)
	}
	if w.last.Ahead != nil {
		e.With("ahead", *w.last.Ahead)
	}
	return e.WithHint("%s", hint)
}
