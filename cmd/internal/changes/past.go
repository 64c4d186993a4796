package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// A Past is a tree with what is recorded of it, for a caller.
type Past struct {
	*Tree
	Client *member.Client
	State  *turn.State // of the room, nil if there is none
	All    []*ledger.Snapshot
}

// PastOf returns the tree of a room with its snapshots, or without a room that of the directory root.
func PastOf(client *member.Client, r *member.Room, st *turn.State, root string, set Setting) (*Past, error) {
	p, err := &Past{Client: client, State: st}, error(nil)
	if r != nil {
		p.Tree, err = Of(r, st.Policy, set)
	} else {
		p.Tree, err = open(nil, turn.DefaultPolicy(), set, root, client.Store)
	}
	if err == nil {
		p.All, err = p.Ledger.Snapshots()
	}
	return p, Explain(err)
}

// Holder returns who holds the turn, "" for nobody.
func (p *Past) Holder() string {
	if p.State == nil {
		return ""
	}
	return p.State.Owner
}

// Current returns the turn in progress, 0 for none.
func (p *Past) Current() int64 {
	if p.Holder() == "" {
		return 0
	}
	return p.State.Turn
}

// Began returns the beginning of the last turn, nil if it is not recorded.
func (p *Past) Began() (start *ledger.Snapshot) {
	if p.State != nil {
		start, _ = ledger.TurnOf(p.All, p.State.Turn)
	}
	return start
}

// Look scans the tree without recording it.
func (p *Past) Look(ctx context.Context) (*ledger.View, error) {
	view, err := p.Ledger.Look(ctx)
	return view, Explain(err)
}

