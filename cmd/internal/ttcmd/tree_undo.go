package ttcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
)

var undoCommand = &cli.Command{
	Name: "undo",
	Args: []cli.Arg{
		{Name: "turn", Usage: "the turn's number, last or now", Missing: "the last turn: tt undo last; which there are: tt log; lost work comes back with tt restore --lost"},
		{Name: "file", Optional: true, Rest: true, Usage: "only these files and directories"},
	},
	Short: "take back what a turn changed, and nothing else",
	Long: "Each path that the turn changed becomes what it was before. Lines that were changed since stay; where that cannot " +
		"be, nothing is touched, and the paths are named. A snapshot is taken first, and its name printed: that is the way " +
		"back.\n\n" +
		"Commits, branches and the index stay as they are. For the holder of the turn, or for a person; where nobody holds, nobody is " +
		"given the turn while a person's undo writes. What git moved from commit to commit, as by a switch or a pull, is not the " +
		"turn's, and stays.",
	Examples: []cli.Example{
		{Line: "tt undo 7 --dry-run"},
		{Line: "tt undo last src/", What: "only what is below src"},
	},
	Flags: func(f *cli.Flags) {
		f.DryRun()
		f.Bool("yes", "do not ask, also if somebody else holds the stick")
	},
	Errors: []code.Code{code.NoSnapshot, code.UndoConflict, code.TreeChanging, code.ApplyFailed, code.LedgerOff, code.NoActiveLease},
	Run:    runUndo,
}

func runUndo(ctx context.Context, c *cli.Invocation) error {
	p, err := openTree(ctx, c)
	if err != nil {
		return err
	}
	files, err := p.Files(c.Env.Dir, c.Rest("file"))
	if err != nil {
		return err
	}
	s, err := turnNamed(ctx, c, p, c.Arg("turn"))
	if err != nil {
		return p.OrRenamed(c.Env.Home, err)
	}
	var head *ledger.HeadMove
	x := changes.Change{Span: ledger.SpanUndo, OfTurn: s.Turn, What: fmt.Sprintf("undo of turn %d", s.Turn)}
	x.Why = ledger.WhyUndo
	x.Plan = func(view *ledger.View) (*ledger.Plan, error) {
		if found, err := view.Changes(s.From, view.End(s), []string{"\x00"}, 1); err == nil {
			head = found.Head
		}
		return view.PlanUndo(s.From, view.End(s), files)
	}
	out, err := changeTree(ctx, c, p, x, false)
	if err != nil {
		return err
	}
	if conflicts := out.Plan.Conflicts; len(conflicts) > 0 {
		return undoConflict(s.Turn, out.Plan, conflicts)
	}
	res := resultOf(out, "undone", c.Bool("dry-run"))
	res.Turn, res.Git, res.Commits = s.Turn, out.Plan.Git, out.Plan.Commits
	return c.Out.Result(res, func(t *cli.Text) {
		writeChanged(t, res, "undone")
		if res.Git > 0 {
			t.Line("%s that git moved from commit to commit %s as before.", counted(res.Git, "file"), stay(res.Git))
		}
		switch {
		case res.Commits == 0 || head == nil:
		case out.Plan.Straight && head.From != "":
			t.Line("%s of the turn %s%s; git revert %.7s..%.7s would take them back in history.", counted(res.Commits, "commit"),
				stay(res.Commits), onBranch(head.Branch), head.From, head.To)
		default:
			t.Line("%s of the turn %s in history.", counted(res.Commits, "commit"), stay(res.Commits))
		}
	})
}

// stay is the verb for a number of things.
func stay(n int) string {
	if n == 1 {
		return "stays"
	}
	return "stay"
}

// undoConflict is the refusal of an undo, with the command for what can be undone.
func undoConflict(turnID int64, p *ledger.Plan, conflicts []ledger.Conflict) error {
	var why []string
	for _, x := range conflicts {
		if len(why) == 5 {
			why = append(why, "…")
			break
		}
		why = append(why, conflictWords(x))
	}
	e := code.New(code.UndoConflict, "nothing was undone, because %s of the turn cannot be taken back: %s",
		counted(len(conflicts), "file"), strings.Join(why, "; ")).
		With("turn_id", turnID).With("conflicts", conflicts)
	var rest, words []string
	for _, s := range p.Steps {
		path := ledger.Printable(s.Path)
		if !slices.ContainsFunc(conflicts, func(x ledger.Conflict) bool { return x.Path == path }) {
			rest, words = append(rest, path), append(words, code.ShellWord(s.Path))
		}
	}
	slices.Sort(rest)
	slices.Sort(words)
	const most = 20
	switch n := len(rest); {
	case n == 0:
		return e.WithHint("tt diff %d --patch shows what the turn changed", turnID)
	case n > most:
		return e.WithHint("the other %d can be undone by naming them", n).With("others", rest)
	}
	return e.WithHint("undo the rest: tt undo %d %s", turnID, strings.Join(words, " ")).With("others", rest)
}

func conflictWords(x ledger.Conflict) string {
	words := x.Path + " ("
	switch x.Why {
	case ledger.ConflictChanged:
		words += "changed since"
		if x.Turn > 0 {
			words += fmt.Sprintf(" in turn %d of %s", x.Turn, x.Agent)
		}
		if x.Lines != "" {
			words += ", lines " + x.Lines
		}
	case ledger.ConflictRenamed:
		words += "renamed since to " + x.To
	case ledger.ConflictNoBefore:
		words += "it is not known what it was before"
	default:
		words += strings.ReplaceAll(x.Why, "_", " ")
	}
	return words + ")"
}
