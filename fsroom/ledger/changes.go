package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// What a stretch of time is.
const (
	SpanTurn    = "turn"
	SpanOutside = "outside" // between two turns
	SpanUndo    = "undo"
	SpanRestore = "restore"

	SpanSnapshot = "snapshot" // from a snapshot until now
)

// Changes are what changed between two snapshots.
type Changes struct {
	Span        string       `json:"span"`
	Turn        int64        `json:"turn_id,omitempty"`
	Agent       string       `json:"agent_id,omitempty"`
	OfTurn      int64        `json:"of_turn,omitempty"`
	OfSnapshot  string       `json:"of_snapshot,omitempty"`
	From        string       `json:"from,omitempty"`
	To          string       `json:"to,omitempty"`
	FromTree    string       `json:"from_tree,omitempty"`
	ToTree      string       `json:"to_tree,omitempty"`
	TreeID      string       `json:"tree_id,omitempty"`
	Host        string       `json:"host,omitempty"`
	Files       int          `json:"files"`
	Added       int          `json:"added"`
	Removed     int          `json:"removed"`
	Uncounted   int          `json:"uncounted,omitempty"` // files without line counts
	Paths       []PathChange `json:"paths,omitempty"`
	MorePaths   int          `json:"more_paths,omitempty"`
	Head        *HeadMove    `json:"head,omitempty"`
	Uncommitted int          `json:"uncommitted,omitempty"`
	LeftOut     []LeftOut    `json:"left_out,omitempty"`
	Unsure      []string     `json:"unsure,omitempty"`
	MoreUnsure  int          `json:"more_unsure,omitempty"`
	LateMillis  int64        `json:"late_ms,omitempty"`
	Unknown     string       `json:"unknown,omitempty"` // why it is not known what changed
}

// How a path changed.
const (
	StatusAdded    = "added"
	StatusModified = "modified"
	StatusDeleted  = "deleted"
	StatusMode     = "mode"
	StatusType     = "type"

	StatusUntracked = "untracked" // of what would be committed: git has it neither staged nor committed
)

// A PathChange is one path that changed.
type PathChange struct {
	Path    string `json:"path"`
	Quoted  bool   `json:"quoted,omitempty"` // Path is written as Go quotes a string
	Status  string `json:"status"`
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
	Mode    string `json:"mode,omitempty"` // "644 → 755"
}

// IsEmpty reports whether nothing changed and nothing else is to be told.
func (c *Changes) IsEmpty() bool {
	return c == nil || c.Unknown == "" && c.Files == 0 && c.Head == nil && len(c.Unsure) == 0
}

// Bounds of what is counted line by line.
const (
	maxCounted  = 400
	maxCounting = 150 * time.Millisecond
	maxLeftOut  = 10
)

// Changes compares two snapshots. Paths are limited to those that filters name, which may be
// directories; nil stands for all. At most mostPaths are named, those with the most lines
// first; 0 stands for all. Names of secrets are never among them.
func (v *View) Changes(from, to *Snapshot, filters []string, mostPaths int) (*Changes, error) {
	c := &Changes{From: from.Name(), To: to.Name(), FromTree: from.Tree.String(), ToTree: to.Tree.String()}
	differences, err := v.changed(from, to, filters)
	if err != nil {
		return nil, err
	}
	c.Files = len(differences)
	c.Paths = make([]PathChange, 0, len(differences))
	started := time.Now()
	for i, d := range differences {
		p := d.change()
		counted := mostPaths == 0 || i < maxCounted && time.Since(started) < maxCounting
		if !counted || !v.count(d, &p) {
			c.Uncounted++
		}
		c.Added += p.Added
		c.Removed += p.Removed
		if mostPaths > 0 && IsSecretPath(d.Path) {
			continue
		}
		c.Paths = append(c.Paths, p)
	}
	compare := func(a, b PathChange) int {
		return cmp.Or(cmp.Compare(b.Added+b.Removed, a.Added+a.Removed), strings.Compare(a.Path, b.Path))
	}
	sort.Slice(c.Paths, func(i, j int) bool { return compare(c.Paths[i], c.Paths[j]) < 0 }) // slices.SortFunc makes the program larger
	if mostPaths > 0 && len(c.Paths) > mostPaths {
		c.Paths = c.Paths[:mostPaths]
	}
	c.MorePaths = c.Files - len(c.Paths)
	c.Head = v.objects.headMove(from.Head, to.Head)
	c.Uncommitted = v.uncommitted(to)
	unseen, err := v.withUnseen(from, to)
	c.describe(from, unseen, filters, mostPaths)
	return c, err
}

// ChangeOf returns how one path differs between two snapshots, nil if it does not. A directory differs if anything in it
// does.
func (v *View) ChangeOf(from, to *Snapshot, path string) (*PathChange, error) {
	d, err := v.objects.step(from, to, path)
	if err != nil {
		return nil, err
	}
	if steps, err := v.ofTurn(from, to, []Step{d}); err != nil || d.From == d.To || len(steps) == 0 {
		return nil, err
	}
	p := d.change()
	v.count(d, &p)
	return &p, nil
}

