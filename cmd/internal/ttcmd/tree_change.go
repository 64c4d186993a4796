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
	"github.com/talking-stick/tt/fsroom/ledger"
)

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
	return p.Do(ctx, x)
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
		if len(r.Kept) == 0 {
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
	if r.From != "" && slices.ContainsFunc(r.Kept, func(k ledger.Conflict) bool { return k.Why == ledger.ConflictInTheWay }) {
		t.Line("What is in the way goes with: tt restore %s --exact", r.From)
	}
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
