package ttcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
)

// openTree returns the tree of the command line. There need not be a room; of one the presence
// of the caller is recorded.
func openTree(ctx context.Context, c *cli.Invocation) (*changes.Past, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	w, missing := locateArg(c)
	room, snap, err := client.Find(w, missing)
	if err != nil {
		return nil, withWayOut(c, client, err)
	}
	var st *turn.State
	if room != nil {
		st = snap.State
		room.RecordPresence(ctx, st)
	}
	p, err := changes.PastOf(client, room, st, w.Root, ledgerSetting(c))
	switch {
	case err != nil:
	case p.Ledger.Interrupted() && !p.Ledger.Changing():
		c.Notice("an undo or restore was killed half-way: before the tree is recorded again, as by tt snapshot, what it changed is put back")
	case p.Ledger.WasPutBack():
		c.Notice("an undo or restore was killed half-way: what it changed has been put back")
	}
	return p, err
}

// turnNamed returns the turn that an argument names: a number, last or now.
func turnNamed(ctx context.Context, c *cli.Invocation, p *changes.Past, arg string) (ledger.Span, error) {
	switch n, err := strconv.ParseInt(arg, 10, 64); {
	case arg == "now":
		return p.Now(ctx)
	case arg == "last":
		return p.Last(ctx)
	case err != nil || n < 1:
		return ledger.Span{}, c.Usagef("%q is no turn: give its number, last or now", arg).
			WithHint("of the last one: tt %s last %s", c.Cmd.Name, code.ShellWord(arg))
	default:
		return p.Turn(ctx, n)
	}
}

// snapshotNamed returns the snapshot that an argument names.
func snapshotNamed(c *cli.Invocation, p *changes.Past, arg string) (*ledger.Snapshot, error) {
	if n, ok := ledger.ParseName(arg); ok {
		return p.Snapshot(n)
	}
	files := c.Rest("file")
	if arg != "lost" {
		files = append([]string{arg}, files...)
	}
	words := ""
	for _, f := range files {
		words += " " + code.ShellWord(f)
	}
	return nil, c.Usagef("%q is no snapshot: they are named s and a number, and listed by tt restore", arg).
		WithHint("what was lost last comes back with: tt restore --lost%s", words)
}

var snapshotCommand = &cli.Command{
	Name: "snapshot",
	Flags: func(f *cli.Flags) {
		f.String("note", "TEXT", "what it is for")
	},
	Traits: cli.Traits{LastKnown: true}, // it is recorded on this host alone
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
	p, err := openTree(ctx, c)
	if err != nil {
		return err
	}
	const longest = 500
	if len(c.String("note")) > longest {
		return c.Usagef("--note has more than %d bytes", longest)
	}
	s, err := p.Ledger.Take(ctx, ledger.Request{Why: ledger.WhyPerson, Agent: p.Client.Self.ID, Turn: p.Current(),
		Note: c.String("note"), Line: c.Given("note")})
	if err != nil {
		return changes.Explain(err)
	}
	_ = p.Ledger.WasPutBack() // it was said
	res := snapshotResult{s.Name(), s.Tree.String(), s.Files, s.LeftOut}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("%s: %s. To return: tt restore %s --exact", s.Name(), counted(s.Files, "file"), s.Name())
		writeLeftOut(t, s.LeftOut)
	})
}

// recordCommand records the tree of a room for others, see package changes.
var recordCommand = &cli.Command{
	Name:   "record",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true, NoSubject: true},
	Args:   []cli.Arg{{Name: "room", Usage: "the room's id"}},
	Flags: func(f *cli.Flags) {
		f.Choice("at", "MOMENT", []string{"first", "start", "tick", "end"}, "which snapshot")
		f.Int64("turn", "N", 0, "the turn")
		f.Int64("moment", "NS", 0, "when the turn began")
	},
	Run: runRecord,
}

func runRecord(ctx context.Context, c *cli.Invocation) error {
	signal.Ignore(syscall.SIGHUP)
	client, err := newClient(c)
	if err != nil {
		return err
	}
	job := changes.Job{At: c.String("at"), Turn: c.Int64("turn")}
	if ns := c.Int64("moment"); ns > 0 {
		job.Moment = time.Unix(0, ns)
	}
	return changes.Record(ctx, client.Room(c.Arg("room"), nil), ledgerSetting(c), job)
}

func ledgerSetting(c *cli.Invocation) changes.Setting {
	set := changes.SettingOf(c.Env.Lookup, c.Env.Home)
	if at := build.AtStep; at != nil {
		set.Fault = func(step string) error { return at(fsroom.Step("tree-" + step)) }
	}
	return set
}