// Files returns paths as the tree names them: relative to dir if that is in the tree, else to the tree. One that never
// was is refused.
func (p *Past) Files(dir string, args []string) (paths []string, err error) {
	if len(args) == 0 {
		return nil, nil
	}
	view := p.Ledger.Recorded()
	defer view.Close()
	dir = workspace.Canonical(dir + "/.")
	for _, arg := range args {
		path, full := filepath.ToSlash(filepath.Clean(arg)), arg
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, arg)
		}
		for i, at := range []string{workspace.Canonical(full), full} { // a link may stand where a directory was
			rel, err := filepath.Rel(p.Ledger.Root(), at)
			if rel = filepath.ToSlash(rel); err == nil && filepath.IsLocal(rel) && (i == 0 || view.Had(rel)) {
				path = rel
			}
		}
		_, gone := os.Lstat(filepath.Join(p.Ledger.Root(), path))
		switch {
		case arg == "" || !filepath.IsLocal(filepath.FromSlash(path)):
			return nil, code.New(code.Usage, "%q is not in %s", arg, p.Ledger.Root()).WithHint("name files of the tree")
		case gone != nil && !view.Had(path):
			return nil, code.New(code.Usage, "%q is neither in the tree nor in a snapshot of it", path).
				WithHint("tt diff TURN --name-only lists what a turn changed")
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Words returns paths of the tree as [Past.Files] takes them in the directory dir, with --path if that is elsewhere.
func (p *Past) Words(dir string, paths []string) string {
	in, root := "", p.Ledger.Root()
	dir = workspace.Canonical(dir + "/.")
	if below, err := filepath.Rel(root, dir); err != nil || !filepath.IsLocal(below) {
		in, dir = " --path "+code.ShellWord(root), root
	}
	words := make([]string, len(paths))
	for i, path := range paths {
		path, _ = filepath.Rel(dir, filepath.Join(root, path))
		if strings.HasPrefix(path, "-") {
			path = "./" + path
		}
		words[i] = code.ShellWord(path)
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ") + in
}

// Turn returns a turn as a stretch of time.
func (p *Past) Turn(ctx context.Context, n int64) (s ledger.Span, err error) {
	lasts := n == p.Current()
	s = ledger.Span{Name: ledger.SpanTurn, Turn: n}
	for i := 0; ; i++ {
		if s.From, s.To = ledger.TurnOf(p.All, n); !lasts || s.From != nil || i == 20 {
			break
		}
		select { // its guardian is about to record its beginning
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return s, ctx.Err()
		}
		if p.All, err = p.Ledger.Snapshots(); err != nil {
			return s, err
		}
	}
	if lasts {
		s.To = nil
	}
	if s.From == nil || s.To == nil && !lasts {
		return s, p.noTurn(ctx, n)
	}
	s.Agent = s.From.Agent
	return s, nil
}

// Now returns the turn in progress.
func (p *Past) Now(ctx context.Context) (s ledger.Span, err error) {
	if p.Current() == 0 {
		return s, code.New(code.NoSnapshot, "no turn is in progress").WithHint("tt diff last").With("why", "never")
	}
	return p.Turn(ctx, p.Current())
}

// Last returns the last turn that has ended. Nothing may be recorded of it: in a room of several hosts it may be one of another
// host, or of another tree here, and the recording may have been off.
func (p *Past) Last(ctx context.Context) (ledger.Span, error) {
	if p.Room != nil {
		ended := p.State.Turn
		if p.Current() != 0 {
			ended--
		}
		if ended > 0 {
			return p.Turn(ctx, ended)
		}
	}
	return p.LastHere(ctx)
}

// LastHere returns the last turn of which the end is recorded here.
func (p *Past) LastHere(ctx context.Context) (s ledger.Span, err error) {
	last := ledger.LastEnded(p.All, func(end *ledger.Snapshot) bool { return end.Turn != p.Current() })
	if last == 0 {
		return s, p.NoneEnded()
	}
	return p.Turn(ctx, last)
}

// Before returns the stretch of time between a turn and the one before.
func (p *Past) Before(ctx context.Context, s ledger.Span) (ledger.Span, error) {
	last := ledger.LastEnded(p.All, func(end *ledger.Snapshot) bool { return end.Turn < s.Turn })
	_, end := ledger.TurnOf(p.All, last)
	switch {
	case end == nil && s.Turn == 1:
		return s, p.noSnapshot("never", "no turn ended before turn 1").WithHint("tt diff 1")
	case end == nil:
		return s, p.noTurn(ctx, s.Turn-1)
	}
	return ledger.Span{Name: ledger.SpanOutside, Turn: last, From: end, To: s.From}, nil
}

// SinceLast returns the stretch of time since the last turn ended, until the one in progress began.
func (p *Past) SinceLast(ctx context.Context) (ledger.Span, error) {
	s, err := p.LastHere(ctx)
	s = ledger.Span{Name: ledger.SpanOutside, Turn: s.Turn, From: s.To}
	if err == nil && p.Current() != 0 {
		var now ledger.Span
		now, err = p.Now(ctx)
		s.To = now.From
	}
	return s, err
}

// SinceMine returns the last turn of the caller that has ended, and the stretches of time since.
func (p *Past) SinceMine() (mine int64, spans []ledger.Span, err error) {
	mine = ledger.LastEnded(p.All, func(end *ledger.Snapshot) bool { return end.Agent == p.Client.Self.ID })
	if mine == 0 {
		return 0, nil, p.noSnapshot("never", "no turn of %s has ended here, as far as is recorded", p.Client.Self.ID).WithHint("tt diff last")
	}
	return mine, ledger.Spans(p.All, mine, p.Current()), nil
}

// Snapshot returns the snapshot with the number.
func (p *Past) Snapshot(n int64) (*ledger.Snapshot, error) {
	if s := ledger.Find(p.All, n); s != nil {
		return s, nil
	}
	why := "never"
	if len(p.All) > 0 && n < p.All[0].Number {
		why = "pruned"
	}
	return nil, p.noSnapshot(why, "there is no snapshot s%d", n).WithHint("tt restore lists them")
}

// OrDamaged returns an error of what is recorded, or the refusal that it is if that is damaged.
func (p *Past) OrDamaged(err error) error {
	if !ledger.IsLost(err) {
		return Explain(err)
	}
	return p.noSnapshot("damaged", "a snapshot that this needs is damaged").WithHint("tt restore lists the others; tt doctor says more")
}

// NoneEnded is the refusal where no turn has ended.
func (p *Past) NoneEnded() error {
	hint := "tt restore lists what there is"
	if p.Current() != 0 {
		hint = "tt diff shows the turn in progress"
	}
	return p.noSnapshot("never", "no turn has ended here, as far as is recorded").WithHint("%s", hint)
}

// noTurn is the refusal for a turn that is not recorded.
func (p *Past) noTurn(ctx context.Context, turnID int64) error {
	why := "never"
	oldest := slices.IndexFunc(p.All, func(s *ledger.Snapshot) bool { return s.Turn > 0 })
	if oldest >= 0 && p.All[oldest].Turn > turnID {
		why = "pruned"
	} else if start, _ := ledger.TurnOf(p.All, turnID); start != nil {
		why = "late"
	}
	e := p.noSnapshot(why, "what turn %d changed is not recorded", turnID).WithHint("tt restore lists what there is").With("turn_id", turnID)
	if p.Room != nil && p.Room.IsShared() {
		if host := p.Room.HostOfTurn(ctx, turnID); host != "" {
			e.Message += " here: it was on host " + host
			return e.WithHint("run the same command on that host").With("host", host).With("why", "never")
		}
	}
	return e
}

// noSnapshot is a refusal, with the oldest snapshot that there is.
func (p *Past) noSnapshot(why, format string, args ...any) *code.Error {
	if why == "never" && p.Ledger.Damaged() > 0 {
		why, format = "damaged", format+": lines of the list of snapshots are damaged"
	}
	e := code.New(code.NoSnapshot, format, args...).With("why", why)
	if len(p.All) > 0 {
		e.With("oldest", p.All[0].Name())
	}
	return e
}

// Renamed returns the directories that are gone and of which snapshots are kept, the newest first, where there are none of
// this tree: it may have been one of them.
func (p *Past) Renamed(home string) (roots []string) {
	if len(p.All) > 0 {
		return nil
	}
	for _, l := range slices.Backward(ledger.Stores(Folder(p.Client.Store), ledger.Options{Home: home})) {
		if _, err := os.Stat(l.Root()); errors.Is(err, fs.ErrNotExist) && l.Exists() {
			roots = append(roots, l.Root())
		}
	}
	return roots[:min(len(roots), 3)]
}

// RenamedWords says what to do where this tree was renamed.
func (p *Past) RenamedWords(roots []string) string {
	return fmt.Sprintf("snapshots are kept of %s, which is gone: if this is it, give it that name again (mv %s %s), and look there",
		strings.Join(roots, ", "), code.ShellWord(p.Ledger.Root()), code.ShellWord(roots[0]))
}

// OrRenamed adds to a refusal that the tree may have been renamed.
func (p *Past) OrRenamed(home string, err error) error {
	refusal := (*code.Error)(nil)
	if errors.As(err, &refusal) && refusal.Code == code.NoSnapshot {
		if roots := p.Renamed(home); len(roots) > 0 {
			refusal.WithHint("%s", p.RenamedWords(roots)).With("elsewhere", roots)
		}
	}
	return err
}

// Explain gives the error of a scan its code.
func Explain(err error) error {
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
