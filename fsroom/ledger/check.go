package ledger

import (
	"bytes"
	"context"
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
	if repair {
		unlock, err := l.lock(ctx)
		if repair = err == nil; repair {
			defer unlock()
		}
	}
	add := func(path, message string, harmless bool, mend func() error) {
		found = append(found, Problem{Path: path, Message: message, Repaired: repair && mend() == nil, Harmless: harmless})
	}
	if l.Interrupted() {
		add(l.applyingFile(), "an undo or restore was killed half-way; what it changed can be put back", false, l.recover)
	}
	b, err := os.ReadFile(l.linesFile())
	if err != nil {
		return found
	}
	all := parseLines(b)
	o := openObjects(l.objectsDir(), nil, l.opts.Fault)
	defer o.close()
	kept := slices.DeleteFunc(slices.Clone(all), func(s *Snapshot) bool { return isLost(o.reach(s.Tree, map[ID]bool{})) })
	lines := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		lines++
	}
	if bad := lines - len(kept); bad > 0 {
		add(l.linesFile(), itoa(bad)+" snapshots are damaged; the others are whole", true, func() error { return l.replaceLines(kept) })
	}
	return found
}