// writeChanges writes the facts about a stretch of time: a line, and a line for each path.
func writeChanges(t *cli.Text, c *ledger.Changes, namesOnly bool) {
	if namesOnly {
		for _, p := range c.Paths {
			t.Line("%s", p.Path)
		}
		return
	}
	t.Line("%s", changesLine(c))
	var table cli.Table
	for _, p := range c.Paths {
		table.Row("  "+p.Path, fmt.Sprintf("+%d −%d", p.Added, p.Removed), pathRemark(p))
	}
	t.Table(&table)
	if c.MorePaths > 0 {
		t.Line("  and %s", counted(c.MorePaths, "more file"))
	}
	if len(c.Unsure) > 0 {
		t.Line("  perhaps before it or after it: %s", strings.Join(c.Unsure, ", "))
	}
	writeLeftOut(t, c.LeftOut)
}

func pathRemark(p ledger.PathChange) string {
	switch p.Status {
	case ledger.StatusModified:
		return p.Mode
	case ledger.StatusMode:
		return "mode " + p.Mode
	}
	return p.Status
}

// changesLine says in one line what changed.
func changesLine(c *ledger.Changes) string {
	head := "Changed"
	switch {
	case c.Span == ledger.SpanOutside:
		head = fmt.Sprintf("Outside, after turn %d", c.Turn)
	case c.Span == ledger.SpanUndo:
		head = fmt.Sprintf("Undo of turn %d, by %s", c.OfTurn, c.Agent)
	case c.Span == ledger.SpanRestore:
		head = fmt.Sprintf("Restore of %s, by %s", c.OfSnapshot, c.Agent)
	case c.Span == ledger.SpanSnapshot:
		head = "Since " + c.From
	case c.Turn > 0:
		head = fmt.Sprintf("Turn %d, held by %s", c.Turn, c.Agent)
	}
	return head + ": " + changesWords(c)
}

func changesWords(c *ledger.Changes) string {
	if c.Unknown != "" {
		return "not known (" + c.Unknown + ")"
	}
	words := []string{"no file changed"}
	if c.Files > 0 {
		words[0] = fmt.Sprintf("%s, +%d −%d", counted(c.Files, "file"), c.Added, c.Removed)
		if c.Uncounted > 0 {
			words[0] += fmt.Sprintf(" (lines of %d not counted)", c.Uncounted)
		}
	}
	if h := c.Head; h != nil {
		switch {
		case h.Moved == "switched":
			words = append(words, "now"+onBranch(h.Branch))
		case h.Commits > 0:
			words = append(words, counted(h.Commits, "commit")+onBranch(h.Branch))
		default:
			words = append(words, "HEAD moved"+onBranch(h.Branch))
		}
	}
	if c.Uncommitted > 0 {
		words = append(words, counted(c.Uncommitted, "file")+" uncommitted")
	}
	return strings.Join(words, ", ")
}

func onBranch(branch string) string {
	if branch == "" {
		return " on a detached HEAD"
	}
	return " on " + branch
}

func writeLeftOut(t *cli.Text, left []ledger.LeftOut) {
	if len(left) == 0 {
		return
	}
	var names []string
	for _, l := range left {
		name := l.Path
		switch {
		case l.Why == ledger.LeftSecret:
			name = cmp.Or(l.Path, counted(l.Files, "file")) + " (may have secrets)"
		case l.Why == ledger.LeftRoom:
			name += "/ (has a stick of its own)"
		case l.Files > 0:
			name += fmt.Sprintf("/ (%d new files, not ignored)", l.Files)
		default:
			name += " (" + strings.ReplaceAll(l.Why, "_", " ") + ")"
		}
		names = append(names, name)
	}
	const most = 10
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", more))
	}
	t.Line("left out: %s", strings.Join(names, ", "))
}

// changesIn returns what an event or a result of package turn says of changes, nil if that cannot be read.
func changesIn(raw json.RawMessage) *ledger.Changes {
	c := new(ledger.Changes)
	if json.Unmarshal(raw, c) != nil {
		return nil
	}
	return c
}

// writeBriefChanges writes what changed since the caller's last turn, a line a stretch.
func writeBriefChanges(t *cli.Text, told []json.RawMessage, more int) {
	var list []ledger.Changes
	for _, raw := range told {
		var c ledger.Changes
		if json.Unmarshal(raw, &c) == nil && !c.IsEmpty() {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return
	}
	t.Line("%s", t.Bold("  Changes since your last turn"))
	if more > 0 {
		t.Line("    %s; tt log shows all", counted(more, "earlier stretch"))
	}
	for i := range list {
		t.Line("    %s", changesLine(&list[i]))
	}
	t.Line("    What exactly: tt diff TURN")
}
