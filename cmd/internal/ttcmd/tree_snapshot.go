package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
)

var snapshotCommand = &cli.Command{
	Name:  "snapshot",
	Short: "record the tree as it is now",
	Long: "Turns are recorded by themselves. This is for a moment in between, before something risky. " +
		"Ignored files, and files such as .env that git does not track, are never read.",
	Examples: []cli.Example{{Line: "tt snapshot && ./migrate.sh", What: "tt restore brings back what it breaks"}},
	Flags: func(f *cli.Flags) {
		f.String("note", "TEXT", "what it is for")
		pathFlag(f)
	},
	Errors: []code.Code{code.LedgerOff, code.ApplyFailed},
	Run:    runSnapshot,
}

// A snapshotResult is a snapshot that was taken.
type snapshotResult struct {
	Snapshot string           `json:"snapshot"`
	Tree     string           `json:"tree"`
	Files    int              `json:"files"`
	LeftOut  []ledger.LeftOut `json:"left_out,omitempty"`
}

func runSnapshot(ctx context.Context, c *cli.Invocation) error {
	v, err := openTree(ctx, c)
	if err != nil {
		return err
	}
	const longest = 500
	if len(c.String("note")) > longest {
		return c.Usagef("--note has more than %d bytes", longest)
	}
	r := ledger.Request{Why: ledger.WhyPerson, Agent: v.client.Self.ID, Note: c.String("note"), Line: c.Given("note")}
	if v.state != nil && v.state.Owner != "" {
		r.Turn = v.state.Turn
	}
	s, err := v.Tree.Ledger.Take(ctx, r)
	if err != nil {
		return explainTree(err)
	}
	res := snapshotResult{s.Name(), s.Tree.String(), s.Files, s.LeftOut}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("%s: %s. To return: tt restore %s --exact", s.Name(), counted(s.Files, "file"), s.Name())
		writeLeftOut(t, s.LeftOut)
	})
}
