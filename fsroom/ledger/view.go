package ledger

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// A View is the tree as it is now, compared with what is recorded. It writes nothing unless
// it belongs to a snapshot that is being taken.
type View struct {
	ledger  *Ledger
	repo    *repository
	rules   *rules // at the top, without those of its own files
	objects *objects
	top     *directory
	Now     *Snapshot   // the tree as it was scanned, without a number; nil of a view without a scan
	All     []*Snapshot // that are recorded, oldest first
	last    *Snapshot   // the last line, nil if there is none
	lost    bool        // it, or more lines before it, do not count: a power cut took the trees
}

// Look scans the tree without recording anything. [View.Close] has to be called.
func (l *Ledger) Look(ctx context.Context) (*View, error) { return l.look(ctx, false, Request{}) }

// Recorded returns a view without a scan, to compare snapshots.
func (l *Ledger) Recorded() *View {
	all, _ := l.Lines()
	return l.view(all)
}

// view returns a view of what is recorded. The last lines of an earlier boot may be those of trees that were lost in a
// power cut: they do not count. What is lost of this boot is damaged.
func (l *Ledger) view(lines []*Snapshot) *View {
	v := &View{ledger: l, repo: findRepository(l.opts.Root, l.opts.Home), All: lines}
	v.objects = openObjects(l.objectsDir(), v.repo, l.opts.Fault)
	if n := len(lines); n > 0 {
		v.last = lines[n-1]
	}
	for n := len(v.All); n > 0 && (v.All[n-1].isLast() || v.All[n-1].Boot != l.opts.Boot && v.objects.lost(v.All[n-1])); n-- {
		v.All, v.lost = v.All[:n-1], v.lost || !v.All[n-1].isLast()
	}
	return v
}

// lost reports whether the trees of a snapshot are lost.
func (o *objects) lost(s *Snapshot) bool {
	return slices.ContainsFunc([]ID{s.Tree, s.Scan, s.Ignored}, func(id ID) bool {
		_, err := o.tree(id)
		return IsLost(err)
	})
}

// Had reports whether a snapshot has a path. One that cannot be read may have it.
func (v *View) Had(path string) bool {
	return slices.ContainsFunc(v.All, func(s *Snapshot) bool {
		at, err := v.objects.at(s.Tree, path)
		return err != nil || at.exists()
	})
}

// Close closes the files of the view.
func (v *View) Close() { v.objects.close() }

// look scans the tree for a request. With keep what it reads is stored.
func (l *Ledger) look(ctx context.Context, keep bool, r Request) (*View, error) {
	lines := l.Lines
	switch {
	case r.Unsynced && r.Why == WhyGuard: // it is compared with the last one, after which a line may stand for none
		lines = func() ([]*Snapshot, error) { return l.linesFrom(func(all []*Snapshot) int { return len(all) - 2 }) }
	case r.Unsynced: // then what came long before the turn is of no use
		lines = func() ([]*Snapshot, error) { return l.Recent(r.Turn) }
	}
	all, err := lines()
	if err != nil {
		return nil, err
	}
	v := l.view(all)
	v.objects.keep, v.objects.later = keep, r.Unsynced
	if err := v.scan(ctx, r.Files); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// scan finds out what the tree is now. If files are given, it looks at them alone where that will do, see scanFiles.
func (v *View) scan(ctx context.Context, files []string) error {
	opts := &v.ledger.opts
	v.top = &directory{old: readCache(v.ledger.cacheFile())}
	if v.top.old == nil || !v.objects.isOwn(v.top.old.id) { // it was lost, or packs were
		v.top.old = v.recorded()
	}
	s := &scanner{ctx: ctx, root: opts.Root, home: opts.Home, limits: opts.Limits, objects: v.objects}
	var before []string
	if opts.Others != nil {
		since := time.Now()
		if v.last != nil {
			since = time.Unix(0, v.last.End)
		}
		s.others, before = opts.Others(since)
	}
	head := v.repo.head()
	known := len(v.All) > 0 && v.top.old != nil && v.last == v.All[len(v.All)-1] && v.last.Tree == v.last.Scan && v.top.old.id == v.last.Scan
	if len(files) > 0 && known && head == v.last.Head && len(s.others) == 0 && s.scanFiles(v.top.old, files) {
		v.top, v.top.old.same = v.top.old, s.count == 0
		s.count, s.left, s.ignores = v.last.Files, v.last.LeftOut, v.last.Ignored
	} else if err := v.scanAll(s); err != nil {
		return err
	}
	v.Now = &Snapshot{At: s.started, End: time.Now().UnixNano(), Tree: v.top.id, Scan: v.top.id, Head: head, Files: s.count, Others: before}
	if v.repo != nil {
		v.Now.HeadLog = fileSize(v.repo.headLog())
	}
	v.Now.LeftOut, v.Now.Ignored = s.left, s.ignores
	v.Now.Perm, v.Now.Modes = v.top.permissions()
	return nil
}

// scanAll scans the whole tree.
func (v *View) scanAll(s *scanner) (err error) {
	if v.rules, v.top.inRepo, err = v.topRules(); err != nil {
		return err
	}
	v.objects.converts = v.objects.converts || slices.ContainsFunc(v.rules.tracked, func(path string) bool {
		return strings.HasSuffix(path, "/.gitattributes")
	})
	s.left, s.count = nil, 0 // of files that were looked at before
	err = s.scan(v.rules, v.top)
	slices.SortStableFunc(s.left, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	return err
}

// recorded returns what the scan of the last snapshot found, without what each file was: all are
// read again. It is nil if there is none.
func (v *View) recorded() *directory {
	if len(v.All) == 0 {
		return nil
	}
	s := v.All[len(v.All)-1]
	var read func(*directory) error
	read = func(d *directory) error {
		entries, err := v.objects.tree(d.id)
		for _, e := range entries {
			f := file{name: e.name, id: e.id, again: true}
			if f.mode = e.mode; e.mode == modeDir {
				f.sub = &directory{path: d.prefix() + e.name, id: e.id}
				err = cmp.Or(err, read(f.sub))
			} else {
				f.perm = s.perm(d.prefix()+e.name, e.mode)
			}
			d.files = append(d.files, f)
		}
		return err
	}
	top := &directory{id: s.Scan}
	if read(top) != nil {
		return nil
	}
	return top
}

// writeCache writes what the scan found. Without it the next scan reads more.
func (v *View) writeCache() {
	if !v.top.same && v.ledger.opts.Fault("cache") == nil {
		_ = writeCache(v.ledger.cacheFile(), v.top, v.Now.Files)
	}
}

// permissions returns what most files and most programs have, and the exceptions.
func (d *directory) permissions() (most [2]uint32, other modes) {
	counts := [2]map[uint32]int{{}, {}} // of files and of programs, see [modeExec]
	d.each(func(_ *directory, f *file) {
		if isRegular(f.mode) {
			counts[f.mode&1][f.perm]++
		}
	})
	for i, c := range counts {
		for perm, n := range c {
			if n > c[most[i]] || n == c[most[i]] && perm < most[i] {
				most[i] = perm
			}
		}
	}
	other = modes{}
	d.each(func(in *directory, f *file) {
		if isRegular(f.mode) && f.perm != most[f.mode&1] {
			other[in.prefix()+f.name] = f.perm
		}
	})
	return most, other
}
