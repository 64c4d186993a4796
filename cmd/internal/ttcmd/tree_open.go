package ttcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// A treeView is the tree that a command line names, with the room that it belongs to.
type treeView struct {
	Tree   *changes.Tree
	client *member.Client
	room   *member.Room // nil: there is none
	state  *turn.State
	all    []*ledger.Snapshot

	inProgress string // what git is in the middle of, as a change found it
}

// openTree returns the tree of the command line. There need not be a room; of one the presence
// of the caller is recorded.
func openTree(ctx context.Context, c *cli.Invocation) (*treeView, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	w, missing := locateArg(c)
	room, snap, err := client.OpenIfAny(w, missing)
	if err != nil {
		return nil, err
	}
	if room == nil {
		v := &treeView{client: client}
		v.Tree, err = changes.OfDirectory(w.Root, client.Store, ledgerSetting(c))
		return v.recorded(err)
	}
	room.RecordPresence(ctx, snap.State)
	return treeOf(c, room, snap.State)
}

// treeOf returns the tree of a room.
func treeOf(c *cli.Invocation, room *member.Room, st *turn.State) (*treeView, error) {
	v := &treeView{client: room.Client, room: room, state: st}
	var err error
	v.Tree, err = changes.Of(room, st.Policy, ledgerSetting(c))
	return v.recorded(err)
}

// recorded returns the tree with its snapshots, if it could be opened.
func (v *treeView) recorded(err error) (*treeView, error) {
	if err == nil {
		v.all, err = v.Tree.Ledger.Snapshots()
	}
	return v, explainTree(err)
}

