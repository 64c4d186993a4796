package ledger

import (
	"slices"
	"sort"
)

// PlanRestore plans to make the tree, or the paths that filters name, as in a snapshot. Files
// that the snapshot has not are removed only if exact is set. What is ignored now, or left out
// of one of the snapshots, is kept as it is.
func (v *View) PlanRestore(s *Snapshot, filters []string, exact bool) (*Plan, error) {
	differences, err := v.differences(v.now, s, filters)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	for _, step := range differences {
		if step.To.exists() || exact {
			p.Steps = append(p.Steps, step)
		}
	}
	v.keep(p, newLeftOut(s.LeftOut, v.now.LeftOut))
	for _, l := range v.now.LeftOut { // what must not be read now is no difference
		known := slices.ContainsFunc(p.Kept, func(k Conflict) bool { return matchesAny([]string{l.Path}, k.Path) })
		if !l.isPrivate() || known || !matchesAny(filters, l.Path) {
			continue
		}
		if had, err := v.objects.at(s.Tree, l.Path); err == nil && had.exists() {
			p.Kept = append(p.Kept, Conflict{Path: l.Path, Why: KeptIgnored})
		}
	}
	return p, nil
}

// keep takes the steps out of a plan that would touch what the snapshot before has not.
func (v *View) keep(p *Plan, left leftOut) {
	drop := func(why func(Step) string) {
		p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool {
			w := why(s)
			if w != "" {
				p.Kept = append(p.Kept, Conflict{Path: s.Path, Why: w})
			}
			return w != ""
		})
	}
	drop(func(s Step) string {
		switch {
		case left.has(s.Path):
			return ConflictLeftOut
		case v.ignored(s.Path, false):
			return KeptIgnored
		}
		return ""
	})
	removed := removals(p.Steps)
	drop(func(s Step) string {
		if s.To.exists() && v.inTheWay(s, removed) {
			return ConflictInTheWay
		}
		return ""
	})
	sort.Slice(p.Kept, func(i, j int) bool { return p.Kept[i].Path < p.Kept[j].Path })
}

func lineSpan(first, last int) string {
	if first == last {
		return itoa(first)
	}
	return itoa(first) + "–" + itoa(last)
}
