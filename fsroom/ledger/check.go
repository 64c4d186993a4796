package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/talking-stick/tt/lockfile"
)

// A Problem is what [Ledger.Check] has found.
type Problem struct {
	Path, Message string
	Code          string // "" or [CodeDamaged]
	Repaired      bool
	Harmless      bool
}

// CodeDamaged is the code of contents that the store cannot give any more.
const CodeDamaged = "ledger_damaged"

// Check looks for what does not fit together, and with repair removes it: lines that cannot be read or whose tree is gone, and a begun
// change of the tree. It reads all content; what is damaged, and a file still has, is stored again by the next snapshot after a repair.
func (l *Ledger) Check(ctx context.Context, repair bool) (found []Problem) {
	add := func(path, message string, harmless bool, mend func() error) *Problem {
		found = append(found, Problem{Path: path, Message: message, Repaired: repair && mend() == nil, Harmless: harmless})
		return &found[len(found)-1]
	}
	lock := filepath.Join(l.dir, "lock")
	if info, err := os.Lstat(l.dir); err == nil && info.Mode().Perm()&0o200 == 0 {
		add(l.dir, "it cannot be written to by its owner: nothing can be recorded", false, func() error { return os.Chmod(l.dir, 0o700) })
	}
	if info, err := os.Lstat(lock); err == nil && !info.Mode().IsRegular() {
		add(lock, "it is "+lockfile.TypeName(info.Mode())+": nothing can be recorded", false, func() error { return os.Remove(lock) })
	}
	if repair {
		unlock, err := l.lock(ctx, true)
		if repair = err == nil; repair {
			defer unlock()
		}
	}
	if l.Interrupted() {
		add(l.applyingFile(), "an undo or restore was killed half-way; what it changed can be put back", false, l.recover)
	}
	if _, damaged := l.verdictLines(); damaged > 0 {
		add(l.verdictsFile(), "a verdict is damaged, and counts for nothing", true, func() error {
			return l.changeVerdicts(func(verdictLine) bool { return false })
		})
	}
	if n := l.dropped(); n > 0 {
		add(l.linesFile(), itoa(n)+" snapshots or more were damaged, and have been dropped", true, func() error { return nil })
	}
	if repair {
		defer func() { _ = os.Remove(l.droppedFile()) }() // said, or by what a repair says
	}
	lines, bad, b, err := l.lines()
	if err != nil {
		add(l.linesFile(), err.Error(), false, func() error { return err })
		return found
	}
	v := l.view(lines)
	defer v.Close()
	needed := make(map[ID]bool)
	kept := slices.DeleteFunc(slices.Clone(v.All), func(s *Snapshot) bool { return IsLost(v.objects.reachAll(s, needed)) })
	if now, _ := os.ReadFile(l.linesFile()); len(kept) < len(v.All) && !bytes.HasPrefix(now, b) { // a prune was at work
		return l.Check(ctx, repair)
	}
	mend := func() error {
		_ = os.Remove(l.cacheFile()) // the next scan reads and stores what a file still has
		return l.repack(true, kept, v.last)
	}
	if damaged := v.objects.damaged(needed); damaged > 0 {
		add(l.packDir(), "of the contents that snapshots have "+itoa(damaged)+" are damaged: the files that had them cannot be brought back as they were, all others can",
			false, mend).Code = CodeDamaged
	}
	if damaged := len(v.All) - len(kept); damaged > 0 {
		add(l.packDir(), itoa(damaged)+" snapshots are damaged and cannot be brought back as they were", false, mend).Code = CodeDamaged
	}
	if bad > 0 {
		add(l.linesFile(), itoa(bad)+" lines of snapshots are damaged and cannot be brought back; the others are whole", false,
			func() error {
				_ = os.Remove(l.cacheFile())
				return l.replaceLines(kept, cmp.Or(v.last, &Snapshot{Number: mostLines}))
			}).Code = CodeDamaged
	}
	return found
}

// damaged returns how many of the contents cannot be read where they stand, or are others than their names say. One that a
// repair has taken out is none.
func (o *objects) damaged(ids map[ID]bool) (n int) {
	for id := range ids {
		k, data, err := o.read(id)
		if IsLost(err) && !errors.Is(err, errMissing) || err == nil && hashObject(k, data) != id {
			n++
		}
	}
	return n
}
