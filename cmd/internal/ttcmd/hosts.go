package ttcmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
)

// sharedStore is openStore for a command whose rooms an engine shares: it opens the
// mirrors of this host. A program without engines becomes the one that has them. The store is nil if none does.
//
// Commands that must not wait for a network, such as a shell prompt or a guard of edits, see the
// mirror alone.
func sharedStore(c *cli.Invocation, dataDir string, o fsroom.Options, asks bool) (*fsroom.Store, error) {
	service, err := engineOf(c)
	switch {
	case err != nil:
		return nil, err
	case service == nil && c.Has("room"):
		c.Notice("--room names a room that several hosts share; without " + hosts.EngineVariable + " this is the room of this host alone")
		return nil, nil
	case service == nil:
		return nil, nil
	case build.Sharing == nil:
		return nil, becomeEngine(c, service)
	}
	// What is recorded of the tree is all on this host, and these only show it.
	lists := c.Declares("lost") && !c.Bool("lost") && !c.HasArg("snapshot")
	waits := c.Has("wait")
	follows := c.Cmd.Streams && (waits || c.Has("follow"))
	meanwhile := ""
	switch {
	case follows:
		meanwhile = "what happens is shown when it can again"
	case (c.Cmd.Traits.LastKnown || lists || c.Has("verified")) && !waits:
		meanwhile = "this is what this host knew last"
	}
	if meanwhile != "" || c.Declares("fresh") && !c.Bool("fresh") {
		warn := sync.OnceFunc(func() {
			if meanwhile != "" {
				c.Notice("the engine cannot be reached: " + meanwhile)
			}
		})
		o.Behind = func(error) bool { warn(); return true }
	}
	store, err := build.Sharing.Open(service, dataDir, o, !asks)
	if err == nil {
		clock := build.Sharing.Clock(store)
		c.Env.Now = func() time.Time { return clock().Wall.Time } // what the rooms say of times is by it
	}
	return store, err
}

// withWayOut adds to the error of an engine that cannot be reached how lost work comes back without it.
func withWayOut(c *cli.Invocation, client *member.Client, err error) error {
	var e *code.Error
	if !fsroom.IsUnreachable(err) || !errors.As(err, &e) {
		return err
	}
	hint := "nothing was changed; tt restore lists what there is, also now"
	if client.IsHuman() && c.Env.Lookup(hosts.EngineVariable) != "" {
		hint += "; a person who knows that nobody writes brings it back without asking who holds the turn: " +
			hosts.EngineVariable + "= tt restore --lost"
	}
	return e.WithHint("%s", hint)
}

// freshFlag declares --fresh. Commands that have it show the mirror while the engine cannot
// be reached.
func freshFlag(f *cli.Flags) {
	f.Bool("fresh", "with an engine: ask a majority of its servers, and fail without their answer")
}

// view returns the room, with --fresh as a majority of the engine's servers have it.
func view(ctx context.Context, c *cli.Invocation, r *member.Room) (*snapshot, error) {
	if c.Has("fresh") {
		return r.FS.Confirm(ctx)
	}
	return r.FS.View()
}

// A lastKnown says, in the result of a command, that it shows the room as this host knew
// it last.
type lastKnown struct {
	AsOf    *event.Time `json:"as_of,omitzero"`
	Warning string      `json:"warning,omitempty"`
}

// knownOf returns since when rooms are not known to be up to date, by that of which it is the longest ago, and warns of it. It
// is zero for rooms whose engine was reached.
func knownOf(c *cli.Invocation, rooms ...*member.Room) (k lastKnown) {
	var since time.Time
	for _, r := range rooms {
		if at, away := r.Unreachable(); away != nil && (k.Warning == "" || !at.IsZero() && (since.IsZero() || at.Before(since))) {
			k.Warning, since = "the engine is "+member.SinceWords(away)+"; this is what this host knew last", at
		}
	}
	switch {
	case k.Warning == "":
	case since.IsZero():
		c.Warn("%s", k.Warning)
	default:
		asOf := event.NewTime(since)
		k.AsOf = &asOf
		c.Warn("%s, %s", k.Warning, cli.Relative(since, c.Env.Now()))
	}
	return k
}

