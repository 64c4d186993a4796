package ledger

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
)

// A Problem is what [Ledger.Check] has found.
type Problem struct {
	Path, Message string
	Repaired      bool
	Harmless      bool
}

// Check looks for what does not fit together, and with repair removes it: lines that cannot be
// read or whose tree is gone, and a change of the tree that a killed process has begun.
func (l *Ledger) Check(ctx context.Context, repair bool) (found []Problem) {
	add := func(path string, harmless bool, err error, message string) {
		found = append(found, Problem{Path: path, Message: message, Repaired: repair && err == nil, Harmless: harmless})
	}
	if l.Interrupted() {
		var err error
		if repair {
			err = l.Recover(ctx)
		}
		add(l.applyingFile(), false, err, "an undo or restore was killed half-way; what it changed can be put back")
	}
	b, err := os.ReadFile(l.linesFile())
	if err != nil {
		return found
	}
	all, _ := l.Snapshots()
	o := openObjects(l.objectsDir(), nil, l.opts.Fault)
	defer o.close()
	kept := slices.DeleteFunc(slices.Clone(all), func(s *Snapshot) bool { return o.reach(s.Tree, map[ID]bool{}) != nil })
	bad := bytes.Count(b, []byte("\n")) - len(all)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		bad++
	}
	if bad == 0 && len(kept) == len(all) {
		return found
	}
	err = errors.New("not repaired")
	if repair {
		if unlock, lockErr := l.lock(ctx); lockErr == nil {
			err = l.replaceLines(kept)
			unlock()
		}
	}
	add(l.linesFile(), true, err, itoa(bad+len(all)-len(kept))+" snapshots are damaged; the others are whole")
	return found
}
