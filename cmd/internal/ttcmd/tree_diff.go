package ttcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

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
	Short: "what a turn changed in the tree, whatever tool changed it",
	Long: "Compares the tree at the beginning of the turn with that at its end, and shows what changed while it was held: who " +
		"held it is known, who wrote is not. Reads only.",
	Examples: []cli.Example{
		{Line: "tt diff last --stat"},
		{Line: "tt diff 7 src/", What: "what turn 7 changed below src"},
		{Line: "tt diff --outside", What: "what changed before this turn, or since the last turn ended"},
		{Line: "tt diff --since-mine", What: "who changed what since your last turn"},
		{Line: "tt diff --file src/parser.go", What: "the turns that changed a file, newest first"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("patch", "every changed line (default at a terminal); to read it, or for git apply, with --text")
		f.Bool("stat", "files and numbers of lines")
		f.Bool("name-only", "names of files")
		f.Bool("outside", "what changed between the turn before and this one; without TURN, before the one in progress, or since the last")
		f.Bool("since-mine", "each turn, and each stretch between turns, since the end of your last one")
		f.String("file", "FILE", "the turns that changed a file, newest first")
		pathFlag(f)
	},
	Exclusive: [][2]string{{"patch", "stat"}, {"patch", "name-only"}, {"stat", "name-only"}, {"file", "since-mine"}, {"file", "outside"},
		{"file", "patch"}, {"since-mine", "outside"}, {"since-mine", "patch"}},
	Errors: []code.Code{code.NoSnapshot, code.LedgerOff},
	Run:    runDiff,
}

// A diffResult has one object for each stretch of time.
type diffResult struct {
	Changes        []*ledger.Changes `json:"changes"`
	Patch          string            `json:"patch,omitempty"`
	PatchTruncated bool              `json:"patch_truncated,omitempty"`
}

