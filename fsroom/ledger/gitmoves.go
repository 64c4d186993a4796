package ledger

import "path/filepath"

// gitMoves tells what git moved from commit to commit between two snapshots from what was written.
type gitMoves struct {
	*View
	from     ID // tree of HEAD
	moves    []gitMove
	sparse   bool
	start    *Snapshot
	own      []ID // commits that were made meanwhile, oldest first
	straight bool // they lead from the one HEAD to the other
}

// A gitMove is from the tree of one commit to that of another. It may have been a reset that left the files.
type gitMove struct {
	from, to ID
	reset    bool
}

// movesBetween returns what git has done between two snapshots. Where HEAD has no log, all is one move.
func (v *View) movesBetween(from, to *Snapshot) gitMoves {
	m := gitMoves{View: v, start: from, from: v.objects.treeOf(from.Head.Commit)}
	m.sparse = v.repo != nil && exists(filepath.Join(v.repo.gitDir, "info", "sparse-checkout"))
	if v.repo == nil || from.Head.Commit == to.Head.Commit {
		return m
	}
	chain := chainOf(readLog(v.repo.headLog()), from, to)
	if m.straight = len(chain) > 0; !m.straight {
		m.moves = []gitMove{{m.from, v.objects.treeOf(to.Head.Commit), true}}
	}
	goesOn := false // several moves, as those of a rebase, are one
	for _, c := range chain {
		isCommit := c.isCommit()
		if isCommit {
			m.own, goesOn = append(m.own, c.to), false
		}
		m.straight = m.straight && isCommit && c.what != "commit (amend)" && c.what != "commit (merge)"
		if c.from == c.to || isCommit && c.what != "commit (merge)" {
			continue
		}
		if !goesOn {
			m.moves = append(m.moves, gitMove{from: v.objects.treeOf(c.from)})
		}
		last := &m.moves[len(m.moves)-1]
		last.to, last.reset = v.objects.treeOf(c.to), last.reset || c.what == "reset"
		goesOn = !isCommit
	}
	return m
}

// chainOf returns the changes of HEAD between two snapshots. Where the log does not tell which these are, it returns those that led last
// from the one commit to the other, until the second of the later snapshot if that can be told.
func chainOf(all []headChange, from, to *Snapshot) []headChange {
	a, b := from.Head.Commit, to.Head.Commit
	first, last := -1, -1
	for i, c := range all {
		if i > 0 && all[i-1].end == from.HeadLog && c.from == a {
			first = i
		}
		if c.to == b && (c.at <= to.End/1e9 || last < 0) {
			last = i
		}
	}
	if first >= 0 && first <= last {
		return all[first : last+1]
	}
	for i := last; i >= 0; i-- {
		if all[i].from == a {
			return all[i : last+1]
		}
	}
	return nil
}

// before returns what a path was before the turn's own changes of it: what it was at first, as git has moved it since.
// A path that is still that is git's. It is not known where the two cannot be told apart.
func (m *gitMoves) before(d Step) (was State, gits, known bool) {
	o := m.objects
	was = d.From
	if at, err := o.at(m.from, d.Path); err == nil && m.sparse && !was.exists() && at.exists() {
		was, gits = m.start.state(d.Path, at), true // it is missing because the checkout is or was sparse
	}
	for _, g := range m.moves {
		x, err1 := o.at(g.from, d.Path)
		y, err2 := o.at(g.to, d.Path)
		if err1 != nil || err2 != nil || g.to == (ID{}) || x == y || o.isStoredAs(was, y) {
			continue
		}
		if own, sure := m.brought(d.Path, y); !sure {
			return was, false, false
		} else if own {
			continue
		}
		next, ok := m.follow(d.Path, was, x, y)
		switch isGits := o.isStoredAs(d.To, y); {
		case isGits && o.isStoredAs(was, x):
			next, ok = d.To, true
		case isGits && !ok:
			continue
		case ok && g.reset && !isGits:
			var with State // the move, if it has not followed it yet
			if with, ok = m.follow(d.Path, d.To, was, next); ok && with.ID != d.To.ID {
				continue
			}
		}
		if was, gits = next, true; !ok {
			return was, false, false
		}
	}
	return was, gits && o.isStoredAs(d.To, was), true
}

