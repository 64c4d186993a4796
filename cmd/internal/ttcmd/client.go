package ttcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
)

type snapshot = fsroom.Snapshot[*turn.State]

func openStore(c *cli.Invocation) (*fsroom.Store, error) {
	return openPatientStore(c, 0, !c.Cmd.Traits.Offline && !forPrompt(c))
}

// openPatientStore is openStore for a command that waits for a lock for so long, 0 for as long
// as commands do. With asks an engine is asked; else its rooms are as this host knows them.
func openPatientStore(c *cli.Invocation, patience time.Duration, asks bool) (*fsroom.Store, error) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err != nil {
		return nil, err
	}
	warn := c.Notice
	if forPrompt(c) { // a prompt has no place for warnings
		warn = nil
	}
	patience = cmp.Or(build.Patience, patience)
	options := fsroom.Options{Warn: warn, LeaveModes: c.Cmd.Traits.LeaveModes, Fault: build.AtStep, Patience: patience}
	if m := machine(c); m != nil {
		m.Options(&options)
	}
	if store, err := sharedStore(c, dir, options, asks); store != nil || err != nil {
		return store, err
	}
	return fsroom.Open(dir, options)
}

// newClient returns the client for the caller.
func newClient(c *cli.Invocation) (*member.Client, error) {
	store, err := openStore(c) // first: it says what this host is called, which is part of an identity
	if err != nil {
		return nil, err
	}
	table := processes(c)
	self, err := session.Caller(c, table)
	if err != nil {
		return nil, err
	}
	return clientFor(c, store, table, self), nil
}

func clientFor(c *cli.Invocation, store *fsroom.Store, table identity.Table, self identity.Agent) *member.Client {
	client := &member.Client{
		Store: store, Table: table, Self: self, Dir: c.Env.Dir,
		Policy:     func() (turn.Policy, error) { return turn.NewPolicy(c.Env.Lookup, store.IsShared(), cli.ParseDuration) },
		Executable: c.Env.Executable,
		Warn:       c.Notice,
		Record:     changes.Recorder(ledgerSetting(c)),
	}
	withHosts(c, client)
	if m := machine(c); m != nil {
		client.Clock, client.Machine = m.Clock, m.Machine
	}
	if c.Cmd.Traits.Silent || forPrompt(c) {
		return client
	}
	// Variables that nothing else refuses count as unset, for what they say.
	if mode := c.Env.Lookup(changes.Variable); mode != "" && ledgerSetting(c).Mode == "" {
		c.Notice(fmt.Sprintf("%s=%s is ignored: it is one of %s", changes.Variable, mode, strings.Join(turn.LedgerModes(), ", ")))
	}
	if err := hearing.CheckBudget(); err != nil {
		c.Notice(code.MessageOf(err) + fmt.Sprintf(", such as %d/10m, which counts instead", hearing.MostWakes))
	}
	return client
}

// openRoom returns the room of the command line and the room as it was read, or room_not_found.
func openRoom(c *cli.Invocation) (*member.Room, *snapshot, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, nil, err
	}
	return client.Open(locateArg(c))
}

// viewRoom is openRoom for commands that show the room: it records the presence of the caller.
func viewRoom(ctx context.Context, c *cli.Invocation) (*member.Room, *snapshot, error) {
	r, snap, err := openRoom(c)
	if err == nil && c.Has("fresh") {
		snap, err = r.FS.Confirm(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	r.RecordPresence(ctx, snap.State)
	return r, snap, nil
}

// openHistory is openRoom for commands that read events. With ended it may also be a
// room that has ended, whose events are in the archive.
func openHistory(c *cli.Invocation, ended bool) (*member.Room, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	open := client.Open
	if ended {
		open = client.OpenPast
	}
	r, seen, err := open(locateArg(c))
	if err == nil && seen == nil {
		c.Warn("the room at %s has ended; this is its history", r.Directory())
	}
	return r, err
}

// pathArg is the last argument of most commands.
var pathArg = cli.Arg{Name: "path", Optional: true, Usage: session.Usage}

var (
	counted   = code.Count
	shortened = topic.Clip // to the length of a line in a menu
)

// endings are the signals with which people and harnesses end a command.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// onSignal returns a context that ends when one of the signals arrives, and a function that
// ends it before and gives the signals their usual effect again. The signal is the context's
// cause, see [signalOf]; once the function has returned, none is on its way to it. A second
// signal ends the process, as usual.
func onSignal(ctx context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	arrived, done := make(chan os.Signal, 1), make(chan struct{})
	if len(signals) > 0 { // none stands for all
		signal.Notify(arrived, signals...)
	}
	go func() {
		defer close(done)
		select {
		case s, ok := <-arrived:
			if !ok {
				return
			}
			cancel(caught{s})
			interruptHosts()
		case <-ctx.Done():
		}
		signal.Stop(arrived)
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(arrived)
		close(arrived)
		<-done
		cancel(nil)
	})
}

// caught is the cause of a context that a signal ended.
type caught struct{ os.Signal }

func (c caught) Error() string { return "ended by the signal " + c.String() }

// signalOf returns the signal that ended ctx, which [onSignal] made or one derived from
// it, and nil if no signal did.
func signalOf(ctx context.Context) os.Signal {
	var c caught
	if errors.As(context.Cause(ctx), &c) {
		return c.Signal
	}
	return nil
}

// interrupted returns the error with which a command ends: the exit status of the
// signal that ended ctx, or err. It keeps an err that the signal did not cause.
func interrupted(ctx context.Context, err error) error {
	s, ok := signalOf(ctx).(syscall.Signal)
	var failure *code.Error
	if !ok || (errors.As(err, &failure) && !errors.Is(err, context.Canceled)) {
		return err
	}
	return cli.Exit(128 + int(s))
}

// failedBySignal returns err, which is printed, with the exit status of the signal that ended ctx, if one did.
func failedBySignal(ctx context.Context, err error) error {
	if s, ok := signalOf(ctx).(syscall.Signal); ok && err != nil {
		return cli.Fail(128+int(s), err)
	}
	return err
}

// untilReaderGone returns a context that ends when nobody reads from out any
// more, also while nothing is written to it.
func untilReaderGone(ctx context.Context, out io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	f, ok := out.(*os.File)
	if !ok {
		return ctx, cancel
	}
	fd := int32(f.Fd())
	go func() {
		// Asking for no event still reports errors and hang-ups, which for a pipe
		// is the end of its reader. A regular file never has one.
		set := []unix.PollFd{{Fd: fd}}
		for ctx.Err() == nil {
			n, err := unix.Poll(set, -1)
			if err == unix.EINTR {
				continue
			}
			if err == nil && n > 0 && set[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
				cancel()
			}
			return
		}
	}()
	return ctx, cancel
}