func runDiff(ctx context.Context, c *cli.Invocation) error {
	v, err := openTree(ctx, c)
	if err != nil {
		return err
	}
	if c.Given("file") {
		return v.turnsOf(ctx, c, c.String("file"))
	}
	args := c.Rest("file")
	if c.Bool("since-mine") && c.HasArg("turn") { // it takes no turn
		args = append([]string{c.Arg("turn")}, args...)
	}
	files, err := v.files(c, args)
	if err != nil {
		return err
	}
	if c.Bool("since-mine") {
		return v.sinceMine(ctx, c, files)
	}
	s, err := v.spanNamed(ctx, c)
	if err != nil {
		return v.orRenamed(c, err)
	}
	view, err := v.viewOf(ctx, &s)
	if err != nil {
		return err
	}
	defer view.Close()
	found, err := view.Changes(s.from, s.to, files, 0)
	if err != nil {
		return err
	}
	found.Span, found.Turn, found.Agent, found.TreeID = s.name, s.turn, s.agent, v.Tree.ID()
	res := diffResult{Changes: []*ledger.Changes{found}}
	if c.Bool("patch") || c.Env.StdoutTTY && !c.Out.JSON() && !c.Bool("stat") && !c.Bool("name-only") {
		if res.Patch, res.PatchTruncated, err = view.Patch(s.from, s.to, files); err != nil {
			return err
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
func (v *treeView) spanNamed(ctx context.Context, c *cli.Invocation) (span, error) {
	arg := c.Arg("turn")
	if !c.Bool("outside") {
		if _, ok := ledger.ParseName(arg); ok {
			s, err := v.snapshotNamed(c, arg)
			return span{name: ledger.SpanSnapshot, from: s}, err
		}
		if arg == "" {
			arg = "last"
			if v.state != nil && v.state.Owner != "" {
				arg = "now"
			}
		}
		return v.turnNamed(ctx, c, arg)
	}
	if arg == "" {
		return v.outsideNow(ctx, c)
	}
	s, err := v.turnNamed(ctx, c, arg)
	if err != nil {
		return s, err
	}
	start := s.from
	s.name, s.agent, s.from, s.to = ledger.SpanOutside, "", nil, start
	for _, snap := range v.all {
		if (snap.Why == ledger.WhyEnd || snap.Why == ledger.WhyTakeover) && snap.Turn < start.Turn {
			s.from, s.turn = snap, snap.Turn
		}
	}
	switch {
	case s.from == nil && start.Turn == 1:
		return s, v.noSnapshot("never", "no turn ended before turn 1").WithHint("tt diff 1")
	case s.from == nil:
		return s, v.noTurn(start.Turn - 1)
	}
	return s, nil
}

// outsideNow returns the stretch of time since the last turn ended.
func (v *treeView) outsideNow(ctx context.Context, c *cli.Invocation) (span, error) {
	s, err := v.turnNamed(ctx, c, "last")
	s.from, s.to = s.to, nil
	if err == nil && v.state != nil && v.state.Owner != "" { // the turn in progress is not outside
		var now span
		now, err = v.turnNamed(ctx, c, "now")
		s.to = now.from
	}
	s.name, s.agent = ledger.SpanOutside, ""
	return s, err
}

// outsideText says in one line what changed since the last turn ended, "" if nothing did, or if
// it cannot be said in the time that a release would wait.
func outsideText(ctx context.Context, c *cli.Invocation, room *member.Room, st *turn.State) string {
	if c.Out.JSON() {
		return ""
	}
	v, err := treeOf(c, room, st)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(v.state.Policy.LedgerWait)*time.Millisecond)
	defer cancel()
	s, err := v.outsideNow(ctx, c)
	if err != nil {
		return ""
	}
	view, err := v.viewOf(ctx, &s)
	if err != nil {
		return ""
	}
	defer view.Close()
	found, err := view.Changes(s.from, s.to, nil, 1)
	if err != nil || found.IsEmpty() {
		return ""
	}
	found.Span, found.Turn = s.name, s.turn
	return changesLine(found) + " (tt diff --outside)"
}

// viewOf returns a view in which a stretch of time can be compared, and scans the tree if it
// lasts until now.
func (v *treeView) viewOf(ctx context.Context, s *span) (*ledger.View, error) {
	if s.to != nil {
		return v.Tree.Ledger.Recorded(), nil
	}
	view, err := v.lookNow(ctx)
	if err == nil {
		s.to = view.Now
	}
	return view, err
}

// spansAfter returns the turns that are recorded after one, and the stretches between them and until now, oldest first.
// The end of a stretch that lasts until now is nil.
func (v *treeView) spansAfter(turnID int64) (spans []span) {
	current := int64(0)
	if v.state != nil && v.state.Owner != "" {
		current = v.state.Turn
	}
	_, before := ledger.TurnOf(v.all, turnID)
	for _, s := range v.all {
		if s.Why != ledger.WhyStart || s.Turn <= turnID || len(spans) > 0 && spans[len(spans)-1].turn >= s.Turn {
			continue
		}
		start, end := ledger.TurnOf(v.all, s.Turn)
		if before != nil {
			spans = append(spans, span{name: ledger.SpanOutside, turn: before.Turn, from: before, to: start})
		}
		if before = end; end != nil || s.Turn == current {
			spans = append(spans, span{name: ledger.SpanTurn, turn: s.Turn, agent: s.Agent, from: start, to: end})
		}
		if s.Turn == current {
			spans[len(spans)-1].to, before = nil, nil
		}
	}
	if before != nil {
		spans = append(spans, span{name: ledger.SpanOutside, turn: before.Turn, from: before})
	}
	return spans
}

// sinceMine says what changed since the end of the caller's last turn, stretch by stretch.
func (v *treeView) sinceMine(ctx context.Context, c *cli.Invocation, files []string) error {
	mine := int64(0)
	for _, s := range v.all {
		if (s.Why == ledger.WhyEnd || s.Why == ledger.WhyTakeover) && s.Agent == v.client.Self.ID {
			mine = max(mine, s.Turn)
		}
	}
	if _, err := v.turnNamed(ctx, c, "last"); err != nil {
		return v.orRenamed(c, err)
	}
	if mine == 0 {
		return v.orRenamed(c, v.noSnapshot("never", "no turn of %s has ended here, as far as is recorded", v.client.Self.ID).WithHint("tt diff last"))
	}
	view, err := v.lookNow(ctx)
	if err != nil {
		return err
	}
	defer view.Close()
	res := diffResult{Changes: []*ledger.Changes{}}
	for _, s := range v.spansAfter(mine) {
		if s.to == nil {
			s.to = view.Now
		}
		found, err := view.Changes(s.from, s.to, files, 0)
		if err != nil {
			return err
		}
		if found.IsEmpty() || s.agent == v.client.Self.ID {
			continue
		}
		found.Span, found.Turn, found.Agent, found.TreeID = s.name, s.turn, s.agent, v.Tree.ID()
		res.Changes = append(res.Changes, found)
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
func (v *treeView) turnsOf(ctx context.Context, c *cli.Invocation, arg string) error {
	if c.HasArg("turn") {
		return c.Usagef("--file is about all turns: give no TURN with it")
	}
	if len(v.all) == 0 {
		return v.orRenamed(c, v.noTurn(0))
	}
	paths, err := v.files(c, []string{arg})
	if err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(v.Tree.Ledger.Root(), paths[0])); err == nil && info.IsDir() {
		return c.Usagef("%q is a directory: name a file of it", arg).WithHint("what a turn changed there: tt diff TURN %s", code.ShellWord(arg))
	}
	view, err := v.lookNow(ctx)
	if err != nil {
		return err
	}
	defer view.Close()
	res := fileResult{File: ledger.Printable(paths[0]), Turns: []fileTurn{}}
	for _, s := range v.spansAfter(0) {
		if s.to == nil {
			s.to = view.Now
		}
		p, err := view.ChangeOf(s.from, s.to, paths[0])
		switch {
		case err != nil:
			return explainTree(err)
		case p == nil:
		case s.name == ledger.SpanOutside:
			res.Outside++
		default:
			res.Turns = append(res.Turns, fileTurn{s.turn, s.agent, event.NewTime(s.to.Time()), p.Status, p.Added, p.Removed, p.Mode})
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
