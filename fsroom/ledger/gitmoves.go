package ledger

import "path/filepath"

// gitMoves tells what git moved from commit to commit between two snapshots from what was written.
type gitMoves struct {
	*View
	from, to ID // trees of HEAD
	moved    bool
	sparse   bool
	start    *Snapshot
	own      []ID // commits that were made meanwhile, oldest first
	straight bool // they lead from the one HEAD to the other
}

// movesBetween returns what git has done between two snapshots. Where HEAD has no log, or did not move, nothing
// counts as git's.
func (v *View) movesBetween(from, to *Snapshot) gitMoves {
	m := gitMoves{View: v, start: from, from: v.objects.headTree(from.Head), to: v.objects.headTree(to.Head)}
	m.sparse = v.repo != nil && exists(filepath.Join(v.repo.gitDir, "info", "sparse-checkout"))
	if v.repo == nil || from.Head.Commit == to.Head.Commit || m.to == (ID{}) {
		return m
	}
	chain := chainOf(v.repo.headMoves(), from, to)
	m.moved, m.straight = len(chain) > 0, len(chain) > 0
	for _, c := range chain {
		if c.isCommit() {
			m.own = append(m.own, c.to)
		}
		m.straight = m.straight && c.isCommit() && c.what != "commit (amend)" && c.what != "commit (merge)"
	}
	return m
}

// chainOf returns the changes of HEAD between two snapshots. Where the log does not tell which these are, it returns those that led last
// from the one commit to the other, until the second of the later snapshot if that can be told.
func chainOf(all []headChange, from, to *Snapshot) []headChange {
	a, _ := ParseID(from.Head.Commit)
	b, _ := ParseID(to.Head.Commit)
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

// isGits reports whether a path was changed by git alone: it equals HEAD at both ends, and no commit that was made
// meanwhile brought it.
func (m *gitMoves) isGits(d Step) bool {
	if was := m.before(d); was != d.From {
		d.From = was
	} else if !m.moved || d.From.Mode == d.To.Mode && d.From.ID == d.To.ID { // permissions that git does not know
		return false
	}
	equals := func(tree ID, s State) bool {
		at, err := m.objects.at(tree, d.Path)
		return err == nil && m.objects.isStoredAs(s, at)
	}
	if !equals(m.from, d.From) || !equals(m.to, d.To) {
		return false
	}
	for _, id := range m.own {
		c, err := m.objects.commit(id)
		if err != nil {
			return false
		}
		before := m.objects.treesOf(c.parents) // of a merge, what one of them has is not its own
		if len(c.parents) == 0 {
			before = []ID{{}}
		}
		if len(before) < len(c.parents) || equals(c.tree, d.To) && !m.objects.isIn(before, d.Path, d.To) {
			return false
		}
	}
	return true
}

// before returns what a path was. Where a checkout is or was sparse, what is missing and HEAD has is as HEAD has it.
func (m *gitMoves) before(d Step) State {
	at, err := m.objects.at(m.from, d.Path)
	if err != nil || !m.sparse || d.From.exists() || !at.exists() {
		return d.From
	}
	return m.start.state(d.Path, at)
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
