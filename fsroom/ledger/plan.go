package ledger

import (
	"errors"
	"slices"
	"sort"
)

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
	KeptStashed      = "stashed" // in the stash of the repository
	KeptDamaged      = "damaged" // the store cannot give the content any more
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
	InTheWay  []string  // of a restore, what keeps it from writing
	Lost      *Snapshot // of [View.PlanLost], the snapshot before the loss
	Damaged   int       // of [View.PlanLost], snapshots that could not be looked at
	Blind     bool      // of [View.PlanLost]: of some files it is not known what commits have
	Git       int       // of [View.PlanUndo], paths that git moved from commit to commit, which stay
	Commits   int       // of [View.PlanUndo], how many commits were made meanwhile
	Straight  bool      // they, and no others, lead from the one HEAD to the other
}

// Went returns how many paths went in the loss of [View.PlanLost] and are to come back, also those in whose place
// something stands.
func (p *Plan) Went() int { return len(p.WentPaths()) }

// WentPaths returns those paths.
func (p *Plan) WentPaths() (paths []string) {
	for _, s := range p.Steps {
		paths = append(paths, s.Path)
	}
	for _, k := range p.Kept {
		if k.Why == ConflictInTheWay {
			paths = append(paths, k.Path)
		}
	}
	return paths
}

// PlanUndo plans to take back what changed between two snapshots, path by path, and nothing
// else. What git alone moved from commit to commit stays: it was nobody's work of that time. There is nothing to be done if there is a conflict. A file that is too large to be
// recorded, and changed since the first snapshot, is kept as it is.
func (v *View) PlanUndo(from, to *Snapshot, filters []string) (*Plan, error) {
	differences, err := v.changed(from, to, filters)
	if err != nil {
		return nil, err
	}
	u, moves := undo{View: v, plan: &Plan{}, to: to}, v.movesBetween(from, to)
	others := v.othersBetween(from, to)
	v.Now.addOthers(others)
	u.plan.Commits, u.plan.Straight = len(moves.own), moves.straight
	left, unsure := v.objects.leftOut(from, to, v.Now), map[string]bool{}
	for _, path := range slices.Concat(from.Unsure, to.Unsure) {
		if !matchesAny(filters, path) || unsure[path] || isBelow(others, path) {
			continue
		}
		unsure[path] = true
		before, known := v.lastKnown(path, from)
		if !known || slices.Contains(to.Unsure, path) {
			u.conflict(path, ConflictNoBefore)
			continue
		}
		after, err2 := v.objects.at(to.Tree, path)
		if err = errors.Join(err, err2); err2 == nil {
			err = errors.Join(err, u.pathOrKept(Step{path, before, to.state(path, after)}))
		}
	}
	for _, d := range differences {
		ignored, err2 := v.objects.ignoredAt(v.Now, d.Path)
		was, gits, known := moves.before(d)
		switch {
		case unsure[d.Path]:
		case gits:
			u.plan.Git++
		case err2 != nil:
			err = errors.Join(err, err2)
		case isBelow(others, d.Path):
		case left(d.Path), ignored != "" && d.To.exists():
			u.conflict(d.Path, ConflictLeftOut)
		case !known:
			u.conflict(d.Path, ConflictNoBefore)
		default:
			d.From = was
			err = errors.Join(err, u.pathOrKept(d))
		}
	}
	for _, l := range slices.Concat(from.LeftOut, to.LeftOut) { // what is too large, and may have changed in the turn
		st, err := linkStat(v.ledger.full(l.Path))
		if l.Why == LeftLarge && matchesAny(filters, l.Path) && (err != nil || st.ctime >= from.At-recent) {
			u.plan.keep(l.Path, ConflictLeftOut)
		}
	}
	ignored, err2 := v.ignoredSince(from, to, filters)
	for _, d := range ignored { // what it was at the end of the turn is not known
		if at, _ := v.objects.ignoredAt(to, d.Path); exists(v.ledger.full(d.Path)) && !v.isStill(Step{Path: d.Path, To: d.From}) {
			u.plan.keep(at, KeptIgnored)
		}
	}
	err = errors.Join(err, err2)
	u.keepNamed(u.plan, filters)
	for path := range others {
		if matchesAny(filters, path) || slices.ContainsFunc(filters, func(f string) bool { return matchesAny([]string{path}, f) }) {
			u.plan.keep(path, ConflictLeftOut)
		}
	}
	removed := removals(u.plan.Steps)
	for _, s := range u.plan.Steps { // what is in no snapshot may be in the way
		if v.inTheWay(s, removed) != "" {
			u.conflict(s.Path, ConflictInTheWay)
		}
	}
	c := u.plan.Conflicts
	sort.Slice(c, func(i, j int) bool { return c[i].Path < c[j].Path })
	return u.plan, err
}

// lastKnown returns what a path was in the last snapshot before another one that has something there. It is not known if
// none has.
func (v *View) lastKnown(path string, before *Snapshot) (s State, known bool) {
	at := int64(0)
	for _, other := range v.All {
		if other.Number == before.Number || other.End > before.At || other.At < at {
			continue
		}
		if found, err := v.objects.at(other.Tree, path); err == nil && found.exists() && found.Mode != modeDir {
			s, known, at = other.state(path, found), true, other.At
		}
	}
	return s, known
}

