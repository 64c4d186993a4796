package ttcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var diffCommand = &cli.Command{
	Name:  "diff",
	Reads: true,
	Args: []cli.Arg{
		{Name: "turn", Optional: true, Usage: "the turn's number, last or now (default: now if a turn is in progress, else last); " +
			"or a snapshot, as s48: from it until now"},
		{Name: "file", Optional: true, Rest: true, Usage: "only these files and directories"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("patch", "every changed line (default at a terminal); to read it, or for git apply, with --text")
		f.Bool("stat", "files and numbers of lines")
		f.Bool("name-only", "names of files")
		f.Bool("outside", "what changed between the turn before and this one; without TURN, before the one in progress, or since the last")
		f.Bool("since-mine", "each turn, and each stretch between turns, since the end of your last one")
		f.String("file", "FILE", "the turns that changed a file, newest first")
	},
	Exclusive: [][2]string{{"patch", "stat"}, {"patch", "name-only"}, {"stat", "name-only"}, {"file", "since-mine"}, {"file", "outside"},
		{"file", "patch"}, {"since-mine", "outside"}, {"since-mine", "patch"}},
	Traits: cli.Traits{LastKnown: true},
	Run:    runDiff,
}

// A diffResult has one object for each stretch of time.
type diffResult struct {
	Changes        []*ledger.Changes `json:"changes"`
	Patch          string            `json:"patch,omitempty"`
	PatchTruncated bool              `json:"patch_truncated,omitempty"`
}

func runDiff(ctx context.Context, c *cli.Invocation) error {
	p, err := openTree(ctx, c)
	if err != nil {
		return err
	}
	if c.Given("file") {
		return turnsOf(ctx, c, p, c.String("file"))
	}
	args := c.Rest("file")
	if c.Bool("since-mine") && c.HasArg("turn") { // it takes no turn
		args = append([]string{c.Arg("turn")}, args...)
	}
	files, err := p.Files(c.Env.Dir, args)
	if err != nil {
		return err
	}
	if c.Bool("since-mine") {
		return sinceMine(ctx, c, p, files)
	}
	s, err := spanNamed(ctx, c, p)
	if err != nil {
		return p.OrRenamed(c.Env.Home, err)
	}
	view, err := p.Ledger.ViewOf(ctx, s)
	if err != nil {
		return changes.Explain(err)
	}
	defer view.Close()
	found, err := view.ChangesOf(s, files, 0)
	if err != nil {
		return p.OrDamaged(err)
	}
	res := diffResult{Changes: []*ledger.Changes{found}}
	if c.Bool("patch") || c.Env.StdoutTTY && !c.Out.JSON() && !c.Bool("stat") && !c.Bool("name-only") {
		if res.Patch, res.PatchTruncated, err = view.Patch(s.From, view.End(s), files); err != nil {
			return p.OrDamaged(err)
		}
	}
	return c.Out.Result(res, func(t *cli.Text) {
		writeChanges(t, found, c.Bool("name-only"))
		if res.Patch != "" {
			t.Patch(res.Patch)
		}
		if res.PatchTruncated {
			t.Line("The rest is left out; name files to see theirs.")
		}
	})
}

// spanNamed returns the stretch of time that the command line names.
func spanNamed(ctx context.Context, c *cli.Invocation, p *changes.Past) (ledger.Span, error) {
	arg := c.Arg("turn")
	_, isSnapshot := ledger.ParseName(arg)
	switch {
	case c.Bool("outside") && arg == "":
		return p.SinceLast(ctx)
	case c.Bool("outside"):
		s, err := turnNamed(ctx, c, p, arg)
		if err != nil {
			return s, err
		}
		return p.Before(ctx, s)
	case isSnapshot:
		s, err := snapshotNamed(c, p, arg)
		return ledger.Span{Name: ledger.SpanSnapshot, From: s}, err
	case arg == "" && p.Current() != 0:
		return p.Now(ctx)
	case arg == "":
		return p.Last(ctx)
	}
	return turnNamed(ctx, c, p, arg)
}

// outsideText says in one line what changed since the last turn ended, "" if nothing did, or if
// it cannot be said in the time that a release would wait.
func outsideText(ctx context.Context, c *cli.Invocation, room *member.Room, st *turn.State) string {
	if c.Out.JSON() {
		return ""
	}
	p, err := changes.PastOf(room.Client, room, st, "", ledgerSetting(c))
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(st.Policy.LedgerWait)*time.Millisecond)
	defer cancel()
	s, err := p.SinceLast(ctx)
	if err != nil {
		return ""
	}
	view, err := p.Ledger.ViewOf(ctx, s)
	if err != nil {
		return ""
	}
	defer view.Close()
	found, err := view.ChangesOf(s, nil, 1)
	if err != nil || found.IsEmpty() {
		return ""
	}
	return changesLine(found) + " (tt diff --outside)"
}

