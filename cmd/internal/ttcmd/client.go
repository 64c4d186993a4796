package ttcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
)

type snapshot = fsroom.Snapshot[*turn.State]

// identityEnv returns what decides the identity. An id that was given needs no look
// into the user database.
func identityEnv(env *cli.Env, given bool) identity.Env {
	if given || env.Lookup("TT_HARNESS_AGENT_ID") != "" {
		host, _ := os.Hostname()
		return identity.Env{Lookup: env.Lookup, Home: env.Home, Host: host}
	}
	e := identity.SystemEnv()
	e.Lookup, e.Home = env.Lookup, env.Home
	return e
}

// caller resolves the identity of the caller.
func caller(c *cli.Invocation, table identity.Table) (identity.Agent, error) {
	if c.Given("agent") && c.Agent == "" {
		return identity.Agent{}, identity.ValidateAgentID("")
	}
	return identity.Resolve(identityEnv(c.Env, c.Agent != ""), table, c.Agent)
}

func openStore(c *cli.Invocation) (*fsroom.Store, error) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err != nil {
		return nil, err
	}
	warn := c.Notice
	if forPrompt(c) { // a prompt has no place for warnings
		warn = nil
	}
	return fsroom.Open(dir, fsroom.Options{Warn: warn, LeaveModes: c.Cmd.Name == doctorName, Fault: atStep})
}

// atStep is called before each step of a change that touches the disk. It is nil
// outside tests, where it holds a command up at a chosen step.
var atStep func(fsroom.Step) error

// newClient returns the client for the caller.
func newClient(c *cli.Invocation) (*member.Client, error) {
	table := identity.System()
	self, err := caller(c, table)
	if err != nil {
		return nil, err
	}
	store, err := openStore(c)
	if err != nil {
		return nil, err
	}
	return clientFor(c, store, table, self), nil
}

func clientFor(c *cli.Invocation, store *fsroom.Store, table identity.Table, self identity.Agent) *member.Client {
	return &member.Client{
		Store: store, Table: table, Self: self,
		Policy:     func() (turn.Policy, error) { return policyFromEnv(c.Env.Lookup) },
		Executable: c.Env.Executable,
		Warn:       c.Notice,
	}
}

// openRoom returns the room of the command line, or room_not_found.
func openRoom(c *cli.Invocation) (*member.Room, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	return client.Open(locateArg(c))
}

// viewRoom is openRoom for commands that show the room: it returns the room's state
// too, and records the presence of the caller.
func viewRoom(ctx context.Context, c *cli.Invocation) (*member.Room, *turn.State, error) {
	r, err := openRoom(c)
	if err != nil {
		return nil, nil, err
	}
	snap, err := r.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	r.RecordPresence(ctx, snap.State)
	return r, snap.State, nil
}

// openHistory is openRoom for commands that read events. With ended it may also be a
// room that has ended, whose events are in the archive.
func openHistory(c *cli.Invocation, ended bool) (*member.Room, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	w, missing := locateArg(c)
	r, err := client.Open(w, missing)
	if err == nil || !ended || w == nil {
		return r, err
	}
	if past := client.OpenEnded(w); past != nil {
		c.Warn("the room at %s has ended; this is its history", past.Directory())
		return past, nil
	}
	return nil, err
}

// pathFlag declares --path, the other way to name the workspace.
func pathFlag(f *cli.Flags) {
	f.String("path", "DIR", "the workspace, instead of the argument or the current directory")
}

// pathArg is the optional last argument of most commands.
func pathArg() cli.Arg {
	return cli.Arg{Name: "path", Optional: true, Usage: "a directory of the workspace, or a file in it (default: the current directory)"}
}

// locateArg returns the workspace that the command line names, see [locate].
func locateArg(c *cli.Invocation) (*workspace.Workspace, error) {
	arg := ""
	for _, a := range c.Cmd.Args {
		if a.Name == "path" {
			arg = a.Name
		}
	}
	path, err := givenPath(c, arg)
	if err != nil {
		return nil, err
	}
	return locate(c.Env, path)
}

// locate returns the workspace of a path, see [workspace.Locate]. Only the shell still
// knows the name of a current directory that was removed.
func locate(env *cli.Env, path string) (*workspace.Workspace, error) {
	w, err := workspace.Locate(path, env.Dir, env.Home)
	var gone *code.Error
	if pwd := env.Lookup("PWD"); w == nil && env.Dir == "" && filepath.IsAbs(pwd) && errors.As(err, &gone) {
		gone.WithHint("go to another directory, or name the workspace with --path; it may have been %s", pwd).With("path", pwd)
	}
	return w, err
}

// givenPath is the path named by --path or by the argument, "" for neither.
func givenPath(c *cli.Invocation, arg string) (string, error) {
	given := c.Given("path")
	if arg != "" && c.HasArg(arg) {
		if given {
			return "", c.Usagef("the path was given twice: as %q and as --path %q", c.Arg(arg), c.String("path"))
		}
		return nonEmpty(c, c.Arg(arg))
	}
	if given {
		return nonEmpty(c, c.String("path"))
	}
	return "", nil
}

func nonEmpty(c *cli.Invocation, path string) (string, error) {
	if path == "" {
		return "", c.Usagef("the path is empty")
	}
	return path, nil
}
