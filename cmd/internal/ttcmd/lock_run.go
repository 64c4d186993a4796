package ttcmd

import (
	"context"
	"encoding/json"
	"errors"
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
		return nil, id, c.Usagef("%q cannot be the name of a lock", shortened(id.Name)).
			WithHint("use lower-case letters and digits, and . _ - behind the first; 64 at most").With("argument", "name")
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