// sinceMine says what changed since the end of the caller's last turn, stretch by stretch.
func sinceMine(ctx context.Context, c *cli.Invocation, p *changes.Past, files []string) error {
	if _, err := p.LastHere(ctx); err != nil {
		return p.OrRenamed(c.Env.Home, err)
	}
	mine, spans, err := p.SinceMine()
	if err != nil {
		return p.OrRenamed(c.Env.Home, err)
	}
	view, err := p.Look(ctx)
	if err != nil {
		return err
	}
	defer view.Close()
	res := diffResult{Changes: []*ledger.Changes{}}
	for _, s := range spans {
		found, err := view.ChangesOf(s, files, 0)
		if err != nil {
			return p.OrDamaged(err)
		}
		if !found.IsEmpty() && s.Agent != p.Client.Self.ID {
			res.Changes = append(res.Changes, found)
		}
	}
	return c.Out.Result(res, func(t *cli.Text) {
		for _, found := range res.Changes {
			writeChanges(t, found, c.Bool("name-only"))
		}
		if len(res.Changes) == 0 {
			t.Line("Nothing changed since your turn %d.", mine)
		}
	})
}

// A fileTurn is a turn that changed a file.
type fileTurn struct {
	Turn    int64      `json:"turn_id"`
	Agent   string     `json:"agent_id"`
	At      event.Time `json:"at"` // when the turn ended; of the one in progress, now
	Status  string     `json:"status"`
	Added   int        `json:"added,omitempty"`
	Removed int        `json:"removed,omitempty"`
	Mode    string     `json:"mode,omitempty"`
}

// A fileResult is the history of one file.
type fileResult struct {
	File    string     `json:"file"`
	Turns   []fileTurn `json:"turns"`
	Outside int        `json:"outside"` // stretches between turns in which it changed
}

// turnsOf lists the turns that changed a file, newest first.
func turnsOf(ctx context.Context, c *cli.Invocation, p *changes.Past, arg string) error {
	if c.HasArg("turn") {
		return c.Usagef("--file is about all turns: give no TURN with it")
	}
	if len(p.All) == 0 {
		return p.OrRenamed(c.Env.Home, p.NoneEnded())
	}
	paths, err := p.Files(c.Env.Dir, []string{arg})
	if err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(p.Ledger.Root(), paths[0])); err == nil && info.IsDir() {
		return c.Usagef("%q is a directory: name a file of it", arg).WithHint("what a turn changed there: tt diff TURN %s", code.ShellWord(arg))
	}
	view, err := p.Look(ctx)
	if err != nil {
		return err
	}
	defer view.Close()
	res := fileResult{File: ledger.Printable(paths[0]), Turns: []fileTurn{}}
	for _, s := range ledger.Spans(p.All, 0, p.Current()) {
		x, err := view.ChangeOf(s.From, view.End(s), paths[0])
		switch {
		case err != nil:
			return p.OrDamaged(err)
		case x == nil:
		case s.Name == ledger.SpanOutside:
			res.Outside++
		default:
			res.Turns = append(res.Turns, fileTurn{s.Turn, s.Agent, event.NewTime(view.End(s).Time()), x.Status, x.Added, x.Removed, x.Mode})
		}
	}
	slices.Reverse(res.Turns)
	return c.Out.Result(res, func(t *cli.Text) {
		var table cli.Table
		for _, x := range res.Turns {
			table.Row(fmt.Sprintf("turn %d", x.Turn), x.Agent, x.At.Local().Format("2006-01-02 15:04"), fmt.Sprintf("+%d −%d", x.Added, x.Removed),
				pathRemark(ledger.PathChange{Status: x.Status, Mode: x.Mode}))
		}
		t.Table(&table)
		if len(res.Turns) == 0 {
			t.Line("No turn changed %s, as far as is recorded.", res.File)
		}
		if res.Outside > 0 {
			t.Line("Changed outside of turns, too: %s.", counted(res.Outside, "time"))
		}
	})
}
