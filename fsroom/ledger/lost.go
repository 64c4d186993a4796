package ledger

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// full returns where a path of the tree is.
func (l *Ledger) full(path string) string {
	return filepath.Join(l.opts.Root, filepath.FromSlash(path))
}

// maxLookedBack is how many snapshots are searched for a loss.
const maxLookedBack = 500

// PlanLost plans to bring back what went when uncommitted content went last. A path went between two snapshots, in
// the order of their moments, if in the second it is missing or empty, a link in the place of a file, or has a content,
// or as a program a mode, that the user's repository had already. That counts as a loss if it went by no undo or
// restore, if what went is in no commit that HEAD has been at since, and in no file now, and if the path is now as
// it was after that. Nothing is removed, and what was written since stays. What is in the stash of the
// repository is kept where it is, and so is what git ignored before it went, while it does. A new file without content
// counts only where nothing else was lost.
//
// [Plan].Lost is the snapshot before the loss, nil if nothing was lost.
func (v *View) PlanLost(filters []string) (*Plan, error) { return v.planLost(filters, 0) }

// planLost is PlanLost for what went since a moment.
func (v *View) planLost(filters []string, since int64) (*Plan, error) {
	p := &Plan{Blind: v.repo != nil && (v.repo.config.otherHash || v.repo.config.filters && v.objects.converts)}
	p.Damaged = v.ledger.Damaged()
	gone, err := v.lastLoss(p, filters, since)
	if err != nil || p.Lost == nil {
		return p, err
	}
	for _, d := range gone {
		if v.isStill(d) {
			p.Steps = append(p.Steps, Step{d.Path, v.Now.state(d.Path, d.To), d.From})
		} else {
			p.keep(d.Path, KeptNewContent)
		}
	}
	then, now := v.objects.leftOut(p.Lost), v.objects.leftOut(v.Now)
	v.keep(p, func(path string) bool { // what was left out, and is gone, comes back as it was recorded last
		return now(path) || then(path) && exists(v.ledger.full(path))
	})
	return p, nil
}

// LostNow returns how many paths went since the turn before the last one ended, and the moment of the snapshot before that;
// 0 if none did. What a turn made or changed itself and took away again is no loss, unless a command took it that is known to
// destroy.
func (v *View) LostNow() (files int, since time.Time, err error) {
	var start *Snapshot // the beginning of the last turn
	for _, s := range v.All {
		if s.Why == WhyStart && s.Turn > 0 && (start == nil || s.At >= start.At) {
			start = s
		}
	}
	ended := int64(0) // the turn before
	for _, s := range v.All {
		if start != nil && s.IsOfTurn() && s.Turn < start.Turn {
			ended = max(ended, s.At)
		}
	}
	p, err := v.planLost(nil, ended)
	if err != nil || p.Lost == nil || len(p.Steps) > 0 && !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.To.ID != emptyBlob }) {
		return 0, since, err
	}
	inTurn := start != nil && p.Lost.Note == "" && p.Lost.At >= start.At
	if inTurn {
		_, end := TurnOf(v.All, start.Turn)
		inTurn = end == nil || p.Lost.At < end.At
	}
	for _, path := range p.WentPaths() {
		was, is := State{Mode: modeFile}, State{}
		if inTurn {
			was, err = v.objects.at(start.Tree, path)
			is, _ = v.objects.at(v.Now.Tree, path)
		}
		if err != nil {
			return 0, since, err
		}
		if was.exists() && was != is {
			files++
		}
	}
	return files, p.Lost.Time(), nil
}

