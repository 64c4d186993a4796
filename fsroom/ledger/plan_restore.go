package ledger

import (
	"cmp"
	"slices"
	"sort"
)

// PlanRestore plans to make the tree, or the paths that filters name, as in a snapshot. Files that the snapshot has not
// are removed only if exact is set. What is ignored now, or left out of one of the snapshots, is kept as it is.
func (v *View) PlanRestore(s *Snapshot, filters []string, exact bool) (*Plan, error) {
	found, err := v.compare(v.Now, s, filters)
	if err != nil {
		return nil, err
	}
	p, unseen := &Plan{}, v.objects.unseen(v.Now, s)
	for _, step := range found {
		switch hidden, err := unseen(step); {
		case err != nil:
			return nil, err
		case step.To.exists(), exact && !hidden:
			p.Steps = append(p.Steps, step)
		case exact:
			p.keep(step.Path, ConflictLeftOut)
		}
	}
	for _, path := range v.hidden(s) {
		if matchesAny(filters, path) {
			p.keep(path, ConflictLeftOut)
		}
	}
	for _, l := range v.Now.LeftOut { // what is too large, and may have changed since
		st, err := linkStat(v.ledger.full(l.Path))
		if l.Why == LeftLarge && matchesAny(filters, l.Path) && err == nil && st.ctime >= s.At-recent {
			p.keep(l.Path, ConflictLeftOut)
		}
	}
	v.keepNamed(p, filters)
	v.keep(p, v.objects.leftOut(s, v.Now))
	return p, nil
}

// keepNamed adds those of the paths that are named of which a scan records nothing.
func (v *View) keepNamed(p *Plan, filters []string) {
	left := v.objects.leftOut(v.Now)
	for _, path := range filters {
		at, err := v.objects.at(v.Now.Tree, path)
		switch {
		case err != nil, at.exists(), !exists(v.ledger.full(path)):
		case left(path):
			p.keep(path, ConflictLeftOut)
		case v.ignored(path):
			p.keep(path, KeptIgnored)
		}
	}
}

// hidden returns the paths of a snapshot that the scan left out now: the tree has them as they were before, whatever
// they are.
func (v *View) hidden(s *Snapshot) (paths []string) {
	then := v.objects.leftOut(s)
	for _, l := range v.Now.LeftOut {
		d, err := v.objects.step(s, v.Now, l.Path)
		if err == nil && d.From.exists() && d.From == d.To &&
			l.Why != LeftTooMany && l.Why != LeftChanging && !then(l.Path) {
			paths = append(paths, l.Path)
		}
	}
	return paths
}

// keep adds a path that is kept as it is.
func (p *Plan) keep(path, why string) {
	if c := (Conflict{Path: Printable(path), Why: why}); !slices.Contains(p.Kept, c) {
		p.Kept = append(p.Kept, c)
	}
}

// keep takes the steps out of a plan that would touch what the snapshot before has not.
func (v *View) keep(p *Plan, left func(string) bool) {
	planned := slices.Clone(p.Steps)
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool {
		at, err := v.objects.ignoredAt(v.Now, s.Path)
		ignored := at != "" || v.ignored(s.Path)
		switch {
		case err != nil, !ignored && left(s.Path):
			p.keep(s.Path, ConflictLeftOut)
		case ignored:
			p.keep(cmp.Or(at, s.Path), KeptIgnored)
		case IsLost(v.objects.readable(s.To)):
			p.keep(s.Path, KeptDamaged)
		default:
			return false
		}
		return true
	})
	removed := removals(p.Steps)
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool {
		at := v.inTheWay(s, removed)
		if at == "" {
			return false
		}
		p.keep(s.Path, ConflictInTheWay)
		p.InTheWay = append(p.InTheWay, at)
		return true
	})
	p.keepReplaced(planned)
	sort.Slice(p.Kept, func(i, j int) bool { return p.Kept[i].Path < p.Kept[j].Path })
}

// keepReplaced takes those removals out of a plan whose place, or content, was for planned writes alone that are
// kept from it.
func (p *Plan) keepReplaced(planned []Step) {
	writes := make(map[string]bool)
	for _, s := range p.Steps {
		writes[s.Path] = s.To.exists()
	}
	kept, content := make(map[string]bool), make(map[ID]bool)
	for _, s := range planned {
		if s.To.exists() && !writes[s.Path] {
			kept[s.Path], content[s.To.ID] = true, s.To.ID != emptyBlob
		}
	}
	forKept, forWrites := around(kept), around(writes)
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool {
		keep := !s.To.exists() && (forKept(s.Path) || content[s.From.ID]) && !forWrites(s.Path)
		if keep {
			p.keep(s.Path, ConflictInTheWay)
		}
		return keep
	})
}

// around returns a function that reports whether a path is above or below one of those that are set.
func around(paths map[string]bool) func(string) bool {
	above := make(map[string]bool)
	for path, set := range paths {
		for dir := parent(path); set && dir != ""; dir = parent(dir) {
			above[dir] = true
		}
	}
	return func(path string) bool { return above[path] || isBelow(paths, parent(path)) }
}