// describe adds what is not known.
func (c *Changes) describe(from, to *Snapshot, filters []string, most int) {
	secrets := 0
	for _, l := range to.LeftOut {
		switch {
		case !matchesAny(filters, l.Path):
		case IsSecretPath(l.Path):
			secrets++
		case len(c.LeftOut) < maxLeftOut || most == 0:
			c.LeftOut = append(c.LeftOut, l)
		}
	}
	if secrets > 0 {
		c.LeftOut = append(c.LeftOut, LeftOut{Why: LeftSecret, Files: secrets})
	}
	unsure := slices.Compact(slices.Sorted(slices.Values(slices.Concat(from.Unsure, to.Unsure))))
	for _, path := range unsure {
		switch {
		case !matchesAny(filters, path):
		case IsSecretPath(path), most > 0 && len(c.Unsure) == most:
			c.MoreUnsure++
		default:
			c.Unsure = append(c.Unsure, Printable(path))
		}
	}
}

// Printable returns a path as results have it: one that is not UTF-8 as Go quotes a string.
func Printable(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return strconv.Quote(path)
}

// differences returns how the tree differs between two snapshots, as far as both looked at it.
func (v *View) differences(from, to *Snapshot, filters []string) ([]Step, error) {
	found, err := v.compare(from, to, filters)
	unseen, others := v.objects.unseen(from, to), v.othersBetween(from, to)
	return slices.DeleteFunc(found, func(d Step) bool {
		if isBelow(others, d.Path) {
			return true
		}
		hidden, err2 := unseen(d)
		err = cmp.Or(err, err2)
		return hidden
	}), err
}

// compare returns how two snapshots differ, with the files that differ in permissions alone.
func (v *View) compare(from, to *Snapshot, filters []string) (found []Step, err error) {
	changed, err := v.objects.diffTrees(from.Tree, to.Tree)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool)
	add := func(s Step) {
		known[s.Path] = true
		s.From, s.To = from.state(s.Path, s.From), to.state(s.Path, s.To)
		if s.From != s.To && matchesAny(filters, s.Path) {
			found = append(found, s)
		}
	}
	for _, s := range changed {
		add(s)
	}
	var same []Step
	if from.Perm != to.Perm {
		if same, err = v.objects.diffTrees(ID{}, to.Tree); err != nil {
			return nil, err
		}
	}
	for _, m := range []modes{from.Modes, to.Modes} {
		for path := range m {
			s, err := v.objects.at(to.Tree, path)
			if err != nil {
				return nil, err
			}
			same = append(same, Step{Path: path, To: s})
		}
	}
	for _, s := range same {
		if !known[s.Path] {
			add(Step{s.Path, s.To, s.To})
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Path < found[j].Path })
	return found, nil
}

// matchesAny reports whether the path is one of the filters or below one. No filter matches everything.
func matchesAny(filters []string, path string) bool {
	if len(filters) == 0 {
		return true
	}
	return slices.ContainsFunc(filters, func(f string) bool {
		return f == "." || path == f || strings.HasPrefix(path, strings.TrimSuffix(f, "/")+"/")
	})
}

// change says how the path changed, without counts of lines.
func (d Step) change() PathChange {
	p := PathChange{Path: Printable(d.Path), Quoted: !utf8.ValidString(d.Path), Status: StatusModified}
	switch {
	case !d.From.exists():
		p.Status = StatusAdded
	case !d.To.exists():
		p.Status = StatusDeleted
	case isRegular(d.From.Mode) != isRegular(d.To.Mode):
		p.Status = StatusType
	case d.From.ID == d.To.ID:
		p.Status = StatusMode
	}
	if isRegular(d.From.Mode) && isRegular(d.To.Mode) && d.From.Perm != d.To.Perm {
		p.Mode = fmt.Sprintf("%o → %o", d.From.Perm, d.To.Perm)
	}
	return p
}

// count counts the lines of a change, and reports whether it could.
func (v *View) count(d Step, p *PathChange) bool {
	from, to, ok := v.texts(d)
	if !ok {
		return false
	}
	for _, h := range diffLines(splitLines(from), splitLines(to)) {
		p.Added, p.Removed = p.Added+h.nb, p.Removed+h.na
	}
	return true
}

// texts returns both contents of a path if they can be compared line by line. That of a link is where it leads.
func (v *View) texts(d Step) (from, to []byte, ok bool) {
	get := func(s State) ([]byte, bool) {
		if !s.exists() {
			return nil, true
		}
		b, err := v.objects.blob(s.ID)
		return b, err == nil && isText(b)
	}
	from, ok = get(d.From)
	if ok {
		to, ok = get(d.To)
	}
	return from, to, ok
}

// uncommitted returns how many files of a snapshot differ from the commit of that time.
func (v *View) uncommitted(s *Snapshot) int {
	if s.Head.Commit == (ID{}) || v.repo == nil || v.repo.top != v.ledger.opts.Root {
		return 0
	}
	tree := v.objects.treeOf(s.Head.Commit)
	if tree == (ID{}) {
		return 0
	}
	found, err := v.objects.diffTrees(tree, s.Tree)
	if err != nil {
		return 0
	}
	left, modules := v.objects.leftOut(s), make(map[string]bool) // a submodule is one name in a commit
	for _, d := range found {
		if d.From.Mode == modeModule {
			modules[d.Path] = true
		}
	}
	n := 0
	for _, d := range found {
		ignored, err := v.objects.ignoredAt(s, d.Path)
		if err != nil {
			return 0
		}
		ofModule := d.From.Mode == modeModule || !d.From.exists() && isBelow(modules, d.Path)
		if ignored == "" && !ofModule && !left(d.Path) && !v.objects.isStoredAs(d.To, d.From) {
			n++
		}
	}
	return n
}

// isBelow reports whether a path, or a directory above it, is set.
func isBelow(set map[string]bool, path string) bool {
	for ; path != "" && !set[path]; path = parent(path) {
	}
	return path != ""
}