// An undo is a plan that is being made.
type undo struct {
	*View
	plan *Plan
	to   *Snapshot
}

func (u *undo) conflict(path, why string) {
	u.plan.Conflicts = append(u.plan.Conflicts, Conflict{Path: Printable(path), Why: why})
}

// pathOrKept is path, but a path whose content is damaged is kept as it is.
func (u *undo) pathOrKept(d Step) error {
	steps := len(u.plan.Steps)
	err := u.path(d)
	if err == nil && len(u.plan.Steps) > steps {
		err = u.objects.readable(u.plan.Steps[steps].To)
	}
	if IsLost(err) {
		u.plan.Steps = u.plan.Steps[:steps]
		u.plan.keep(d.Path, KeptDamaged)
		return nil
	}
	return err
}

// readable returns the error of reading what is to be written.
func (o *objects) readable(s State) (err error) {
	if s.exists() {
		_, err = o.blob(s.ID)
	}
	return err
}

func (u *undo) path(d Step) error {
	at, err := u.objects.at(u.Now.Tree, d.Path)
	if err != nil {
		return err
	}
	now, was, became := u.Now.state(d.Path, at), d.From, d.To
	switch {
	case now == was, now.Mode == modeDir && !was.exists(): // it is back already
	case now == became, now.Mode == modeDir && !became.exists():
		u.plan.Steps = append(u.plan.Steps, Step{d.Path, became, was})
	case isRegular(now.Mode) && isRegular(was.Mode) && isRegular(became.Mode):
		return u.merge(d.Path, now, was, became)
	case !now.exists():
		u.gone(d.Path, became)
	case kindOf(now) != kindOf(became) && became.exists():
		u.conflict(d.Path, ConflictType)
	case !became.exists():
		u.conflict(d.Path, ConflictInTheWay)
	default:
		u.changedSince(d.Path, nil)
	}
	return nil
}

func kindOf(s State) uint32 { return s.Mode &^ 0o777 }

// merge takes back the lines of the turn in a file that was changed since, and its permissions.
func (u *undo) merge(path string, now, was, became State) error {
	next := now
	if was.Mode != became.Mode || was.Perm != became.Perm {
		switch {
		case now.Perm == was.Perm && now.Mode == was.Mode: // they are back already
		case now.Perm == became.Perm && now.Mode == became.Mode:
			next.Mode, next.Perm = was.Mode, was.Perm
		default:
			u.changedSince(path, nil)
			return nil
		}
	}
	switch {
	case now.ID == became.ID:
		next.ID = was.ID
	case now.ID != was.ID && was.ID != became.ID:
		id, conflict, err := u.objects.mergeContent(now.ID, was.ID, became.ID)
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

func (o *objects) mergeContent(now, was, became ID) (id ID, conflict *lineConflict, err error) {
	var texts [3][]byte
	for i, id := range []ID{became, now, was} {
		if texts[i], err = o.blob(id); err != nil {
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
	id, err = o.put(kindBlob, merged)
	return id, nil, err
}

// changedSince adds a conflict, with the turn in which the path was changed if that is known.
func (u *undo) changedSince(path string, lines *lineConflict) {
	c := Conflict{Path: Printable(path), Why: ConflictChanged}
	if lines != nil && lines.first > 0 {
		if c.Lines = itoa(lines.first); lines.last > lines.first {
			c.Lines += "–" + itoa(lines.last)
		}
	}
	for _, s := range u.All {
		if s.Why != WhyStart || s.Turn <= u.to.Turn {
			continue
		}
		start, end := TurnOf(u.All, s.Turn)
		if end == nil {
			end = u.Now
		}
		if d, err := u.objects.step(start, end, path); err == nil && d.From != d.To {
			c.Turn, c.Agent = s.Turn, s.Agent
		}
	}
	u.plan.Conflicts = append(u.plan.Conflicts, c)
}

// gone adds a conflict about a file that was removed since, with where its content is now.
func (u *undo) gone(path string, became State) {
	c := Conflict{Path: Printable(path), Why: ConflictChanged}
	u.top.each(func(in *directory, f *file) {
		other := in.prefix() + f.name
		if c.To == "" && f.id == became.ID && f.id != emptyBlob {
			c.Why, c.To = ConflictRenamed, Printable(other)
		}
	})
	u.plan.Conflicts = append(u.plan.Conflicts, c)
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

// inTheWay returns what stands where a step writes, or where one of the directories above it has to be, and that neither
// the step nor a removal deals with, "" for nothing.
func (v *View) inTheWay(s Step, removed map[string]bool) string {
	if !s.To.exists() {
		return ""
	}
	if dir, err := noDir(v.ledger.opts.Root, s.Path); dir != "" {
		if err == nil && !removed[dir] {
			return dir
		}
	} else if !s.From.exists() && !removed[s.Path] {
		if st, err := linkStat(v.ledger.full(s.Path)); err == nil && (st.mode != modeDir || !v.onlyRemoved(s.Path, removed)) {
			return s.Path
		}
	}
	return ""
}

// onlyRemoved reports whether all files below a directory are removed by the plan.
func (v *View) onlyRemoved(dir string, removed map[string]bool) bool {
	names, err := readDir(v.ledger.full(dir))
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
