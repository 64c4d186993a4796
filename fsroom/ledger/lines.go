package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A hunk is a stretch of lines that two texts have differently: a[A:A+NA] stands where b[B:B+NB] is.
type hunk struct{ a, na, b, nb int }

// splitLines cuts a text after each newline.
func splitLines(text []byte) [][]byte { return slices.Collect(bytes.Lines(text)) }

// maxEdits is how many lines may differ before what differs counts as one hunk.
const maxEdits = 1500

// diffLines returns what differs between two texts, by the algorithm of Myers.
func diffLines(a, b [][]byte) []hunk {
	start := 0
	for start < len(a) && start < len(b) && bytes.Equal(a[start], b[start]) {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && bytes.Equal(a[endA-1], b[endB-1]) {
		endA--
		endB--
	}
	if start == endA && start == endB {
		return nil
	}
	hunks, ok := myers(a[start:endA], b[start:endB])
	if !ok {
		hunks = []hunk{{0, endA - start, 0, endB - start}}
	}
	for i := range hunks {
		hunks[i].a += start
		hunks[i].b += start
	}
	return hunks
}

// myers finds a shortest edit, unless it has more than maxEdits lines.
func myers(a, b [][]byte) (hunks []hunk, ok bool) {
	most := min(len(a)+len(b), maxEdits)
	reach := make([]int, 2*most+3) // by diagonal, how far in a
	var trail [][]int
	for d := 0; d <= most; d++ {
		trail = append(trail, append([]int(nil), reach[most+1-d:most+2+d]...))
		for k := -d; k <= d; k += 2 {
			i := most + 1 + k
			var x int
			if k == -d || k != d && reach[i-1] < reach[i+1] {
				x = reach[i+1]
			} else {
				x = reach[i-1] + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && bytes.Equal(a[x], b[y]) {
				x++
				y++
			}
			reach[i] = x
			if x >= len(a) && y >= len(b) {
				return retrace(trail, len(a), len(b)), true
			}
		}
	}
	return nil, false
}

// retrace makes hunks of the way that myers has found, from its end.
func retrace(trail [][]int, x, y int) (hunks []hunk) {
	for d := len(trail) - 1; d > 0; d-- {
		before := func(k int) int { return trail[d][k+d] }
		k := x - y
		down := k == -d || k != d && before(k-1) < before(k+1)
		if down {
			k++
		} else {
			k--
		}
		px := before(k)
		py := px - k
		h := hunk{px, 1, py, 0}
		if down {
			h = hunk{px, 0, py, 1}
		}
		if n := len(hunks); n > 0 && hunks[n-1].a == h.a+h.na && hunks[n-1].b == h.b+h.nb {
			last := &hunks[n-1]
			last.a, last.b, last.na, last.nb = h.a, h.b, last.na+h.na, last.nb+h.nb
		} else {
			hunks = append(hunks, h)
		}
		x, y = px, py
	}
	slices.Reverse(hunks)
	return hunks
}

// A lineConflict is where both sides of a merge have changed the same lines: lines of ours, from 1.
type lineConflict struct{ first, last int }

// merge3 applies to ours what differs between base and theirs. Where both have changed the
// same or neighbouring lines differently it reports a conflict, and merges nothing.
func merge3(base, ours, theirs []byte) (merged []byte, conflict *lineConflict) {
	b, o, t := splitLines(base), splitLines(ours), splitLines(theirs)
	x, y := diffLines(b, o), diffLines(b, t)
	at := 0 // in base
	take := func(lines [][]byte) { merged = append(merged, bytes.Join(lines, nil)...) }
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].a+x[0].na < y[0].a:
			take(b[at:x[0].a])
			take(o[x[0].b : x[0].b+x[0].nb])
			at, x = x[0].a+x[0].na, x[1:]
		case len(x) == 0 || y[0].a+y[0].na < x[0].a:
			take(b[at:y[0].a])
			take(t[y[0].b : y[0].b+y[0].nb])
			at, y = y[0].a+y[0].na, y[1:]
		default:
			became := o[x[0].b : x[0].b+x[0].nb]
			if x[0].a != y[0].a || x[0].na != y[0].na || !slices.EqualFunc(became, t[y[0].b:y[0].b+y[0].nb], bytes.Equal) {
				return nil, &lineConflict{x[0].b + 1, max(x[0].b+x[0].nb, x[0].b+1)}
			}
			take(b[at:x[0].a])
			take(became)
			at, x, y = x[0].a+x[0].na, x[1:], y[1:]
		}
	}
	take(b[at:])
	return merged, nil
}

// unified writes what differs between two texts with three lines around it.
func unified(w *bytes.Buffer, from, to []byte) {
	const around = 3
	a, b := splitLines(from), splitLines(to)
	hunks := diffLines(a, b)
	for len(hunks) > 0 {
		n := 1
		for n < len(hunks) && hunks[n].a-(hunks[n-1].a+hunks[n-1].na) <= 2*around {
			n++
		}
		group, last := hunks[:n], hunks[n-1]
		hunks = hunks[n:]
		before := min(around, group[0].a)
		end := min(last.a+last.na+around, len(a))
		startA, startB := group[0].a-before, group[0].b-before
		endB := last.b + last.nb + end - (last.a + last.na)
		fmt.Fprintf(w, "@@ -%s +%s @@\n", lineRange(startA, end-startA), lineRange(startB, endB-startB))
		at := startA
		for _, h := range group {
			writeLines(w, ' ', a[at:h.a])
			writeLines(w, '-', a[h.a:h.a+h.na])
			writeLines(w, '+', b[h.b:h.b+h.nb])
			at = h.a + h.na
		}
		writeLines(w, ' ', a[at:end])
	}
}

func lineRange(start, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, n)
}

func writeLines(w *bytes.Buffer, mark byte, lines [][]byte) {
	for _, l := range lines {
		w.WriteByte(mark)
		w.Write(l)
		if l[len(l)-1] != '\n' {
			w.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

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
