package ledger

import (
	"bytes"
	"fmt"
)

// MaxPatch is the size at which a patch is cut off.
const MaxPatch = 1 << 20

// Patch returns what changed between two snapshots in the format of git diff.
func (v *View) Patch(from, to *Snapshot, filters []string) (patch string, truncated bool, err error) {
	differences, err := v.differences(from, to, filters)
	if err != nil {
		return "", false, err
	}
	var w bytes.Buffer
	for _, d := range differences {
		v.patchPath(&w, d)
		if w.Len() > MaxPatch {
			return w.String()[:MaxPatch], true, nil
		}
	}
	return w.String(), false, nil
}

func (v *View) patchPath(w *bytes.Buffer, d pathDifference) {
	a, b := printable("a/"+d.path), printable("b/"+d.path)
	fmt.Fprintf(w, "diff --git %s %s\n", a, b)
	switch {
	case !d.from.exists():
		fmt.Fprintf(w, "new file mode %06o\n", d.to.mode)
		a = "/dev/null"
	case !d.to.exists():
		fmt.Fprintf(w, "deleted file mode %06o\n", d.from.mode)
		b = "/dev/null"
	case d.from.mode != d.to.mode:
		fmt.Fprintf(w, "old mode %06o\nnew mode %06o\n", d.from.mode, d.to.mode)
	}
	if d.from.id == d.to.id {
		return
	}
	from, to, ok := v.texts(d.difference)
	if !ok {
		fmt.Fprintf(w, "Binary files %s and %s differ\n", a, b)
		return
	}
	if len(from)+len(to) > 0 {
		fmt.Fprintf(w, "--- %s\n+++ %s\n", a, b)
		unified(w, from, to)
	}
}

// Differs returns how many files of a snapshot are missing now, have changed, and are new.
func (v *View) Differs(s *Snapshot) (missing, changed, added int, err error) {
	differences, err := v.differences(s, v.now, nil)
	for _, d := range differences {
		switch {
		case !d.to.exists():
			missing++
		case !d.from.exists():
			added++
		default:
			changed++
		}
	}
	return missing, changed, added, err
}