// brought reports whether a commit that was made meanwhile has a path as none of its parents has it. It is not sure to
// be its own in a merge of parents that differ there.
func (m *gitMoves) brought(path string, y State) (own, sure bool) {
	for _, id := range m.own {
		c, err := m.objects.commit(id)
		before := append(m.objects.treesOf(c.parents), ID{}) // which a first commit begins with
		if err != nil || len(before) <= len(c.parents) {
			return true, true
		}
		before = before[:max(1, len(c.parents))]
		if m.objects.isIn([]ID{c.tree}, path, y) && !m.objects.isIn(before, path, y) {
			first, _ := m.objects.at(before[0], path)
			last, _ := m.objects.at(before[len(before)-1], path)
			return true, first == last
		}
	}
	return false, true
}

// follow returns what a path is that git moves from what one commit has to what another has. It is not known if both
// changed the same lines, or if git may store the file as something else.
func (m *gitMoves) follow(path string, s, from, to State) (State, bool) {
	switch o := m.objects; {
	case o.isStoredAs(s, from):
		return m.start.state(path, to), !o.converts || !isRegular(to.Mode) || from.exists() && s.ID == from.ID
	case isRegular(s.Mode) && isRegular(from.Mode) && isRegular(to.Mode):
		id, conflict, err := o.mergeContent(s.ID, to.ID, from.ID)
		s.ID = id
		return s, err == nil && conflict == nil
	}
	return s, false
}

// InProgress returns what git is in the middle of in this work tree: rebase, merge, cherry-pick, revert, bisect; ""
// for nothing.
func (v *View) InProgress() string {
	if v.repo == nil {
		return ""
	}
	for _, x := range [][2]string{{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"}} {
		if exists(filepath.Join(v.repo.gitDir, x[0])) {
			return x[1]
		}
	}
	return ""
}

// Unrecorded counts what has gone since a snapshot and is in none.
type Unrecorded struct {
	Ignored  int `json:"ignored"`
	Secret   int `json:"secret"`
	TooLarge int `json:"too_large"`

	Repository int `json:"repository,omitempty"` // other repositories in the tree
}

// Unrecorded returns what was there in a snapshot or a later one, has gone and was never recorded, and whether the
// repository has gone. An ignored directory counts as one. What was recorded before git ignored it is none of
// these, see [View.PlanLost].
func (v *View) Unrecorded(since *Snapshot) (u Unrecorded, repository bool) {
	gone := make(map[string]*int)
	for _, s := range v.All {
		if s.Number < since.Number {
			continue
		}
		for _, l := range s.LeftOut {
			switch {
			case exists(v.ledger.full(l.Path)):
			case l.Why == LeftSecret:
				gone[l.Path] = &u.Secret
			case l.Why == LeftLarge:
				gone[l.Path] = &u.TooLarge
			case l.Why == LeftRepository:
				gone[l.Path] = &u.Repository
			}
		}
		ignored, _ := v.objects.diffTrees(s.Ignored, v.Now.Ignored)
		for _, d := range ignored {
			switch {
			case d.To.exists():
			case d.From.ID == oneOfTooMany:
				gone[d.Path] = &u.TooLarge
			case d.From.ID == ignoredSecret:
				gone[d.Path] = &u.Secret
			case d.From.exists():
				gone[d.Path] = &u.Ignored
			}
		}
	}
	if len(gone) > 0 {
		v.recordedOnce(gone)
	}
	for _, n := range gone {
		*n++
	}
	return u, since.Head != (Head{}) && v.repo == nil
}

// recordedOnce takes out of what is gone what git ignored last and does not ignore now, or did not when it was recorded.
func (v *View) recordedOnce(gone map[string]*int) {
	tree := ID{}
	for _, s := range append([]*Snapshot{v.Now}, v.All[max(0, len(v.All)-maxLookedBack):]...) {
		steps, _ := v.objects.diffTrees(tree, s.Tree)
		tree = s.Tree
		for _, d := range steps {
			for path := d.Path; d.To.exists() && path != ""; path = parent(path) {
				delete(gone, hashed(path))
			}
		}
	}
}
