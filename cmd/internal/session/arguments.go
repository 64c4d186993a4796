// Package session finds, once in each process, what is to be known before a room is opened:
// who calls, the data directory, the workspace and the engine of its rooms. All programs
// use it.
package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
)

// Flag declares --path, the other way to name the workspace.
func Flag(f *cli.Flags) {
	f.Word("path", "DIR", "the workspace, instead of the argument or the current directory")
	f.Word("room", "NAME", "with an engine: the name of the room, or @ and its room_id; see tt help hosts")
}

// Usage describes the optional argument "path", the last one of most commands.
const Usage = "a directory of the workspace, or a file in it (default: the current directory)"

// Locate returns the workspace that the command line names, see [LocatePath].
func Locate(c *cli.Invocation) (*workspace.Workspace, error) {
	path, err := Given(c)
	if err != nil {
		return nil, err
	}
	return LocatePath(c.Env, path)
}

// Given returns the path that the command line names, "" for none.
func Given(c *cli.Invocation) (string, error) {
	arg := ""
	for _, a := range c.Cmd.Args {
		if a.Name == "path" {
			arg = a.Name
		}
	}
	return Path(c, arg)
}

// LocatePath returns the workspace of a path, see [workspace.Locate]. Only the shell
// still knows the name of a current directory that was removed.
func LocatePath(env *cli.Env, path string) (*workspace.Workspace, error) {
	w, err := workspace.Locate(path, env.Dir, env.Home)
	var gone *code.Error
	if pwd := env.Lookup("PWD"); w == nil && env.Dir == "" && filepath.IsAbs(pwd) && errors.As(err, &gone) {
		gone.WithHint("go to another directory, or name the workspace with --path; it may have been %s", pwd).With("path", pwd)
	}
	return w, err
}

// Path returns the path named by --path or by the argument, "" for neither. An empty
// arg stands for no argument.
func Path(c *cli.Invocation, arg string) (string, error) {
	if arg != "" && c.HasArg(arg) {
		if c.Given("path") {
			return "", c.Usagef("the path was given twice: as %q and as --path %q", c.Arg(arg), c.String("path"))
		}
		return c.Arg(arg), nil
	}
	return c.String("path"), nil
}

// Caller resolves the identity of the caller.
func Caller(c *cli.Invocation, table identity.Table) (identity.Agent, error) {
	if c.Given("agent") && c.Agent == "" {
		return identity.Agent{}, identity.ValidateAgentID("")
	}
	return identity.Resolve(IdentityEnv(c.Env, c.Agent != ""), table, c.Agent)
}

// IdentityEnv returns what decides the identity. An id that was given needs no look
// into the user database.
func IdentityEnv(env *cli.Env, given bool) identity.Env {
	if given || strings.TrimSpace(env.Lookup("TT_HARNESS_AGENT_ID")) != "" {
		host, _ := os.Hostname()
		return identity.Env{Lookup: env.Lookup, Home: env.Home, Host: host}
	}
	e := identity.SystemEnv()
	e.Lookup, e.Home = env.Lookup, env.Home
	return e
}

// InHarness reports whether a harness runs this process: results are JSON then by default.
func InHarness(env *cli.Env) bool {
	_, ok := identity.HarnessByEnvironment(identity.Env{Lookup: env.Lookup})
	return ok
}