// files returns the paths of an argument as the tree names them: relative to the current
// directory if that is in the tree, else to the tree. A path that never was is refused.
func (v *treeView) files(c *cli.Invocation, args []string) (paths []string, err error) {
	if len(args) == 0 {
		return nil, nil
	}
	view := v.Tree.Ledger.Recorded()
	defer view.Close()
	for _, arg := range args {
		path := arg
		if rel, err := filepath.Rel(v.Tree.Ledger.Root(), workspace.Canonical(c.Env.Abs(arg))); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
		path = filepath.ToSlash(filepath.Clean(path))
		if arg == "" || !filepath.IsLocal(filepath.FromSlash(path)) {
			return nil, c.Usagef("%q is not in %s", arg, v.Tree.Ledger.Root()).WithHint("name files of the tree")
		}
		if !view.Knows(path) {
			return nil, c.Usagef("%q is neither in the tree nor in a snapshot of it", path).WithHint("tt diff TURN --name-only lists what a turn changed")
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// span is a stretch of time between two snapshots; of the present, to is nil.
type span struct {
	name     string // "", outside: as in facts
	turn     int64
	agent    string
	from, to *ledger.Snapshot
}

// turnNamed returns the turn that an argument names: a number, last or now.
func (v *treeView) turnNamed(ctx context.Context, c *cli.Invocation, arg string) (s span, err error) {
	current := int64(0)
	if v.state != nil && v.state.Owner != "" {
		current = v.state.Turn
	}
	switch n, parseErr := strconv.ParseInt(arg, 10, 64); {
	case arg == "now":
		if current == 0 {
			return s, code.New(code.NoSnapshot, "no turn is in progress").WithHint("tt diff last").With("why", "never")
		}
		s.turn = current
	case arg == "last":
		for _, snap := range v.all {
			if (snap.Why == ledger.WhyEnd || snap.Why == ledger.WhyTakeover) && snap.Turn != current {
				s.turn = max(s.turn, snap.Turn)
			}
		}
		if s.turn == 0 {
			return s, v.noTurn(0)
		}
	case parseErr != nil || n < 1:
		return s, c.Usagef("%q is no turn: give its number, last or now", arg).
			WithHint("of the last one: tt %s last %s", c.Cmd.Name, code.ShellWord(arg))
	default:
		s.turn = n
	}
	s.name = ledger.SpanTurn
	s.from, s.to = ledger.TurnOf(v.all, s.turn)
	for i := 0; s.turn == current && s.from == nil && i < 20; i++ { // its guardian is about to record its beginning
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return s, ctx.Err()
		}
		if v.all, err = v.Tree.Ledger.Snapshots(); err != nil {
			return s, err
		}
		s.from, s.to = ledger.TurnOf(v.all, s.turn)
	}
	if s.turn == current {
		s.to = nil
	}
	if s.from == nil || s.to == nil && s.turn != current {
		return s, v.noTurn(s.turn)
	}
	s.agent = s.from.Agent
	return s, nil
}

// noTurn is the refusal for a turn that is not recorded.
func (v *treeView) noTurn(turnID int64) error {
	if turnID == 0 {
		hint := "tt restore lists what there is"
		if v.state != nil && v.state.Owner != "" {
			hint = "tt diff shows the turn in progress"
		}
		return v.noSnapshot("never", "no turn has ended here, as far as is recorded").WithHint("%s", hint)
	}
	why := "never"
	oldest := slices.IndexFunc(v.all, func(s *ledger.Snapshot) bool { return s.Turn > 0 })
	if oldest >= 0 && v.all[oldest].Turn > turnID {
		why = "pruned"
	} else if start, _ := ledger.TurnOf(v.all, turnID); start != nil {
		why = "late"
	}
	return v.noSnapshot(why, "what turn %d changed is not recorded", turnID).WithHint("tt restore lists what there is").With("turn_id", turnID)
}

// renamed returns the directories that are gone and of which snapshots are kept, the newest first, where there are none of
// this tree: it may have been one of them.
func (v *treeView) renamed(c *cli.Invocation) (roots []string) {
	if len(v.all) > 0 {
		return nil
	}
	for _, l := range slices.Backward(ledger.Stores(treesFolder(v.client), ledger.Options{Home: c.Env.Home})) {
		if _, err := os.Stat(l.Root()); errors.Is(err, fs.ErrNotExist) && l.Exists() {
			roots = append(roots, l.Root())
		}
	}
	return roots[:min(len(roots), 3)]
}

// renamedWords says what to do where this tree was renamed.
func (v *treeView) renamedWords(roots []string) string {
	return fmt.Sprintf("snapshots are kept of %s, which is gone: if this is it, give it that name again (mv %s %s), and look there",
		strings.Join(roots, ", "), code.ShellWord(v.Tree.Ledger.Root()), code.ShellWord(roots[0]))
}

// orRenamed adds to a refusal that the tree may have been renamed.
func (v *treeView) orRenamed(c *cli.Invocation, err error) error {
	refusal := (*code.Error)(nil)
	if errors.As(err, &refusal) && refusal.Code == code.NoSnapshot {
		if roots := v.renamed(c); len(roots) > 0 {
			refusal.WithHint("%s", v.renamedWords(roots)).With("elsewhere", roots)
		}
	}
	return err
}

// noSnapshot is a refusal, with the oldest snapshot that there is.
func (v *treeView) noSnapshot(why, format string, args ...any) *code.Error {
	e := code.New(code.NoSnapshot, format, args...).With("why", why)
	if len(v.all) > 0 {
		e.With("oldest", v.all[0].Name())
	}
	return e
}

// snapshotNamed returns the snapshot that an argument names.
func (v *treeView) snapshotNamed(c *cli.Invocation, arg string) (*ledger.Snapshot, error) {
	n, ok := ledger.ParseName(arg)
	if !ok {
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
	if s := ledger.Find(v.all, n); s != nil {
		return s, nil
	}
	why := "never"
	if len(v.all) > 0 && n < v.all[0].Number {
		why = "pruned"
	}
	return nil, v.noSnapshot(why, "there is no snapshot %s", arg).WithHint("tt restore lists them")
}

// explainTree gives the error of a scan its code.
func explainTree(err error) error {
	if err == nil || code.Of(err) != code.Internal {
		return err
	}
	why := ledger.WhyUnknown(err)
	if why == ledger.UnknownFull {
		return code.New(code.ApplyFailed, "the disk is too full to record the tree").
			WithHint("free some space; nothing was changed").With("why", why).Because(err)
	}
	var gone *fs.PathError
	if errors.As(err, &gone) && errors.Is(err, fs.ErrNotExist) {
		return code.New(code.ApplyFailed, "the tree could not be read: %s is not there", gone.Path).
			WithHint("make it again (mkdir, or git worktree add), and run the same command there").With("why", why).Because(err)
	}
	return code.New(code.ApplyFailed, "the tree could not be read: %v", err).
		WithHint("nothing was changed; mend that, and try again").With("why", why).Because(err)
}

// lookNow scans the tree without recording it.
func (v *treeView) lookNow(ctx context.Context) (*ledger.View, error) {
	view, err := v.Tree.Ledger.Look(ctx)
	return view, explainTree(err)
}

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

// recordCommand records the tree of a room for others, see package changes.
var recordCommand = &cli.Command{
	Name:   "record",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true},
	Args:   []cli.Arg{{Name: "room", Usage: "the room's id"}},
	Short:  "take the snapshot of the beginning or end of a turn",
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

// recordFirst begins the first snapshot of the room's tree.
func recordFirst(ctx context.Context, c *cli.Invocation, room *member.Room) {
	changes.First(ctx, room, ledgerSetting(c))
}