// lastLoss finds the last loss since a moment, and returns what went in it. One that a snapshot by time has cut in two is one.
func (v *View) lastLoss(p *Plan, filters []string, since int64) (gone []Step, err error) {
	l := losses{View: v, plan: p, present: make(map[ID]bool), went: make(map[string]bool)}
	l.pasts = map[string]*past{"": pastOf(v.repo, v.objects)}
	l.pasts[""].inRepo = v.top.inRepo
	v.top.each(func(d *directory, f *file) {
		l.present[f.id] = f.id != emptyBlob
		module := strings.TrimSuffix(d.prefix(), d.inRepo)
		if d.inRepo == v.top.inRepo+d.prefix() || l.pasts[module] != nil {
			return
		}
		if repo := openRepository(v.ledger.full(module), v.ledger.opts.Home); repo != nil {
			l.pasts[module] = pastOf(repo, openObjects(v.ledger.objectsDir(), repo, v.ledger.opts.Fault))
			l.pasts[module].module = true
		}
	})
	defer func() {
		for module, p := range l.pasts {
			if module != "" {
				p.objects.close()
			}
		}
	}()
	all := slices.DeleteFunc(slices.Clone(v.All[max(0, len(v.All)-maxLookedBack):]), func(s *Snapshot) bool { return s.At < since })
	slices.SortStableFunc(all, func(a, b *Snapshot) int { return cmp.Compare(a.At, b.At) })
	known := make(map[string]bool)
	after := v.Now
	for _, s := range slices.Backward(all) {
		went, lost, err := l.between(s, after, filters)
		if IsLost(err) { // a directory of it is damaged: the one before may be whole
			p.Damaged++
			continue
		}
		if err != nil {
			return nil, err
		}
		if p.Lost != nil && !lost && !l.came {
			break
		}
		if lost {
			p.Lost = cmp.Or(p.Lost, s)
			for _, d := range went {
				if !known[d.Path] {
					gone, known[d.Path] = append(gone, d), true
				}
			}
		}
		if p.Lost != nil && s.Why != WhyTick {
			break
		}
		after = s
	}
	if p.Lost == nil {
		p.Lost, gone = l.emptyLost, l.empty
	}
	return gone, nil
}

// losses looks for what was lost between snapshots.
type losses struct {
	*View
	plan    *Plan            // names what is in a stash
	present map[ID]bool      // contents that are in a file now
	pasts   map[string]*past // by the directory of the submodule, with a slash; "" is the repository of the tree
	went    map[string]bool  // paths that went after the snapshots looked at
	came    bool             // between the last two, a file that was missing, or had been begun, came back as git has it

	empty     []Step // new files without content that went last: a loss only where there is no other
	emptyLost *Snapshot
}

// between returns what went between two snapshots, and whether something was lost with it.
func (l *losses) between(a, b *Snapshot, filters []string) (gone []Step, lost bool, err error) {
	l.came = false
	if b.Why == WhyUndo || b.Why == WhyRestore { // somebody wanted that, and was told the way back
		return nil, false, nil
	}
	differences, err := l.differences(a, b, filters)
	if err != nil {
		return nil, false, err
	}
	ignored, err := l.ignoredAndGone(a, b, filters)
	if err != nil {
		return nil, false, err
	}
	moved := slices.ContainsFunc(differences, func(d Step) bool { return !d.From.exists() && d.To.ID == emptyBlob })
	for i, d := range append(differences, ignored...) {
		again := l.went[d.Path]
		l.went[d.Path] = again || !d.To.exists()
		past, path := l.pastOf(d.Path)
		was, is := past.head(a, path), past.head(b, path)
		l.came = l.came || (!d.From.exists() || d.From.ID == emptyBlob) && was.exists() && past.objects.isStoredAs(d.To, was)
		if b.Why == WhyTick && (!d.To.exists() || d.To.ID == emptyBlob) { // perhaps taken between two steps of a command that replaces the file
			now, err := l.objects.at(l.Now.Tree, d.Path)
			if became := (Step{d.Path, d.From, now}); err == nil && now.exists() && past.went(became, was, a) {
				d = became
			}
		}
		begun := a.Why == WhyTick && d.From.ID == emptyBlob && d.To.exists() && d.To.ID != emptyBlob // it was something else before
		if !d.From.exists() || begun || !past.went(d, was, a) {
			if d.From.Mode == modeLink && d.To.exists() { // by what was written since
				gone = append(gone, Step{Path: d.Path, From: d.From})
			}
			continue
		}
		isMode := d.From.ID == d.To.ID
		equals := past.objects.isStoredAs
		switch {
		case (equals(d.From, was) || past.module && past.objects.isIn(past.since(a), path, d.From)) && equals(d.To, is): // git put it away
			continue
		case equals(d.From, was), !isMode && d.From.ID == emptyBlob && (d.To.exists() || moved || again):
		case !l.isStill(d), !isMode && l.present[d.From.ID], equals(d.From, is), past.objects.isIn(past.since(a), path, d.From):
		case !isMode && past.objects.isIn(past.stashed, path, d.From):
			l.plan.keep(d.Path, KeptStashed)
			continue
		case i >= len(differences) && l.ignored(d.Path): // a loss of what is not ignored may be older
			at, _ := l.objects.ignoredAt(b, d.Path)
			l.plan.keep(cmp.Or(at, d.Path), KeptIgnored)
			continue
		case !isMode && d.From.ID == emptyBlob:
			if l.emptyLost = cmp.Or(l.emptyLost, a); l.emptyLost == a {
				l.empty = append(l.empty, d)
			}
		default:
			lost = true
		}
		gone = append(gone, d)
	}
	return gone, lost, nil
}