// checkShared checks the engine of the store, if it has one, and the mirrors of the rooms, or with nil of all.
func (x *doctorRun) checkShared(ctx context.Context, c *cli.Invocation, store *fsroom.Store, rooms []string) {
	if !store.IsShared() {
		return
	}
	h := build.Sharing.Check(ctx, store, rooms, x.repair, x.open)
	x.Shared = &h
	x.Problems = append(x.Problems, h.Problems...)
	if err := h.Unsafe(); err != nil {
		x.Hints = append(x.Hints, err.Message+" ("+string(err.Code)+"): "+err.Hint)
	}
	if _, err := locatePath(c, ""); code.Of(err) == code.NoSharedIdentity {
		x.Hints = append(x.Hints, err.Error()+`: other commands fail here; see "tt help hosts"`)
	}
}

// engineOf returns the engine of the command's rooms, nil if they are those of this host.
func engineOf(c *cli.Invocation) (*hosts.Service, error) {
	if c.Cmd.Traits.HostOnly {
		return nil, nil
	}
	path := ""
	if c.Declares("path") {
		path, _ = session.Given(c) // a path that is refused is refused when the room is opened
	}
	s := session.Of(c, path)
	return s.Engine, s.NoEngine
}

// becomeEngine becomes the program that has the engine, with the same command line. It
// returns only if that failed.
func becomeEngine(c *cli.Invocation, service *hosts.Service) error {
	path, err := second.Find(c.Env, second.Engines)
	if err != nil {
		return hosts.Missing(service)
	}
	payload, ok := c.Env.Stdin.(*bytes.Reader)
	if !ok {
		return second.Become(c, path, c.Program.Name)
	}
	cmd := second.Command(context.Background(), c.Program, path, c.Env.Args...) // a hook has read its input
	cmd.Args[0], cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Program.Name, payload, os.Stdout, os.Stderr
	_ = cmd.Run()
	os.Exit(max(0, cmd.ProcessState.ExitCode()))
	return nil
}

// becomeBeforeInput becomes the program that has the engine, if there is one, before
// a command reads standard input: another program could not read it again.
func becomeBeforeInput(c *cli.Invocation) {
	if build.Sharing != nil || !c.Has("stdin") {
		return
	}
	if service, err := engineOf(c); err == nil && service != nil {
		_ = becomeEngine(c, service) // the command itself says why that is not possible
	}
}

// programName returns the name of this program: tt, or that of the one with engines.
func programName() string {
	if build.Sharing != nil {
		return second.Engines
	}
	return second.TT
}

// withHosts gives a client of rooms that an engine shares the engine's clock, and what keeps their mirrors up to date.
func withHosts(c *cli.Invocation, client *member.Client) {
	client.Elsewhere = func(root string) bool {
		s := session.Find(c.Env, root, "")
		return s.Engine != nil || s.NoEngine != nil
	}
	if build.Sharing != nil && client.Store.Options().Host != "" {
		client.Clock, client.Pull = build.Sharing.Clock(client.Store), build.Sharing.Listen
	}
}

// tellHosts gives what is still to be told to other hosts the time to reach the engine. After a
// signal, of which the status is 128 and its number, there is little.
func tellHosts(status int) {
	patience := 2 * time.Second
	if status > 128 {
		patience = 20 * time.Millisecond
	}
	if build.Sharing != nil {
		build.Sharing.Finish(patience)
	}
}

// interruptHosts says that a signal has ended the command.
func interruptHosts() {
	if build.Sharing != nil {
		build.Sharing.Interrupt()
	}
}

// locatePath returns the workspace of a path, with the name that all hosts know its room by
// if an engine shares it.
func locatePath(c *cli.Invocation, path string) (*workspace.Workspace, error) {
	if c.Cmd.Traits.HostOnly {
		return session.LocatePath(c.Env, path)
	}
	s := session.Of(c, path)
	switch {
	case s.Workspace == nil:
		return nil, s.Missing
	case s.NoEngine != nil:
		return s.Workspace, s.NoEngine
	case s.Engine == nil:
		return s.Workspace, s.Missing
	case build.Sharing == nil:
		return s.Workspace, becomeEngine(c, s.Engine)
	}
	if err := s.Share(c.Env, build.Sharing); err != nil {
		return s.Workspace, err
	}
	s.Workspace.Outer = func() *workspace.Workspace { return build.Sharing.Outer(s.Workspace.Root, c.Env.Home) }
	return s.Workspace, s.Missing
}

// locateArg returns the workspace that the command line names, see [locatePath].
func locateArg(c *cli.Invocation) (*workspace.Workspace, error) {
	path, err := session.Given(c)
	if err != nil {
		return nil, err
	}
	return locatePath(c, path)
}
