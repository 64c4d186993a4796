package ledger

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/gitfile"
	"github.com/talking-stick/tt/journal/wire"
	"github.com/talking-stick/tt/lockfile"
)

// A Keep says what a prune leaves.
type Keep struct {
	Age  time.Duration // older snapshots go
	Size int64         // of all stores together
	Now  time.Time
}

const (
	// keptAlways is how long everything is kept.
	keptAlways = 24 * time.Hour
	// keptBetween is how long snapshots are kept that are neither beginning nor end of a turn.
	keptBetween = 48 * time.Hour
	// tickEvery is how long all snapshots by time are kept, and then one for as long each.
	tickEvery = time.Hour
	// keptTurns is how many turns are kept whatever their age.
	keptTurns = 20
	// maxPacks is how many small packs a store has before they become one.
	maxPacks = 50
)

// PruneAll prunes the stores in a directory until all together have at most k.Size bytes of
// their own. The store that was not used for the longest time is pruned first.
func PruneAll(ctx context.Context, dir string, o Options, k Keep) (left int64, err error) {
	all := Stores(dir, o)
	sizes := make([]int64, len(all))
	for i, l := range all {
		err = errors.Join(err, l.prune(ctx, k, -1))
		sizes[i] = l.Size()
		left += sizes[i]
	}
	for i, l := range all {
		if left <= k.Size {
			break
		}
		err = errors.Join(err, l.prune(ctx, k, max(0, sizes[i]-(left-k.Size))))
		left += l.Size() - sizes[i]
	}
	return left, err
}

// MayPrune reports whether the store was not pruned for so long, or has so many packs that they are
// to become one, and counts this as a prune.
func (l *Ledger) MayPrune(every time.Duration) bool {
	path := filepath.Join(l.dir, "pruned")
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) < every && l.smallPacks() <= maxPacks {
		return false
	}
	if os.WriteFile(path, nil, 0o600) != nil {
		return false
	}
	lockfile.Adopt(path)
	return lockfile.Touch(path, time.Now()) == nil
}

// smallPacks returns how many packs of its own the store has that are worth joining.
func (l *Ledger) smallPacks() (n int) {
	dir := os.DirFS(l.packDir())
	packs, _ := fs.Glob(dir, ownPrefix+"*.pack")
	for _, pack := range packs {
		if info, err := fs.Stat(dir, pack); err == nil && info.Size() < maxFresh/2 {
			n++
		}
	}
	return n
}

// Stores returns the stores in a directory, the one longest unused first. Their options are those given, but the root.
func Stores(dir string, o Options) (all []*Ledger) {
	names, _ := os.ReadDir(dir)
	used := make(map[*Ledger]time.Time)
	for _, n := range names {
		path := filepath.Join(dir, n.Name())
		b, err := gitfile.Read(filepath.Join(path, "root"))
		if err != nil {
			continue
		}
		o.Root = strings.TrimSuffix(string(b), "\n")
		l := New(path, o)
		if info, err := os.Stat(l.linesFile()); err == nil {
			used[l] = info.ModTime()
		}
		all = append(all, l)
	}
	sort.Slice(all, func(i, j int) bool { return used[all[i]].Before(used[all[j]]) })
	return all
}

// Size returns how many bytes the store has that the user's repository has not.
func (l *Ledger) Size() (n int64) {
	theirs := l.theirs()
	_ = filepath.WalkDir(l.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !theirs(path) {
			n += fileSize(path)
		}
		return nil
	})
	return n
}

// theirs returns a function that reports whether a file of the store is a link to one that the user's repository still
// has. The number of links does not tell: two stores may have the same pack.
func (l *Ledger) theirs() func(path string) bool {
	var dirs []string
	if repo := findRepository(l.opts.Root, l.opts.Home); repo != nil {
		dirs = repo.objectDirs()
	}
	return func(path string) bool {
		rel, err := filepath.Rel(l.objectsDir(), path)
		return err == nil && filepath.IsLocal(rel) &&
			slices.ContainsFunc(dirs, func(dir string) bool { return sameFile(path, filepath.Join(dir, rel)) })
	}
}

// Remove removes the whole store.
func (l *Ledger) Remove(ctx context.Context) error {
	unlock, err := l.lock(ctx, false)
	if err != nil {
		return err
	}
	defer unlock()
	return os.RemoveAll(l.dir)
}

// prune removes snapshots that are too old, and the oldest ones until the store has at most
// size bytes of its own; a negative size is no bound.
func (l *Ledger) prune(ctx context.Context, k Keep, size int64) error {
	unlock, err := l.lock(ctx, true)
	if err != nil {
		return err
	}
	defer unlock()
	if l.Interrupted() {
		return l.recover()
	}
	lines, err := l.Lines()
	if err != nil || len(lines) == 0 {
		return err
	}
	v := l.view(lines)
	all, err := v.All, v.objects.unread
	v.Close()
	if err != nil || len(all) == 0 {
		return err
	}
	safe, thin := l.firstKept(all, k), k.thinned(all)
	kept := slices.DeleteFunc(slices.Clone(all), func(s *Snapshot) bool { return s.Number < safe && k.drops(s) || thin[s] })
	if err := l.repack(len(kept) != len(all), kept, v.last); err != nil || size < 0 {
		return err
	}
	for l.Size() > size {
		n, _ := slices.BinarySearchFunc(kept, safe, func(s *Snapshot, safe int64) int { return cmp.Compare(s.Number, safe) })
		if n == 0 {
			return nil
		}
		smaller := kept[(n+1)/2:]
		if err := l.repack(true, smaller, v.last); err != nil {
			return err
		}
		kept = smaller
	}
	return nil
}

