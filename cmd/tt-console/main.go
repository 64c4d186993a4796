// Command tt-console is the part of Talking Stick that people look at: a console in the
// terminal, and reports. tt starts it for "tt console" and "tt report"; it can also be
// started by itself. It reads rooms, and changes them only by running tt.
package main

import (
	"context"
	"os"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/console"
	"github.com/talking-stick/tt/cmd/internal/viewers"
	"github.com/talking-stick/tt/identity"
)

// The linker sets these.
var version, commit string

func main() { cli.Execute(program(os.Args[0])) }

// program returns the table of commands. If tt has started this program, errors and
// hints are those of tt, because that is what the user has typed.
func program(called string) *cli.Program {
	name := viewers.Program
	if called == "tt" {
		name = called
	}
	return &cli.Program{
		Name: name, Version: version, Commit: commit,
		Short:    "look at rooms of Talking Stick",
		Long:     `The commands "tt console" and "tt report". This program reads rooms, and changes them only by running tt.`,
		Agents:   true,
		Commands: []*cli.Command{viewers.Console(console.Run)},
		Before: func(_ context.Context, c *cli.Invocation) {
			if skew := viewers.Skew(c); skew != "" && c.Cmd.Name != "console" { // which shows it itself
				c.Notice(skew)
			}
		},
		DefaultJSON: func(env *cli.Env) bool {
			_, ok := identity.HarnessByEnvironment(identity.Env{Lookup: env.Lookup})
			return ok
		},
	}
}
