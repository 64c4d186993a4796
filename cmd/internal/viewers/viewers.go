// Package viewers declares the commands that are not in tt itself but in a second
// program, tt-console: what they are called, their flags and their help. tt declares
// them to check a command line, to complete it and to explain it, and then starts
// tt-console with the same line; tt-console runs them. See docs/architecture.md for why
// there are two programs.
package viewers

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
)

// A Run carries a command out.
type Run = func(context.Context, *cli.Invocation) error

// Console declares the operator console.
func Console(run Run) *cli.Command {
	return &cli.Command{
		Name:  "console",
		Args:  []cli.Arg{{Name: "path", Optional: true, Usage: session.Usage}},
		Short: "watch the rooms in the terminal, and step in",
		Long: "Shows every room, and one of them in full: who has the stick, members, journal, questions, notes. What its keys change " +
			"it changes by running tt. With a path it opens that room. It acts as a person, also inside a harness. The program is tt-console.",
		Flags: func(f *cli.Flags) {
			f.Bool("read-only", "only look")
			f.Bool("ascii", "draw with ASCII characters")
			session.Flag(f)
		},
		Errors: []code.Code{code.RoomNotFound, code.ConsoleNotInstalled},
		Run:    run,
	}
}

// Report declares the report.
func Report(run Run) *cli.Command {
	return &cli.Command{
		Name:  "report",
		Args:  []cli.Arg{{Name: "path", Optional: true, Usage: session.Usage}},
		Short: "write the room's history as one HTML page",
		Long: "Who held the stick when, handoffs, takeovers, waits, messages, notes and questions: one file that needs no network. Without -o " +
			"it goes to reports/ in the data directory. A room that has ended is read from the archive. The program is tt-console.",
		Examples: []cli.Example{
			{Line: "tt report --open"},
			{Line: "tt report --redact -o report.html", What: "to pass on: names stay, texts become their lengths"},
			{Line: "tt report --format json -o - | jq .turns", What: "for other tools"},
		},
		Flags: func(f *cli.Flags) {
			f.StringP("output", "o", "FILE|-", "where to write it; - is standard output")
			f.Bool("open", "open it in the browser")
			f.Duration("since", "D", 0, "only what happened in this time")
			f.Bool("all", "the earlier lives of the room too")
			f.Bool("redact", "put its length for every text")
			f.Choice("format", "FORMAT", []string{"html", "json", "trace"}, "a page, its data, or events for ui.perfetto.dev")
			session.Flag(f)
		},
		Errors: []code.Code{code.RoomNotFound, code.CorruptRoom, code.ConsoleNotInstalled},
		Run:    run,
	}
}