// firstKept returns the number of the first snapshot that is kept in any case.
func (l *Ledger) firstKept(all []*Snapshot, k Keep) int64 {
	first := all[len(all)-1].Number
	turns := make(map[int64]bool)
	for i := len(all) - 1; i >= 0; i-- {
		if s := all[i]; s.Turn > 0 {
			turns[s.Turn] = true
		}
		if len(turns) > keptTurns && k.Now.Sub(all[i].Time()) > keptAlways {
			break
		}
		first = all[i].Number
	}
	return first
}

// drops reports whether a snapshot is too old.
func (k Keep) drops(s *Snapshot) bool {
	age := k.Now.Sub(s.Time())
	if s.IsOfTurn() || s.Why == WhyPerson || s.Why == WhyFirst {
		return age > k.Age
	}
	return age > min(k.Age, keptBetween)
}

// thinned returns the snapshots by time that are older than an hour and not the last of theirs.
func (k Keep) thinned(all []*Snapshot) map[*Snapshot]bool {
	thin, later := make(map[*Snapshot]bool), int64(-1)
	for _, s := range slices.Backward(all) {
		if s.Why != WhyTick || k.Now.Sub(s.Time()) <= tickEvery {
			continue
		}
		hour := s.At / int64(tickEvery)
		thin[s], later = hour == later, hour
	}
	return thin
}

// repack makes the snapshots those that are kept. What they need of packs that only we have
// becomes one pack; a reader finds every object at any time, since the old packs go last. last is the
// last line of all. Without must it is done only where it makes the store smaller.
func (l *Ledger) repack(must bool, kept []*Snapshot, last *Snapshot) error {
	o := openObjects(l.objectsDir(), findRepository(l.opts.Root, l.opts.Home), l.opts.Fault)
	defer o.close()
	o.keep = true
	theirs := l.theirs()
	linked := func(p *pack) bool { return !strings.HasPrefix(filepath.Base(p.path), ownPrefix) }
	stays := func(p *pack) bool { return linked(p) && theirs(p.path+".pack") }
	old := slices.DeleteFunc(slices.Clone(o.own), stays)
	if !must && l.smallPacks() <= maxPacks && !slices.ContainsFunc(old, linked) {
		return nil
	}
	needed := make(map[ID]bool)
	sound := make([]*Snapshot, 0, len(kept))
	for _, s := range kept {
		err := o.reachAll(s, needed)
		switch {
		case err == nil:
			sound = append(sound, s)
		case !IsLost(err):
			return err
		}
	}
	damaged := len(kept) - len(sound)
	kept = sound
	o.own = slices.DeleteFunc(o.own, func(p *pack) bool { return slices.Contains(old, p) })
	o.user = slices.Concat(old, o.user)
	for id := range needed {
		if o.isOwn(id) {
			continue
		}
		k, data, err := o.lookUp(id, 0)
		if IsLost(err) || err == nil && hashObject(k, data) != id {
			continue // whatever is done
		}
		if err != nil {
			return err
		}
		if err := o.add(id, encode(k, data)); err != nil {
			return err
		}
	}
	if err := cmp.Or(o.write(), o.syncPacks()); err != nil {
		return err
	}
	_, bad, _, err := l.lines()
	if err := cmp.Or(err, l.replaceLines(kept, last)); err != nil {
		return err
	}
	if damaged += bad; damaged > 0 {
		l.drop(damaged)
	}
	for _, p := range old {
		if !slices.ContainsFunc(o.own, func(now *pack) bool { return now.path == p.path }) {
			removePack(p.path + ".idx")
		}
	}
	return nil
}

// drop adds to how many snapshots are dropped.
func (l *Ledger) drop(n int) {
	_ = lockfile.Replace(l.droppedFile(), []byte(itoa(l.dropped()+n)), l.dir)
}

// droppedFile has how many snapshots were dropped because they were damaged, and not by a repair, which says so.
func (l *Ledger) droppedFile() string { return filepath.Join(l.dir, "dropped") }

func (l *Ledger) dropped() int {
	b, _ := gitfile.Read(l.droppedFile())
	n, _ := strconv.Atoi(string(b))
	return n
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

// reachAll adds all that a snapshot names.
func (o *objects) reachAll(s *Snapshot, needed map[ID]bool) error {
	return cmp.Or(o.reach(s.Tree, needed), o.reach(s.Scan, needed), o.reach(s.Ignored, needed))
}

// reach adds a tree and all that it names.
func (o *objects) reach(tree ID, needed map[ID]bool) error {
	if tree == (ID{}) || needed[tree] {
		return nil
	}
	entries, err := o.tree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.mode {
		case modeDir:
			if err := o.reach(e.id, needed); err != nil {
				return err
			}
		case modeModule:
		default:
			needed[e.id] = true
		}
	}
	needed[tree] = true
	return nil
}

// replaceLines makes the lines those of the snapshots that are kept. The number of the last line is
// never given again, so it stays, if need be without a snapshot.
func (l *Ledger) replaceLines(kept []*Snapshot, last *Snapshot) error {
	if n := len(kept); last != nil && (n == 0 || kept[n-1].Number != last.Number) {
		kept = append(kept[:n:n], &Snapshot{Number: last.Number, Boot: last.Boot})
	}
	var b []byte
	for _, s := range kept {
		b = append(wire.Append(b, s.withPaths(stored)), '\n')
	}
	if err := l.opts.Fault("lines"); err != nil {
		return err
	}
	l.dropVerdicts(kept)
	return lockfile.Replace(l.linesFile(), b, l.dir)
}
