package ttcmd

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
)

var undoCommand = &cli.Command{
	Name: "undo",
	Args: []cli.Arg{
		{Name: "turn", Usage: "the turn's number, last or now", Missing: "the last turn: tt undo last; which there are: tt log; lost work comes back with tt restore --lost"},
		{Name: "file", Optional: true, Rest: true, Usage: "only these files and directories"},
	},
	Flags: func(f *cli.Flags) {
		f.DryRun()
		f.Bool("yes", "do not ask, also if somebody else holds the stick")
	},
	Run: runUndo,
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
		plan, err := view.PlanUndo(s.From, view.End(s), files)
		return plan, p.OrDamaged(err)
	}
	out, err := changeTree(ctx, c, p, x, false)
	if err != nil {
		return err
	}
	if conflicts := out.Plan.Conflicts; len(conflicts) > 0 {
		return undoConflict(c, p, s.Turn, out.Plan)
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
func undoConflict(c *cli.Invocation, p *changes.Past, turnID int64, plan *ledger.Plan) error {
	conflicts := plan.Conflicts
	var why []string
	for _, x := range conflicts[:min(len(conflicts), 5)] {
		why = append(why, conflictWords(x))
	}
	if len(conflicts) > 5 {
		why = append(why, "…")
	}
	e := code.New(code.UndoConflict, "nothing was undone, because %s of the turn cannot be taken back: %s",
		counted(len(conflicts), "file"), strings.Join(why, "; ")).
		With("turn_id", turnID).With("conflicts", conflicts)
	var rest, paths []string
	for _, s := range plan.Steps {
		path := ledger.Printable(s.Path)
		if !slices.ContainsFunc(conflicts, func(x ledger.Conflict) bool { return x.Path == path }) {
			rest, paths = append(rest, path), append(paths, s.Path)
		}
	}
	slices.Sort(rest)
	const most = 20
	switch n := len(rest); {
	case n == 0:
		return e.WithHint("tt diff %d --patch shows what the turn changed", turnID)
	case n > most:
		return e.WithHint("the other %d can be undone by naming them", n).With("others", rest)
	}
	return e.WithHint("undo the rest: tt undo %d %s", turnID, p.Words(c.Env.Dir, paths)).With("others", rest)
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

// changeTree carries out an undo or a restore. With ask a person is asked once the plan was shown, also where nobody holds
// the stick.
func changeTree(ctx context.Context, c *cli.Invocation, p *changes.Past, x changes.Change, ask bool) (*ledger.Outcome, error) {
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	x.Dry = c.Bool("dry-run")
	x.Force = func(plan *ledger.Plan) error {
		if p.Holder() == "" && !ask || c.Bool("yes") {
			return nil
		}
		return confirm(c, x.What, plan, p.Holder())
	}
	out, err := p.Do(ctx, x)
	_ = p.Ledger.WasPutBack() // it was said, see openTree
	return out, failedBySignal(ctx, err)
}

// confirm asks the person at the terminal whether the tree is to be changed.
func confirm(c *cli.Invocation, what string, p *ledger.Plan, holder string) error {
	if !c.Env.StdinTTY || !c.Env.StderrTTY {
		if holder == "" {
			return nil
		}
		return member.HeldByOther(holder)
	}
	c.Out.TellNotices()
	for i, s := range p.Steps {
		if i == 20 {
			c.Notice(fmt.Sprintf("… and %d more", len(p.Steps)-i))
			break
		}
		c.Notice(ledger.Printable(s.Path))
	}
	question := fmt.Sprintf("%s changes %s.", what, counted(len(p.Steps), "file"))
	if holder != "" {
		question += " " + holder + " holds the stick."
	}
	c.Notice(question + " Go on? [y/N]")
	answer, _ := bufio.NewReader(c.Env.Stdin).ReadString('\n')
	if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		return cli.Exit(1)
	}
	return nil
}

// A changedResult is what both commands say of a change.
type changedResult struct {
	Status  string            `json:"status"`
	Turn    int64             `json:"turn_id,omitempty"`
	From    string            `json:"snapshot,omitempty"`
	Paths   []string          `json:"paths"`
	Written []string          `json:"written"`
	Removed []string          `json:"removed"`
	Merged  []string          `json:"merged"`
	Kept    []ledger.Conflict `json:"kept"`
	Git     int               `json:"git_moved,omitempty"` // of an undo: paths that git moved, which stay
	Commits int               `json:"commits_kept"`
	Before  string            `json:"before,omitempty"`
	After   string            `json:"after,omitempty"`

	Damaged    int                `json:"damaged,omitempty"`     // snapshots that were left out
	InProgress string             `json:"in_progress,omitempty"` // what git is in the middle of
	Unrecorded *ledger.Unrecorded `json:"unrecorded,omitempty"`  // of a restore: what has gone and is in no snapshot
	NoGit      bool               `json:"repository_gone,omitempty"`
	Blind      bool               `json:"commits_unread,omitempty"` // of restore --lost: see [ledger.Plan]
	Elsewhere  []string           `json:"elsewhere,omitempty"`      // directories that are gone and have snapshots, where this one has none
}

// resultOf fills in what became of a change. done is the status of one that was made.
func resultOf(out *ledger.Outcome, done string, dry bool) changedResult {
	r := changedResult{Status: done, Paths: changes.StepPaths(out.Plan.Steps), Written: []string{}, Removed: []string{},
		Merged: []string{}, Kept: append([]ledger.Conflict{}, out.Plan.Kept...), Damaged: out.Plan.Damaged, InProgress: out.InProgress}
	for _, s := range out.Plan.Steps {
		path := ledger.Printable(s.Path)
		if slices.Contains(out.Plan.Merged, s.Path) {
			r.Merged = append(r.Merged, path)
		}
		if s.To.Mode != 0 {
			r.Written = append(r.Written, path)
		} else {
			r.Removed = append(r.Removed, path)
		}
	}
	switch {
	case len(out.Plan.Steps) == 0:
		r.Status = "nothing"
	case dry:
		r.Status = "planned"
	}
	if out.Before != nil {
		r.Before = out.Before.Name()
	}
	if out.After != nil {
		r.After = out.After.Name()
	}
	return r
}

// writeChanged writes what became of a change, and the way back.
func writeChanged(t *cli.Text, r changedResult, verb string) {
	switch r.Status {
	case "nothing":
		if len(r.Kept) == 0 && r.Git == 0 {
			t.Line("Nothing to do: what is recorded of the tree is so already.")
		}
	case "planned":
		t.Line("Would be %s:", verb)
	default:
		t.Line("%s %s.", strings.ToUpper(verb[:1])+verb[1:], counted(len(r.Paths), "file"))
	}
	for _, p := range r.Written {
		t.Line("  %s", p)
	}
	for _, p := range r.Removed {
		t.Line("  %s  (removed)", p)
	}
	writeKept(t, r.Kept)
	if r.Before != "" {
		t.Line("Before it: %s. To return: tt restore %s --exact", r.Before, r.Before)
	}
	writeBeside(t, r)
}

// writeBeside writes what a restore or an undo does not bring back, and what git is in the middle of.
func writeBeside(t *cli.Text, r changedResult) {
	if r.Damaged > 0 {
		t.Line("%s cannot be read (damaged), and what went after may not be seen: tt doctor", counted(r.Damaged, "snapshot"))
	}
	if u := r.Unrecorded; u != nil {
		words := amounts(amount{u.Ignored, "that git ignores"}, amount{u.Secret, "named like a secret"}, amount{u.TooLarge, "too large"},
			amount{u.Repository, "with a repository of its own"})
		if words != "" {
			t.Line("Gone too, and never recorded: %s.", words)
		}
	}
	if r.NoGit {
		t.Line("The repository (.git) has gone, too: its history is in no snapshot.")
	}
	if what := r.InProgress; what == "bisect" {
		t.Line("git is in the middle of a bisect: git bisect reset ends it, and checks out another commit.")
	} else if what != "" {
		t.Line("git is in the middle of a %s: git %s --continue ends it; --abort would reset the files that were just changed.", what, what)
	}
}

func writeKept(t *cli.Text, kept []ledger.Conflict) {
	for _, k := range kept {
		t.Line("  %s  kept as it is: %s", k.Path, strings.ReplaceAll(k.Why, "_", " "))
	}
}
