package ledger

import (
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
		unlock, err := l.lock(ctx, true)
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
	lines, bad := parseLines(b)
	v := l.view(lines)
	defer v.Close()
	kept := slices.DeleteFunc(slices.Clone(v.All), func(s *Snapshot) bool { return isLost(v.objects.reachAll(s, map[ID]bool{})) })
	if bad += len(v.All) - len(kept); bad > 0 {
		add(l.linesFile(), itoa(bad)+" snapshots are damaged; the others are whole", true, func() error { return l.replaceLines(kept, v.last) })
	}
	return found
}
