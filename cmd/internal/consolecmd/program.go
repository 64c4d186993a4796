// Package consolecmd is the table of the commands of tt-console. How they are called is
// declared in package viewers, which tt uses too; each has a package of its own.
package consolecmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/console"
	"github.com/talking-stick/tt/cmd/internal/report"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/cmd/internal/viewers"
)

// Main runs the command that the command line names and ends the process.
func Main(version, commit string) {
	cli.Execute(program(second.Caller() != "", version, commit))
}

// program returns the table of commands. If tt has started this program, errors and
// hints are those of tt, because that is what the user has typed.
func program(byTT bool, version, commit string) *cli.Program {
	name := second.Console
	if byTT {
		name = "tt"
	}
	return &cli.Program{
		Name: name, Version: version, Commit: commit,
		Short:  "the part of Talking Stick that people look at",
		Long:   `The commands "tt console" and "tt report". This program reads rooms, and changes them only by running tt.`,
		Pages:  []string{viewers.Pages},
		Agents: true,
		Groups: []cli.Group{{Title: "inspection", Commands: []*cli.Command{viewers.Console(console.Run), viewers.Report(report.Run)}}},
		Before: func(_ context.Context, c *cli.Invocation) {
			if skew := second.Skew(c.Program, second.Console); skew != "" {
				c.Notice(skew)
			}
		},
		DefaultJSON: session.InHarness,
	}
}
