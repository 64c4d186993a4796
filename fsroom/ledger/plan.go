package ledger

import (
	"slices"
	"sort"
)

// A State is what stands at a path: nothing, a file with permissions, or a link.
type State struct {
	Mode uint32 `json:"mode,omitempty"`
	ID   ID     `json:"id"`
	Perm uint32 `json:"perm,omitempty"`
}

func (s State) exists() bool { return s.Mode != 0 }

func stateOf(s side, snap *Snapshot, path string) State {
	st := State{Mode: s.mode, ID: s.id}
	if isRegular(s.mode) {
		st.Perm = snap.perm(path, s.mode)
	}
	return st
}

// A Step changes one path.
type Step struct {
	Path string `json:"path"`
	From State  `json:"from"` // what stands there
	To   State  `json:"to"`
}

// Why a path cannot be taken back, or is kept as it is.
const (
	ConflictChanged  = "changed_since"
	ConflictRenamed  = "renamed_since"
	ConflictLeftOut  = "left_out"
	ConflictInTheWay = "in_the_way"
	ConflictType     = "type"
	ConflictNoBefore = "no_before" // it is not known what it was before, or whose the change is
	KeptIgnored      = "ignored"
	KeptNewContent   = "new_content"
)

// A Conflict is a path that cannot be taken back.
type Conflict struct {
	Path  string `json:"path"`
	Why   string `json:"why"`
	Turn  int64  `json:"turn_id,omitempty"`  // in which it was changed since
	Agent string `json:"agent_id,omitempty"` // who held it then
	Lines string `json:"lines,omitempty"`    // of the file as it is now
	To    string `json:"to,omitempty"`       // where the same content is
}

// A Plan is what is to be done, path by path, and what cannot or must not be.
type Plan struct {
	Steps     []Step
	Merged    []string
	Conflicts []Conflict
	Kept      []Conflict
	Lost      *Snapshot // of [View.PlanLost], the snapshot before the loss
}

// PlanUndo plans to take back what changed between two snapshots, path by path, and nothing
// else. The plan has no steps if there is a conflict.
func (v *View) PlanUndo(from, to *Snapshot, filters []string) (*Plan, error) {
	p := &Plan{}
	u := undo{View: v, plan: p, from: from, to: to, left: newLeftOut(from.LeftOut, to.LeftOut, v.now.LeftOut), unsure: map[string]bool{}}
	for _, path := range slices.Concat(from.Unsure, to.Unsure) {
		if matchesAny(filters, path) && !u.unsure[path] {
			u.unsure[path] = true
			p.Conflicts = append(p.Conflicts, Conflict{Path: path, Why: ConflictNoBefore})
		}
	}
	differences, err := v.differences(from, to, filters)
	if err != nil {
		return nil, err
	}
	for _, d := range differences {
		if u.unsure[d.path] {
			continue
		}
		if err := u.path(d); err != nil {
			return nil, err
		}
	}
	u.checkWay()
	sort.Slice(p.Conflicts, func(i, j int) bool { return p.Conflicts[i].Path < p.Conflicts[j].Path })
	return p, nil
}

// An undo is a plan that is being made.
type undo struct {
	*View
	plan     *Plan
	from, to *Snapshot
	left     leftOut
	unsure   map[string]bool
}

func (u *undo) conflict(path, why string) {
	u.plan.Conflicts = append(u.plan.Conflicts, Conflict{Path: path, Why: why})
}

func (u *undo) path(d pathDifference) error {
	if u.left.has(d.path) {
		u.conflict(d.path, ConflictLeftOut)
		return nil
	}
	at, err := u.objects.at(u.now.Tree, d.path)
	if err != nil {
		return err
	}
	now, was, became := stateOf(at, u.now, d.path), stateOf(d.from, u.from, d.path), stateOf(d.to, u.to, d.path)
	switch {
	case now == was:
		return nil // it is back already
	case now == became, now.Mode == modeDir && !became.exists():
		u.plan.Steps = append(u.plan.Steps, Step{d.path, became, was})
		return nil
	case isRegular(now.Mode) && isRegular(was.Mode) && isRegular(became.Mode):
		return u.merge(d.path, now, was, became)
	case !now.exists():
		return u.gone(d.path, became)
	case kindOf(now) != kindOf(became) && became.exists():
		u.conflict(d.path, ConflictType)
		return nil
	case !became.exists():
		u.conflict(d.path, ConflictInTheWay)
		return nil
	}
	u.changedSince(d.path, nil)
	return nil
}

func kindOf(s State) uint32 { return s.Mode &^ 0o777 }

