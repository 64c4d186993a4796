package ledger

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// full returns where a path of the tree is.
func (l *Ledger) full(path string) string {
	return filepath.Join(l.opts.Root, filepath.FromSlash(path))
}

// maxLookedBack is how many snapshots are searched for a loss.
const maxLookedBack = 500

// PlanLost plans to bring back what went when uncommitted content went last. A path went
// between two snapshots if it is missing in the second, empty, or has a content that the
// user's repository had already. That counts as a loss if a path that went was not committed,
// is now as it was after that, and its content is in no file now. Nothing is removed, and what
// was written since stays.
func (v *View) PlanLost(filters []string) (*Plan, error) {
	p := &Plan{}
	before, gone, err := v.LastLoss(filters, maxLookedBack)
	if err != nil || before == nil {
		return p, err
	}
	p.Lost = before
	for _, d := range gone {
		if v.isStill(d) {
			p.Steps = append(p.Steps, Step{d.Path, v.Now.state(d.Path, d.To), d.From})
		} else {
			p.Kept = append(p.Kept, Conflict{Path: Printable(d.Path), Why: KeptNewContent})
		}
	}
	v.keep(p, v.objects.leftOut(before, v.Now))
	return p, nil
}

// LastLoss returns the snapshot before the last loss, and what went after it, nil if nothing was
// lost since so many snapshots.
func (v *View) LastLoss(filters []string, most int) (before *Snapshot, gone []Step, err error) {
	present := make(map[ID]bool)
	v.top.each(func(_ *directory, f *file) { present[f.id] = true })
	after := v.Now
	for _, s := range slices.Backward(v.All[max(0, len(v.All)-most):]) {
		gone, lost, err := v.loss(s, after, filters, present)
		if err != nil {
			return nil, nil, err
		}
		if lost {
			return s, gone, nil
		}
		after = s
	}
	return nil, nil, nil
}

// isStill reports whether a path is now what it became.
func (v *View) isStill(d Step) bool {
	now, err := v.objects.at(v.Now.Tree, d.Path)
	return err == nil && (now.Mode == d.To.Mode && now.ID == d.To.ID || now.Mode == modeDir && !d.To.exists())
}

// loss returns what went between two snapshots, and whether something was lost with it.
func (v *View) loss(a, b *Snapshot, filters []string, present map[ID]bool) (gone []Step, lost bool, err error) {
	differences, err := v.differences(a, b, filters)
	if err != nil {
		return nil, false, err
	}
	committed := v.objects.headTree(a.Head)
	for _, d := range differences {
		if !d.From.exists() || d.From.ID == d.To.ID {
			continue
		}
		was, err := v.objects.at(committed, d.Path)
		if err != nil {
			was = State{}
		}
		known := d.To.ID == was.ID || d.To.ID == emptyBlob || v.objects.knownBefore(d.To.ID, a.End)
		if d.To.exists() && !known {
			continue
		}
		gone = append(gone, d)
		lost = lost || was.ID != d.From.ID && !present[d.From.ID] && d.From.ID != emptyBlob && v.isStill(d)
	}
	return gone, lost, nil
}

// knownBefore reports whether the user's repository had an object before a moment.
func (o *objects) knownBefore(id ID, moment int64) bool {
	old := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.ModTime().UnixNano() <= moment
	}
	for _, p := range o.user {
		if p.has(id) && old(p.path+".pack") {
			return true
		}
	}
	return slices.ContainsFunc(o.theirs, func(dir string) bool { return old(looseFile(dir, id)) })
}

// ignored reports whether a path is ignored by the rules as they are in the tree now, or has the
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
			return IsSecret(name)
		}
		dir, inRepo, rest = dir+name+"/", inRepo+name+"/", below
	}
}
