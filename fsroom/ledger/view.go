package ledger

import (
	"context"
	"time"
)

// A View is the tree as it is now, compared with what is recorded. It writes nothing unless
// it belongs to a snapshot that is being taken.
type View struct {
	ledger  *Ledger
	repo    *repository
	objects *objects
	top     *directory
	now     *Snapshot
	all     []*Snapshot // that are recorded
	old     map[string]*cachedDir
}

// Look scans the tree without recording anything. [View.Close] has to be called.
func (l *Ledger) Look(ctx context.Context) (*View, error) {
	v, err := l.look(ctx, false)
	return v, unknown(err)
}

// Recorded returns a view without a scan, to compare snapshots.
func (l *Ledger) Recorded() *View {
	v := &View{ledger: l, repo: findRepository(l.opts.Root, l.opts.Home)}
	v.objects = openObjects(l.objectsDir(), v.repo, l.opts.Fault)
	return v
}

// Now returns the tree as it was scanned, nil of a view without a scan. It has no number.
func (v *View) Now() *Snapshot { return v.now }

// Close closes the files of the view.
func (v *View) Close() {
	v.objects.writer.abandon()
	v.objects.close()
}

func (l *Ledger) look(ctx context.Context, keep bool) (*View, error) {
	all, err := l.Snapshots()
	if err != nil {
		return nil, err
	}
	v := l.Recorded()
	v.all = all
	v.objects.keep = keep
	v.old = readCache(l.cacheFile())
	if top := v.old[""]; top == nil || !v.objects.owns(top.id) {
		v.old = map[string]*cachedDir{} // the store was lost, or its packs
	}
	s := &scanner{ctx: ctx, root: l.opts.Root, home: l.opts.Home, limits: l.opts.Limits, old: v.old, objects: v.objects}
	head := v.repo.head()
	top, err := s.scan(v.repo)
	if err == nil && top.id == (ID{}) {
		top.id, err = v.objects.put(kindTree, nil)
	}
	if err != nil {
		v.Close()
		return nil, err
	}
	v.top = top
	v.now = &Snapshot{At: s.started, End: time.Now().UnixNano(), Tree: top.id, Scan: top.id, Head: head, Files: s.count, LeftOut: s.left}
	v.now.Perm, v.now.Modes = top.permissions()
	return v, nil
}

// owns reports whether the object is in the store.
func (o *objects) owns(id ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.isOwn(id)
}

// writeCache writes what the scan found. Without it the next scan reads more.
func (v *View) writeCache() {
	if old := v.old[""]; old != nil && v.top.same && old.id == v.top.id {
		return
	}
	if v.ledger.opts.Fault("cache") == nil {
		_ = writeCache(v.ledger.cacheFile(), v.top)
	}
}

// each calls f for each file of the directory and below it.
func (d *directory) each(f func(path string, in *directory, file *file)) {
	for i := range d.files {
		if sub := d.files[i].sub; sub != nil {
			sub.each(f)
		} else {
			f(d.prefix()+d.files[i].name, d, &d.files[i])
		}
	}
}

// permissions returns what most files and most programs have, and the exceptions.
func (d *directory) permissions() (most [2]uint32, other modes) {
	var counts [2]map[uint32]int
	counts[0], counts[1] = map[uint32]int{}, map[uint32]int{}
	class := func(f *file) int {
		if f.mode == modeExec {
			return 1
		}
		return 0
	}
	d.each(func(_ string, _ *directory, f *file) {
		if isRegular(f.mode) {
			counts[class(f)][f.perm]++
		}
	})
	for c := range counts {
		for p, n := range counts[c] {
			if n > counts[c][most[c]] || n == counts[c][most[c]] && p < most[c] {
				most[c] = p
			}
		}
	}
	d.each(func(path string, _ *directory, f *file) {
		if isRegular(f.mode) && f.perm != most[class(f)] {
			if other == nil {
				other = modes{}
			}
			other[path] = f.perm
		}
	})
	return most, other
}
