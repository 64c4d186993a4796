package ledger

import (
	"cmp"
	"maps"
	"slices"
)

// changed is differences for a turn, without what an undo or a restore of somebody else did in it.
func (v *View) changed(from, to *Snapshot, filters []string) ([]Step, error) {
	found, err := v.differences(from, to, filters)
	if err != nil {
		return nil, err
	}
	return v.ofTurn(from, to, found)
}

// ofTurn returns those of the differences between the beginning of a turn and another snapshot that are of the turn's
// own. What somebody else has taken back or restored meanwhile is not; what the turn changed after that begins there.
func (v *View) ofTurn(from, to *Snapshot, all []Step) (own []Step, err error) {
	var spans [][2]*Snapshot // between which only the turn changed something
	begin := from
	for i, s := range v.All {
		isAct := s.Why == WhyUndo || s.Why == WhyRestore
		isWithin := s.Number > from.Number && (to.Number == 0 || s.Number <= to.Number)
		if isAct && isWithin && i > 0 && v.All[i-1].Why == whyBefore+s.Why && s.Agent != from.Agent {
			spans, begin = append(spans, [2]*Snapshot{begin, v.All[i-1]}), s
		}
	}
	if from.Why != WhyStart || spans == nil {
		return all, nil
	}
	for _, d := range all {
		for _, span := range append(spans, [2]*Snapshot{begin, to}) {
			in, failed := v.objects.step(span[0], span[1], d.Path)
			if err = cmp.Or(err, failed); in.From != in.To {
				own = append(own, Step{d.Path, in.From, d.To})
				break
			}
		}
	}
	return own, err
}

// withUnseen returns the second of two snapshots, with what is in [View.othersBetween], and what git ignores only since
// the first, as left out.
func (v *View) withUnseen(from, to *Snapshot) (*Snapshot, error) {
	s := *to
	s.LeftOut = slices.DeleteFunc(slices.Clone(s.LeftOut), func(l LeftOut) bool { return l.Why == LeftRoom })
	for _, path := range slices.Sorted(maps.Keys(v.othersBetween(from, to))) {
		s.LeftOut = append(s.LeftOut, LeftOut{Path: path, Why: LeftRoom})
	}
	for _, l := range from.LeftOut { // what has gone since, too
		isGone := (l.Why == LeftLarge || l.Why == LeftRepository) && !v.objects.leftOut(to)(l.Path)
		if at, err := v.objects.at(to.Tree, l.Path); isGone && err == nil && !at.exists() {
			s.LeftOut = append(s.LeftOut, l)
		}
	}
	ignored, err := v.ignoredSince(from, to, nil)
	for _, d := range ignored {
		at, _ := v.objects.ignoredAt(to, d.Path)
		if l := (LeftOut{Path: at, Why: LeftIgnored}); !slices.Contains(s.LeftOut, l) {
			s.LeftOut = append(s.LeftOut, l)
		}
	}
	return &s, err
}

// othersBetween returns the directories in which somebody else had a turn at a snapshot or between two: who changed
// what there is not to be told apart.
func (v *View) othersBetween(from, to *Snapshot) map[string]bool {
	others := make(map[string]bool)
	from.addOthers(others)
	for _, s := range append(slices.Clip(v.All), to) {
		if s == to || s.Number > from.Number && (s.Number < to.Number || to.Number == 0) {
			s.addOthers(others)
			for _, path := range s.Others {
				others[path] = true
			}
		}
	}
	return others
}

// addOthers adds the directories in which somebody else had a turn at the snapshot.
func (s *Snapshot) addOthers(others map[string]bool) {
	for _, l := range s.LeftOut {
		if l.Why == LeftRoom {
			others[l.Path] = true
		}
	}
}