// ignoredAndGone returns the paths of a snapshot that went after the next one, at which git ignored them, and are in none since.
func (l *losses) ignoredAndGone(a, b *Snapshot, filters []string) ([]Step, error) {
	found, err := l.ignoredSince(a, b, filters)
	unseen := l.objects.unseen(a, l.Now)
	found = slices.DeleteFunc(found, func(d Step) bool {
		hidden, err2 := unseen(d)
		now, err3 := l.objects.at(l.Now.Tree, d.Path)
		err = cmp.Or(err, err2, err3)
		return hidden || now.exists() || l.went[d.Path]
	})
	return found, err
}

// went reports whether a path has become what is likely to be no work. was is what the commit of that time has.
func (p *past) went(d Step, was State, a *Snapshot) bool {
	switch {
	case d.From.ID == d.To.ID: // a mode
		return d.From.Mode != d.To.Mode && d.To.Mode == was.Mode
	case isRegular(d.From.Mode) && d.To.exists() && !isRegular(d.To.Mode):
		return true
	}
	return !d.To.exists() || d.To.ID == emptyBlob || slices.ContainsFunc(p.objects.storedAs(d.To), func(id ID) bool {
		return id == was.ID || p.objects.knownBefore(id, a.End)
	})
}

// treesOf returns the trees of those commits that can be read.
func (o *objects) treesOf(commits []ID) (trees []ID) {
	for _, id := range commits {
		if tree := o.treeOf(id); tree != (ID{}) {
			trees = append(trees, tree)
		}
	}
	return trees
}

// isStill reports whether a path is now what it became.
func (v *View) isStill(d Step) bool {
	now, err := v.objects.at(v.Now.Tree, d.Path)
	return err == nil && (now.Mode == d.To.Mode && now.ID == d.To.ID || now.Mode == modeDir && !d.To.exists())
}

// knownBefore reports whether the user's repository had an object before a moment.
func (o *objects) knownBefore(id ID, moment int64) bool {
	old := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.ModTime().UnixNano() <= moment
	}
	return slices.ContainsFunc(o.user, func(p *pack) bool { return p.has(id) && old(p.path+".pack") }) ||
		slices.ContainsFunc(o.theirs, func(dir string) bool { return old(looseFile(dir, id)) })
}

// ignored reports whether a path is ignored by the rules as they are in the tree now, or is there and has the
// name of a secret, and is tracked by nobody.
func (v *View) ignored(path string) bool {
	what, dir, inRepo := v.rules, "", v.top.inRepo
	if what.tracked.has(inRepo + path) {
		return false
	}
	for rest := path; ; {
		if st, err := linkStat(v.ledger.full(dir)); dir == "" || err == nil && st.mode == modeDir { // a link may lead anywhere
			what = what.in(v.ledger.full(dir), inRepo)
		}
		name, below, deeper := strings.Cut(rest, "/")
		if name == ".git" || what.match(inRepo, name, deeper) {
			return true
		}
		if !deeper {
			return IsSecret(name) && exists(v.ledger.full(path)) // where nothing is, nothing unrecorded can be lost
		}
		dir, inRepo, rest = dir+name+"/", inRepo+name+"/", below
	}
}
