package ttcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A treeChange is an undo or a restore, as a command line asks for it.
type treeChange struct {
	change ledger.Change
	span   string
	turn   int64  // of an undo
	what   string // "undo of turn 7"
	ask    bool   // at a terminal, once the plan was shown
}

// do carries a change out: for the holder of the turn, or for a person. Where nobody holds, the room is locked while the
// change writes: nobody is granted the turn, hooks refuse, and whoever is next, and the handoff that waits, stay.
func (v *treeView) do(ctx context.Context, c *cli.Invocation, x treeChange) (*ledger.Outcome, error) {
	holder := ""
	if v.state != nil {
		holder = v.state.Owner
	}
	x.change.Agent = v.client.Self.ID
	if holder != "" {
		x.change.Turn = v.state.Turn
	}
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	mine := holder == v.client.Self.ID && holder != ""
	x.change.Still = func() error {
		if signalOf(ctx) != nil { // what was changed is put back
			return context.Cause(ctx)
		}
		if !mine {
			return nil
		}
		return v.room.StillHolds(v.state.Fence())
	}
	if err := x.change.Still(); err != nil && !x.change.Dry {
		return nil, err
	}
	if !mine && !x.change.Dry {
		if !v.client.IsHuman() {
			return nil, v.notHolder()
		}
		dry := x
		dry.change.Dry = true
		out, err := v.carryOut(ctx, dry)
		if err != nil || len(out.Plan.Conflicts) > 0 || len(out.Plan.Steps) == 0 {
			return out, err
		}
		if err := v.mayForce(c, x, out.Plan, holder); err != nil {
			return nil, err
		}
	}
	if v.room != nil && holder == "" && v.state.Open {
		x.change.Within = func(write func() (*ledger.Outcome, error)) error {
			var out *ledger.Outcome
			return v.room.WithoutHolder(ctx, func() (err error) { out, err = write(); return err },
				func(st *turn.State) []event.Event { return v.events(st, x, out) })
		}
	}
	return v.carryOut(ctx, x)
}

// notHolder refuses a change to an agent without the turn.
func (v *treeView) notHolder() error {
	if v.room != nil {
		return turn.NoActiveLease(v.state, v.room.Facts(v.state), v.client.Self.ID)
	}
	return code.New(code.NoActiveLease, "only the holder of the turn changes the tree").WithHint(`wait for it with "tt wait"`)
}

// carryOut does what is planned, records it in the room, and explains what went wrong.
func (v *treeView) carryOut(ctx context.Context, x treeChange) (*ledger.Outcome, error) {
	out, err := v.Tree.Ledger.Do(ctx, x.change)
	if err != nil {
		return out, v.explainChange(err, out)
	}
	if v.room != nil && out.Changes != nil && x.change.Within == nil {
		_ = v.room.Append(ctx, func(st *turn.State) ([]event.Event, error) { return v.events(st, x, out), nil })
		v.tellHolder(ctx, x, out)
	}
	return out, nil
}

// events says in the room what a change has changed, if that is known.
func (v *treeView) events(st *turn.State, x treeChange, out *ledger.Outcome) []event.Event {
	if out.Changes == nil {
		return nil
	}
	f := *out.Changes
	f.Span, f.OfTurn, f.TreeID, f.Agent = x.span, x.turn, v.Tree.ID(), v.client.Self.ID
	if x.span == ledger.SpanRestore && out.Plan.Lost != nil {
		f.OfSnapshot = out.Plan.Lost.Name()
	}
	return v.Tree.Events(st, v.state.Turn, v.client.Self.ID, &f)
}

// mayForce asks a person before the tree is changed under a holder, or before a restore of
// what was lost.
func (v *treeView) mayForce(c *cli.Invocation, x treeChange, p *ledger.Plan, holder string) error {
	if holder == "" && !x.ask || c.Bool("yes") {
		return nil
	}
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
	question := fmt.Sprintf("%s changes %s.", x.what, counted(len(p.Steps), "file"))
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

// tellHolder sends a message to somebody who holds the stick while a person changes the tree.
func (v *treeView) tellHolder(ctx context.Context, x treeChange, out *ledger.Outcome) {
	holder := v.state.Owner
	if holder == "" || holder == v.client.Self.ID {
		return
	}
	paths := slices.DeleteFunc(stepPaths(out.Plan.Steps), func(path string) bool {
		return v.Tree.Mode == turn.LedgerCounts || ledger.IsSecretPath(path)
	})
	body := fmt.Sprintf("I did this in your turn: %s, before it was %s. Files:", x.what, out.Before.Name())
	for i, path := range paths { // those of an event, of which a message that is too long would not be sent at all
		if i == 50 || len(body)+len(path)+len(", and 1000000 more") > turn.MaxMessage {
			paths = paths[:i]
			break
		}
		if i > 0 {
			body += ","
		}
		body += " " + path
	}
	if more := len(out.Plan.Steps) - len(paths); len(paths) == 0 {
		body += fmt.Sprintf(" %d", more)
	} else if more > 0 {
		body += fmt.Sprintf(" and %d more", more)
	}
	request := turn.MessageRequest{Agent: v.client.Self.ID, To: holder, Body: body, Interrupt: true}
	_, _, _ = v.room.UpdateAsPerson(ctx, nil, func(st *turn.State, f turn.Facts) ([]event.Event, error) { return turn.Send(st, f, request) })
}

// explainChange gives an error of a change its code.
func (v *treeView) explainChange(err error, out *ledger.Outcome) error {
	var failed *ledger.ApplyError
	if !errors.As(err, &failed) {
		return explainTree(err)
	}
	if refusal := (*code.Error)(nil); errors.As(failed.Err, &refusal) {
		if out != nil && out.Before != nil {
			refusal.With("before", out.Before.Name())
		}
		if slices.Contains([]code.Code{code.NoActiveLease, code.LockTimeout, code.NoSnapshot}, refusal.Code) { // nothing was written
			return refusal
		}
		return refusal.WithHint("what was written is put back; tt why says who has the turn")
	}
	e := code.New(code.ApplyFailed, "%s could not be changed: %v; what was written is put back", failed.Path, failed.Err).
		WithHint("mend the cause and try again").With("path", failed.Path).With("error", failed.Err.Error())
	if errors.Is(err, ledger.ErrChanging) {
		e = code.New(code.TreeChanging, "%s changes at this moment; what was written is put back", failed.Path).
			WithHint("try again when nothing else writes").With("paths", []string{failed.Path})
	}
	if out != nil && out.Before != nil {
		e.With("before", out.Before.Name())
	}
	return e.Because(err)
}

func stepPaths(steps []ledger.Step) []string {
	paths := make([]string, 0, len(steps))
	for _, s := range steps {
		paths = append(paths, ledger.Printable(s.Path))
	}
	slices.Sort(paths)
	return paths
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
func (v *treeView) resultOf(out *ledger.Outcome, done string, dry bool) changedResult {
	r := changedResult{Status: done, Paths: stepPaths(out.Plan.Steps), Written: []string{}, Removed: []string{},
		Merged: []string{}, Kept: append([]ledger.Conflict{}, out.Plan.Kept...), Damaged: out.Plan.Damaged, InProgress: v.inProgress}
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
