package ttcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/journal/event"
)

var restoreCommand = &cli.Command{
	Name: "restore",
	Args: []cli.Arg{
		{Name: "snapshot", Optional: true, Usage: "which one, as s48; without, the snapshots are listed"},
		{Name: "file", Optional: true, Rest: true, Usage: "only these files and directories"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("lost", "bring back what was lost last")
		f.Bool("exact", "remove files that the snapshot has not")
		f.DryRun()
		f.Bool("yes", "do not ask, also if somebody else holds the stick")
		f.Int64("limit", "N", defaultSnapshots, "how many are listed")
	},
	Exclusive: [][2]string{{"lost", "exact"}},
	Run:       runRestore,
}

const defaultSnapshots = 20

func runRestore(ctx context.Context, c *cli.Invocation) error {
	if c.Int64("limit") < 1 {
		return c.Usagef("--limit must be at least 1")
	}
	p, err := openTree(ctx, c)
	if err != nil {
		return err
	}
	args := c.Rest("file")
	if c.HasArg("snapshot") && c.Bool("lost") {
		args = append([]string{c.Arg("snapshot")}, args...)
	}
	files, err := p.Files(c.Env.Dir, args)
	if err != nil {
		return err
	}
	x := changes.Change{Span: ledger.SpanRestore}
	var plan func(view *ledger.View) (*ledger.Plan, error)
	switch {
	case c.Bool("lost"):
		x.What = "restore of what was lost"
		plan = func(view *ledger.View) (*ledger.Plan, error) { return view.PlanLost(files) }
	case c.HasArg("snapshot"):
		s, err := snapshotNamed(c, p, c.Arg("snapshot"))
		if err != nil {
			return p.OrRenamed(c.Env.Home, err)
		}
		x.What = "restore of " + s.Name()
		plan = func(view *ledger.View) (*ledger.Plan, error) {
			found, err := view.PlanRestore(s, files, c.Bool("exact"))
			if found != nil {
				found.Lost = s
			}
			return found, p.OrDamaged(err)
		}
	default:
		if c.Bool("exact") || c.Bool("dry-run") {
			return c.Usagef("say which snapshot: without one, they are listed")
		}
		c.Out.Reads()
		return listSnapshots(ctx, c, p)
	}
	var unrecorded ledger.Unrecorded
	var noGit bool
	x.Why = ledger.WhyRestore
	x.Plan = func(view *ledger.View) (*ledger.Plan, error) {
		found, err := plan(view)
		if err == nil {
			if since := cmp.Or(found.Lost, p.Began(), last(view.All)); since != nil {
				unrecorded, noGit = view.Unrecorded(since)
			}
		}
		return found, err
	}
	out, err := changeTree(ctx, c, p, x, c.Bool("lost"))
	if err != nil {
		return err
	}
	res := resultOf(out, "restored", c.Bool("dry-run"))
	res.Unrecorded, res.NoGit, res.Elsewhere, res.Blind = &unrecorded, noGit, p.Renamed(c.Env.Home), out.Plan.Blind
	if out.Plan.Lost != nil {
		res.From = out.Plan.Lost.Name()
	}
	inTheWay := p.Words(c.Env.Dir, out.Plan.InTheWay)
	return c.Out.Result(res, func(t *cli.Text) {
		if c.Bool("lost") && res.Status == "nothing" {
			writeNothingLost(t, out.Plan, p.All, inTheWay)
			writeElsewhere(t, p, res.Elsewhere)
			writeBeside(t, res)
			return
		}
		writeChanged(t, res, "restored")
		switch {
		case len(out.Plan.InTheWay) == 0:
		case c.Bool("exact"): // it is ignored, or no file
			t.Line("Move away what is in the way, and run the same command again: %s", inTheWay)
		default:
			t.Line("What is in the way goes with: tt restore %s --exact %s", res.From, inTheWay)
		}
	})
}

// writeElsewhere writes what to do where the tree was renamed.
func writeElsewhere(t *cli.Text, p *changes.Past, roots []string) {
	if len(roots) > 0 {
		t.Line("But %s.", p.RenamedWords(roots))
	}
}

// writeNothingLost says why --lost changes nothing.
func writeNothingLost(t *cli.Text, p *ledger.Plan, all []*ledger.Snapshot, inTheWay string) {
	writeKept(t, p.Kept)
	kept := func(why string) bool {
		return slices.ContainsFunc(p.Kept, func(k ledger.Conflict) bool { return k.Why == why })
	}
	none := "No uncommitted work went, as far as is recorded. What was written over: tt restore, then tt restore SNAPSHOT FILE."
	switch {
	case p.Went() > 0:
		t.Line("%s went, and something else is in the way of all of it: tt restore %s --exact %s", counted(p.Went(), "file"), p.Lost.Name(), inTheWay)
		return
	case kept(ledger.KeptDamaged):
		none = "What is damaged cannot come back. Nothing else went, as far as is recorded. Git may have what was staged: git fsck --lost-found"
	case kept(ledger.KeptIgnored):
		none = "What git ignores is left alone: take it out of .gitignore, then tt restore SNAPSHOT FILE. Nothing else went, as far as is recorded."
	case kept(ledger.KeptStashed):
		t.Line("What is stashed comes back with: git stash pop")
	}
	t.Line("%s", none)
	if p.Blind {
		t.Line("Git stores files here by a filter, or with SHA-256: what went back to what a commit has is not seen, but is in the list: tt restore")
	}
	if s := last(all); s == nil {
		t.Line("Nothing is recorded here yet.")
	} else {
		t.Line("The last snapshot is %s, of %s: what was written after it and went is not in any.", s.Name(), s.Time().Local().Format("2006-01-02 15:04:05"))
	}
}

// last returns the last of snapshots, nil if there is none.
func last(all []*ledger.Snapshot) *ledger.Snapshot {
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// A snapshotEntry is a line of the list.
type snapshotEntry struct {
	Snapshot string             `json:"snapshot"`
	At       event.Time         `json:"at"`
	Why      string             `json:"why"`
	Turn     int64              `json:"turn_id,omitempty"`
	Agent    string             `json:"agent_id,omitempty"`
	Tree     string             `json:"tree"`
	Note     string             `json:"note,omitempty"`
	Differs  ledger.Differences `json:"differs"`
	Went     int                `json:"went_after,omitempty"` // files that went after it, in the last loss
	LeftOut  int                `json:"left_out,omitempty"`
	Damaged  bool               `json:"damaged,omitempty"` // a directory of it cannot be read
}

// A snapshotsResult lists snapshots, the newest first.
type snapshotsResult struct {
	Snapshots []snapshotEntry `json:"snapshots"`
	More      int             `json:"more"`
	Damaged   int             `json:"damaged,omitempty"`   // snapshots that cannot be read
	Elsewhere []string        `json:"elsewhere,omitempty"` // see changedResult
}

func listSnapshots(ctx context.Context, c *cli.Invocation, p *changes.Past) error {
	view, err := p.Look(ctx)
	if err != nil {
		return err
	}
	defer view.Close()
	res := snapshotsResult{Snapshots: []snapshotEntry{}}
	limit := int(min(c.Int64("limit"), int64(len(p.All))))
	lost, err := view.PlanLost(nil)
	if err != nil {
		return err
	}
	all := slices.Clone(p.All)
	slices.SortStableFunc(all, func(a, b *ledger.Snapshot) int { return cmp.Compare(a.At, b.At) }) // one may be recorded late
	for _, s := range slices.Backward(all[len(all)-limit:]) {
		e := snapshotEntry{Snapshot: s.Name(), At: event.NewTime(s.Time()), Why: s.Why, Turn: max(0, s.Turn), Agent: s.Agent,
			Tree: s.Tree.String(), Note: s.Note, LeftOut: len(s.LeftOut)}
		e.Differs, err = view.Differs(s)
		e.Damaged = err != nil // the others can be had
		if lost.Lost != nil && lost.Lost.Number == s.Number {
			e.Went = lost.Went()
		}
		res.Snapshots = append(res.Snapshots, e)
	}
	res.More, res.Damaged = len(p.All)-len(res.Snapshots), lost.Damaged
	res.Elsewhere = p.Renamed(c.Env.Home)
	return c.Out.Result(res, func(t *cli.Text) {
		writeSnapshots(t, res)
		writeElsewhere(t, p, res.Elsewhere)
		writeBeside(t, changedResult{Damaged: res.Damaged})
	})
}

func writeSnapshots(t *cli.Text, r snapshotsResult) {
	if len(r.Snapshots) == 0 {
		t.Line("No snapshot yet: the first is taken when a turn is asked for, or by tt snapshot.")
		return
	}
	var table cli.Table
	for _, s := range r.Snapshots {
		differs, mark := differWords(s.Differs), ""
		switch {
		case s.Damaged:
			differs, mark = "", "damaged"
		case s.Went > 0:
			mark = fmt.Sprintf("← %s went after this one", counted(s.Went, "file"))
		}
		table.Row(s.Snapshot, s.At.Local().Format("2006-01-02 15:04:05"), snapshotWords(s), differs, t.Red(mark))
	}
	t.Table(&table)
	if r.More > 0 {
		t.Line("%d older: --limit", r.More)
	}
	t.Line("Bring back what went: tt restore --lost     One of these: tt restore %s", r.Snapshots[0].Snapshot)
}

func snapshotWords(s snapshotEntry) string {
	words := map[string]string{"first": "before the first turn", "start": "beginning of turn %d", "end": "end of turn %d",
		"takeover": "end of turn %d, taken over", "person": "tt snapshot", "guard": "before a write in turn %d", "tick": "during turn %d",
		"job":         "after a job that passed",
		"before_undo": "before an undo", "before_restore": "before a restore", "undo": "after an undo", "restore": "after a restore"}[s.Why]
	switch {
	case words == "":
		words = s.Why
	case s.Why == ledger.WhyGuard && s.Turn == 0:
		words = "before a command"
	}
	turn := fmt.Sprintf("turn %d", s.Turn)
	if s.Turn == 0 {
		turn = "a turn of another room"
	}
	words = strings.ReplaceAll(words, "turn %d", turn)
	if s.Agent != "" {
		words += ", " + s.Agent
	}
	if s.Note != "" {
		words += ": " + s.Note
	}
	return words
}

func differWords(d ledger.Differences) string {
	return cmp.Or(amounts(amount{d.Missing, "missing"}, amount{d.Changed, "changed"}, amount{d.Added, "new"}), "as now")
}

// An amount is how many there are of something.
type amount struct {
	n    int
	what string
}

// amounts names those of which there are some.
func amounts(all ...amount) string {
	var words []string
	for _, x := range all {
		if x.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	return strings.Join(words, ", ")
}