// merge takes back the lines of the turn in a file that was changed since, and its
// permissions.
func (u *undo) merge(path string, now, was, became State) error {
	next := now
	if was.Mode != became.Mode || was.Perm != became.Perm {
		if now.Perm != became.Perm || now.Mode != became.Mode {
			u.changedSince(path, nil)
			return nil
		}
		next.Mode, next.Perm = was.Mode, was.Perm
	}
	switch {
	case now.ID == became.ID:
		next.ID = was.ID
	case now.ID != was.ID && was.ID != became.ID:
		id, conflict, err := u.mergeContent(now.ID, was.ID, became.ID)
		if err != nil {
			return err
		}
		if conflict != nil {
			u.changedSince(path, conflict)
			return nil
		}
		next.ID = id
		u.plan.Merged = append(u.plan.Merged, path)
	}
	if next != now {
		u.plan.Steps = append(u.plan.Steps, Step{path, now, next})
	}
	return nil
}

func (u *undo) mergeContent(now, was, became ID) (id ID, conflict *lineConflict, err error) {
	var texts [3][]byte
	for i, id := range []ID{became, now, was} {
		if texts[i], err = u.objects.blob(id); err != nil {
			return ID{}, nil, err
		}
		if !isText(texts[i]) {
			return ID{}, &lineConflict{}, nil
		}
	}
	merged, conflict := merge3(texts[0], texts[1], texts[2])
	if conflict != nil {
		return ID{}, conflict, nil
	}
	id, err = u.objects.put(kindBlob, merged)
	return id, nil, err
}

// changedSince adds a conflict, with the turn in which the path was changed if that is known.
func (u *undo) changedSince(path string, lines *lineConflict) {
	c := Conflict{Path: path, Why: ConflictChanged}
	if lines != nil && lines.first > 0 {
		c.Lines = lineSpan(lines.first, lines.last)
	}
	for _, s := range u.all {
		if s.Why != WhyStart || s.Turn <= u.to.Turn {
			continue
		}
		start, end := TurnOf(u.all, s.Turn)
		if end == nil {
			end = u.now
		}
		a, err1 := u.objects.at(start.Tree, path)
		b, err2 := u.objects.at(end.Tree, path)
		if err1 == nil && err2 == nil && a != b {
			c.Turn, c.Agent = s.Turn, s.Agent
		}
	}
	u.plan.Conflicts = append(u.plan.Conflicts, c)
}

// gone adds a conflict about a file that was removed since, with where its content is now.
func (u *undo) gone(path string, became State) error {
	c := Conflict{Path: path, Why: ConflictChanged}
	u.top.each(func(other string, f *file) {
		if c.To == "" && f.id == became.ID && f.id != emptyBlob {
			c.Why, c.To = ConflictRenamed, printable(other)
		}
	})
	u.plan.Conflicts = append(u.plan.Conflicts, c)
	return nil
}

// checkWay adds conflicts where something stands in the way that is in no snapshot.
func (u *undo) checkWay() {
	removed := removals(u.plan.Steps)
	for _, s := range u.plan.Steps {
		if s.To.exists() && u.inTheWay(s, removed) {
			u.conflict(s.Path, ConflictInTheWay)
		}
	}
}

func removals(steps []Step) map[string]bool {
	m := make(map[string]bool)
	for _, s := range steps {
		if !s.To.exists() {
			m[s.Path] = true
		}
	}
	return m
}

// inTheWay reports whether something stands where a step writes, or where one of the
// directories above it has to be, that neither the step nor a removal deals with.
func (v *View) inTheWay(s Step, removed map[string]bool) bool {
	if !s.From.exists() && !removed[s.Path] {
		if st, err := linkStat(v.full(s.Path)); err == nil {
			if st.mode != modeDir {
				return true
			}
			return !v.onlyRemoved(s.Path, removed)
		}
	}
	for dir := parent(s.Path); dir != ""; dir = parent(dir) {
		st, err := linkStat(v.full(dir))
		if err == nil && st.mode != modeDir && !removed[dir] {
			return true
		}
	}
	return false
}

// onlyRemoved reports whether all files below a directory are removed by the plan.
func (v *View) onlyRemoved(dir string, removed map[string]bool) bool {
	names, err := readDir(v.full(dir))
	if err != nil {
		return false
	}
	for _, n := range names {
		path := dir + "/" + n.name
		if n.mode == modeDir && !v.onlyRemoved(path, removed) || n.mode != modeDir && !removed[path] {
			return false
		}
	}
	return true
}
