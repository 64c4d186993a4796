package ledger

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Differences are the numbers of files that are not as in a snapshot.
type Differences struct {
	Missing int `json:"missing"`
	Changed int `json:"changed"`
	Added   int `json:"added"`
}

// Differs returns how many files differ now from a snapshot, as far as is known.
func (v *View) Differs(s *Snapshot) (n Differences, err error) {
	differences, err := v.differences(s, v.Now, nil)
	n = differing(differences).Differences
	n.Changed += len(v.hidden(s))
	return n, err
}

// mostDiffering is how many paths a Differing names.
const mostDiffering = 20

// A Differing says in what a tree differs from one that was verified.
type Differing struct {
	Differences
	Paths     []PathChange `json:"paths,omitempty"` // 20 at most, without names of secrets
	MorePaths int          `json:"more_paths,omitempty"`
	Commit    bool         `json:"commit,omitempty"` // it is what would be committed that differs
}

func differing(steps []Step) *Differing {
	d := &Differing{}
	for _, s := range steps {
		switch {
		case !s.To.exists():
			d.Missing++
		case !s.From.exists():
			d.Added++
		default:
			d.Changed++
		}
		if len(d.Paths) < mostDiffering && !IsSecretPath(s.Path) {
			d.Paths = append(d.Paths, s.change())
		}
	}
	d.MorePaths = len(steps) - len(d.Paths)
	return d
}

// Differing returns in what the tree as it is now differs from a state, nil if no snapshot has that any more, or it is damaged.
func (v *View) Differing(from StateID) (*Differing, error) {
	i := slices.IndexFunc(v.All, func(s *Snapshot) bool { return s.State() == from })
	if i < 0 {
		return nil, nil
	}
	steps, err := v.compare(v.All[i], v.Now, nil) // what git ignores now is none of the tree
	if IsLost(err) {
		return nil, nil
	}
	return differing(steps), err
}

// Git is what [View.Unstaged] has git tell.
type Git struct {
	Index      func(top string) (string, error) // what "ls-files -t --stage -z" says in the top directory of the repository
	ModuleHead func(dir string) string          // the commit that a submodule is at, "" if it differs from that itself
	Staged     func(paths []string) []string    // the objects as which files of the tree would be staged, nil if that is not known
}

// InRepository reports whether the tree is in a repository of git.
func (v *View) InRepository() bool { return v.repo != nil }

// Unstaged returns in what the tree that would be committed differs from the tree as it is now, nil if in
// nothing: Missing counts files that are not staged. A path with a conflict differs; one that a sparse checkout leaves out does where the commit would change it.
func (v *View) Unstaged(git Git) (*Differing, error) {
	list, err := git.Index(v.repo.top)
	if err != nil {
		return nil, errIndex
	}
	index, skipped, err := readStaged(list)
	if err != nil {
		return nil, err
	}
	tree, err := v.objects.diffTrees(ID{}, v.Now.Tree)
	if err != nil {
		return nil, err
	}
	prefix := v.top.inRepo
	staged, modules := make(map[string]State), make(map[string]State)
	for path, s := range index {
		below, ok := strings.CutPrefix(path, prefix)
		switch {
		case !ok:
		case s.Mode == modeModule:
			modules[below] = s
		default:
			staged[below] = s
		}
	}
	var steps []Step
	inside := make(map[string]bool) // modules that have files
	for _, t := range tree {
		if m := moduleOf(modules, t.Path); m != "" {
			inside[m] = true
			continue
		}
		s := staged[t.Path]
		if v.objects.sameMode(t.To.Mode, s.Mode) {
			t.To.Mode = s.Mode
		}
		if s != t.To {
			steps = append(steps, Step{Path: t.Path, From: t.To, To: s})
		}
		delete(staged, t.Path)
	}
	committed := v.objects.treeOf(v.repo.head().Commit)
	for path, s := range staged {
		if at, err := v.objects.at(committed, prefix+path); err != nil || at != s || !skipped[prefix+path] {
			steps = append(steps, Step{Path: path, To: s})
		}
	}
	steps = git.filtered(steps)
	for path := range inside {
		if s := modules[path]; git.ModuleHead(v.ledger.full(path)) != s.ID.String() {
			steps = append(steps, Step{Path: path, From: State{Mode: modeModule}, To: s})
		}
	}
	if len(steps) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Path, b.Path) })
	d := differing(steps)
	d.Commit = true
	for i := range d.Paths {
		p := &d.Paths[i]
		if at, err := v.objects.at(committed, prefix+p.Path); err == nil && p.Status == StatusDeleted && !at.exists() && !p.Quoted {
			p.Status = StatusUntracked
		}
	}
	return d, nil
}

// filtered takes out what differs only because git filters it: line ends, large files that are kept elsewhere.
// Git reads names from lines.
func (git Git) filtered(steps []Step) []Step {
	var paths []string
	for _, s := range steps {
		if isRegular(s.From.Mode) && s.From.Mode == s.To.Mode && !strings.Contains(s.Path, "\n") && s.Path[0] != '"' {
			paths = append(paths, s.Path)
		}
	}
	as := make(map[string]string)
	if ids := git.Staged(paths); len(ids) == len(paths) {
		for i, id := range ids {
			as[paths[i]] = id
		}
	}
	return slices.DeleteFunc(steps, func(s Step) bool { return s.To.ID != (ID{}) && as[s.Path] == s.To.ID.String() })
}

// moduleOf returns the submodule that a path is in, "" for none.
func moduleOf(modules map[string]State, path string) string {
	for dir := parent(path); dir != "" && len(modules) > 0; dir = parent(dir) {
		if _, ok := modules[dir]; ok {
			return dir
		}
	}
	return ""
}

// readStaged returns the files of an index, and which of them a sparse checkout leaves out, from records such as
// "H 100644 ID 0\tPATH". A file with a conflict has no content.
func readStaged(list string) (staged map[string]State, skipped map[string]bool, err error) {
	staged, skipped = make(map[string]State), make(map[string]bool)
	for record := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		about, path, _ := strings.Cut(record, "\t")
		f := strings.Fields(about) // tag, mode, id and stage
		if len(f) != 4 {
			continue
		}
		mode, err := strconv.ParseUint(f[1], 8, 32)
		s := State{Mode: uint32(mode)}
		if f[3] == "0" && err == nil {
			s.ID, err = ParseID(f[2])
		}
		if err != nil {
			return nil, nil, errIndex
		}
		staged[path], skipped[path] = s, f[0] == "S"
	}
	return staged, skipped, nil
}
