package ledger

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxPatch is the size at which a patch is cut off.
const MaxPatch = 1 << 20

// Patch returns what changed between two snapshots in the format of git diff.
func (v *View) Patch(from, to *Snapshot, filters []string) (patch string, truncated bool, err error) {
	differences, err := v.changed(from, to, filters)
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

func (v *View) patchPath(w *bytes.Buffer, d Step) {
	if d.From.exists() && d.To.exists() && (d.From.Mode == modeLink) != (d.To.Mode == modeLink) {
		v.patchPath(w, Step{Path: d.Path, From: d.From}) // as git does: one goes and another comes
		v.patchPath(w, Step{Path: d.Path, To: d.To})
		return
	}
	if d.From.Mode == d.To.Mode && d.From.ID == d.To.ID { // permissions that git does not know
		return
	}
	a, b := patchName("a/"+d.Path), patchName("b/"+d.Path)
	fmt.Fprintf(w, "diff --git %s %s\n", a, b)
	switch {
	case !d.From.exists():
		fmt.Fprintf(w, "new file mode %06o\n", d.To.Mode)
		a = "/dev/null"
	case !d.To.exists():
		fmt.Fprintf(w, "deleted file mode %06o\n", d.From.Mode)
		b = "/dev/null"
	case d.From.Mode != d.To.Mode:
		fmt.Fprintf(w, "old mode %06o\nnew mode %06o\n", d.From.Mode, d.To.Mode)
	}
	switch from, to, ok := v.texts(d); {
	case d.From.ID == d.To.ID:
	case !ok: // without the ids git apply takes no other file either
		fmt.Fprintf(w, "index %x..%x\nBinary files %s and %s differ\n", d.From.ID[:], d.To.ID[:], a, b)
	case len(from)+len(to) > 0:
		fmt.Fprintf(w, "--- %s\n+++ %s\n", a, b)
		unified(w, from, to)
	}
}

// patchName returns a name as git writes it in a patch.
func patchName(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return name
	}
	quoted := []byte{'"'}
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			quoted = append(quoted, '\\', c)
		case c < ' ' || c >= 0x7f:
			quoted = fmt.Appendf(quoted, `\%03o`, c)
		default:
			quoted = append(quoted, c)
		}
	}
	return string(append(quoted, '"'))
}

// Differences are the numbers of files that are not as in a snapshot.
type Differences struct {
	Missing int `json:"missing"`
	Changed int `json:"changed"`
	Added   int `json:"added"`
}

// Differs returns how many files differ now from a snapshot, as far as is known.
func (v *View) Differs(s *Snapshot) (n Differences, err error) {
	differences, err := v.differences(s, v.Now, nil)
	n = differing(differences).Differences
	n.Changed += len(v.hidden(s))
	return n, err
}
