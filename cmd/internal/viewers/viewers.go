// Package viewers declares the commands that are not in tt itself but in a second
// program, tt-console: what they are called, their flags and their help. tt declares
// them to check a command line, to complete it and to explain it, and then starts
// tt-console with the same line; tt-console runs them. See docs/architecture.md for why
// there are two programs.
package viewers

import (
	"context"
	_ "embed"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/session"
)

// Pages are what the help says of the commands.
//
//go:embed help.txt
var Pages string

// A Run carries a command out.
type Run = func(context.Context, *cli.Invocation) error

// Console declares the operator console.
func Console(run Run) *cli.Command {
	return &cli.Command{
		Name: "console",
		Args: []cli.Arg{{Name: "path", Optional: true, Usage: session.Usage}},
		Flags: func(f *cli.Flags) {
			f.Bool("read-only", "only look")
			f.Bool("ascii", "draw with ASCII characters")
			session.Flag(f)
		},
		Run: run,
	}
}

// Report declares the report.
func Report(run Run) *cli.Command {
	return &cli.Command{
		Name: "report",
		Args: []cli.Arg{{Name: "path", Optional: true, Usage: session.Usage}},
		Flags: func(f *cli.Flags) {
			f.StringP("output", "o", "FILE|-", "where to write it; - is standard output")
			f.Bool("open", "open it in the browser")
			f.Duration("since", "D", 0, "only what happened in this time")
			f.Bool("all", "the earlier lives of the room too")
			f.Bool("redact", "put its length for every text")
			f.Choice("format", "FORMAT", []string{"html", "json", "trace"}, "a page, its data, or events for ui.perfetto.dev")
			session.Flag(f)
		},
		Run: run,
	}
}
