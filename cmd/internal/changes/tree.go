package changes

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// Variable switches the ledger for all rooms as one machine uses them: on, counts, off.
const Variable = "TALKING_STICK_LEDGER"

// rootVariable tells processes that a command starts which directory is the room's tree: a
// room that several hosts share does not know.
const rootVariable = "TALKING_STICK_TREE"

// A Setting is what a process knows of its user's machine.
type Setting struct {
	Mode string // of [Variable], "" if it is not set, or to something that is no mode
	Root string // of rootVariable
	Home string
	// Fault is called before each step of a record and may make it fail. It is nil outside tests.
	Fault func(step string) error
}

// SettingOf reads the environment.
func SettingOf(lookup func(string) string, home string) Setting {
	set := Setting{Mode: lookup(Variable), Root: lookup(rootVariable), Home: home}
	if !slices.Contains(turn.LedgerModes(), set.Mode) {
		set.Mode = ""
	}
	return set
}

// A Tree is the work tree of a room with its ledger.
type Tree struct {
	Ledger *ledger.Ledger
	Room   *member.Room // nil: none
	writes *member.Room // the same room for what is added to it; nil: Room
	Mode   string       // [turn.LedgerOn] or [turn.LedgerCounts]
	policy turn.Policy
}

// Of returns the tree of a room, or ledger_off with the reason.
func Of(r *member.Room, policy turn.Policy, set Setting) (*Tree, error) {
	return open(r, policy, set, set.root(r), r.Client.Store)
}

// Folder returns the directory that has the ledgers of all trees.
func Folder(rooms *fsroom.Store) string { return filepath.Join(rooms.Local().Dir(), ledger.Folder) }

func open(r *member.Room, policy turn.Policy, set Setting, root string, rooms *fsroom.Store) (*Tree, error) {
	mode := cmp.Or(set.Mode, policy.Ledger)
	if policy.Ledger == turn.LedgerOff {
		mode = turn.LedgerOff
	}
	if mode == turn.LedgerOff || !slices.Contains(turn.LedgerModes(), mode) {
		return nil, code.New(code.LedgerOff, "changes of the tree are not recorded here (%s)", cmp.Or(mode, "off")).With("why", cmp.Or(mode, "off")).
			WithHint("tt policy --ledger on; or unset %s", Variable)
	}
	if why := ledger.Refused(root, set.Home, rooms.Local().Dir()); why != "" {
		return nil, code.New(code.LedgerOff, "%s: %s", root, why).With("why", why)
	}
	opts := ledger.Options{Root: root, Home: set.Home, Boot: identity.BootID(), Fault: set.Fault}
	if r != nil {
		opts.Room, opts.IsOwn = r.FS.Name(), r.WasNamed
	}
	opts.Others = func(since time.Time) (now, before []string) { return others(r, root, rooms, since) }
	store := ledger.New(filepath.Join(Folder(rooms), fsroom.RoomName(root)), opts)
	return &Tree{Ledger: store, Room: r, Mode: mode, policy: policy}, nil
}

// others returns the parts of a tree that are somebody else's than the room's holder, see [ledger.Options]: those of
// rooms below.
func others(r *member.Room, root string, rooms *fsroom.Store, since time.Time) (now, before []string) {
	holder := ""
	for _, st := range member.Held(rooms, since) {
		rel, err := filepath.Rel(root, st.CanonicalPath)
		if err != nil || rel == "." || !filepath.IsLocal(rel) {
			continue
		}
		if r != nil && holder == "" {
			if own, err := r.Known().FS.View(); err == nil {
				holder = own.State.Owner
			}
		}
		who := cmp.Or(st.Owner, st.Pending.From)
		switch rel = filepath.ToSlash(rel); {
		case who != "" && who == holder:
		case st.Owner != "":
			now = append(now, rel)
		default:
			before = append(before, rel)
		}
	}
	return now, before
}

// root returns the directory of the room on this host.
func (s Setting) root(r *member.Room) string {
	if r.Workspace != nil {
		return r.Directory()
	}
	if s.Root != "" {
		return s.Root
	}
	if snap, err := r.FS.View(); err == nil {
		return r.Path(snap.State)
	}
	return ""
}

// ID names the tree in events.
func (t *Tree) ID() string { return filepath.Base(t.Ledger.Dir()) }

// BeforeLimit is how long a tool, or whoever is granted a turn, waits at most for the snapshot before it. Tests allow more.
var BeforeLimit = 500 * time.Millisecond

// Changed implements [member.Recorder].
func (t *Tree) Changed(turnID int64, most int) *member.Changed {
	v := t.Ledger.Recorded()
	defer v.Close()
	start, end := ledger.TurnOf(v.All, turnID)
	res := &member.Changed{Paths: []member.ChangedPath{}, SinceRelease: start == nil}
	if res.SinceRelease {
		start = lastTurn(v.All, turnID)
	}
	if start == nil || end == nil {
		return nil
	}
	c, err := v.Changes(start, end, nil, most)
	if err != nil {
		return nil
	}
	res.Total = c.Files
	for _, p := range c.Paths {
		res.Paths = append(res.Paths, member.ChangedPath{Path: p.Path, Status: p.Status})
	}
	for _, path := range c.Unsure { // those that are no change of the turn, as far as is known
		if c.MorePaths > 0 || slices.ContainsFunc(c.Paths, func(p ledger.PathChange) bool { return p.Path == path }) {
			continue
		}
		if res.Total++; len(res.Paths) < most {
			res.Paths = append(res.Paths, member.ChangedPath{Path: path, Status: "unsure"})
		}
	}
	return res
}
