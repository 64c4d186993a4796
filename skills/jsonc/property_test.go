package jsonc

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

// A writer draws a random document the way people write them.
type writer struct {
	t   *rapid.T
	eol string
	out strings.Builder
}

func (w *writer) space() {
	for range rapid.IntRange(0, 2).Draw(w.t, "spaces") {
		w.out.WriteString(rapid.SampledFrom([]string{
			" ", "\t", w.eol, w.eol + "  ", "/* a, b ] } */", "/**/", "// rest, of \" line" + w.eol, "//" + w.eol,
		}).Draw(w.t, "extra"))
	}
}

func (w *writer) value(depth int) {
	kind := rapid.IntRange(0, 6).Draw(w.t, "kind")
	switch {
	case kind >= 5 && depth > 0:
		w.object(depth)
	case kind >= 3 && depth > 0:
		w.array(depth)
	default:
		w.out.WriteString(rapid.SampledFrom([]string{
			`1`, `-2.5e3`, `true`, `null`, `""`, `"// no comment"`, `"a\"b,]}"`, `"\u00e9é/*"`,
		}).Draw(w.t, "scalar"))
	}
}

func (w *writer) list(open, close string, one func(i int)) {
	n := rapid.IntRange(0, 3).Draw(w.t, "length")
	w.out.WriteString(open)
	w.space()
	for i := range n {
		one(i)
		w.space()
		if i < n-1 || rapid.Bool().Draw(w.t, "trailing comma") {
			w.out.WriteString(",")
			w.space()
		}
	}
	w.out.WriteString(close)
}

func (w *writer) array(depth int) {
	w.list("[", "]", func(int) { w.value(depth - 1) })
}

func (w *writer) object(depth int) {
	names := rapid.Permutation([]string{"hooks", "Stop", "Pre", `a\tb`}).Draw(w.t, "names")
	w.list("{", "}", func(i int) {
		w.out.WriteString(`"` + names[i] + `"`)
		w.space()
		w.out.WriteString(":")
		w.space()
		w.value(depth - 1)
	})
}

func drawDocument(t *rapid.T) []byte {
	w := &writer{t: t, eol: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")}
	if rapid.Bool().Draw(t, "mark") {
		w.out.WriteString("\ufeff")
	}
	w.space()
	w.object(4)
	w.space()
	return []byte(w.out.String())
}

func decode(t *rapid.T, src []byte) any {
	plain, err := hujson.Standardize([]byte(strings.TrimPrefix(string(src), "\ufeff")))
	if err != nil {
		t.Fatalf("not JSON any more: %v\n%s", err, src)
	}
	var v any
	if err := json.Unmarshal(plain, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// appended does to decoded JSON what Append does to text.
func appended(v any, path []string, value any) any {
	if len(path) == 0 {
		list, _ := v.([]any)
		return append(list, value)
	}
	object, _ := v.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object[path[0]] = appended(object[path[0]], path[1:], value)
	return object
}

// Whatever the document looks like, what is put in means the same as it would in
// decoded JSON, everything else keeps its bytes, and taking it out restores them all.
func TestInsertAndRemoveAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawDocument(t)
		paths := [][]string{{"hooks", "Stop"}, {"hooks", "Pre"}}
		src, want := before, decode(t, before)
		var undos []Undo
		for i, path := range paths {
			next, inserted, undo, err := Append(src, path, map[string]any{"command": "tt hook"})
			if errors.Is(err, ErrShape) {
				paths = paths[:i]
				break
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			if !isSubsequence(src, next) && !undo.Empty {
				t.Fatalf("bytes were lost:\n%q\n%q", src, next)
			}
			if strings.Count(string(next), inserted) != strings.Count(string(src), inserted)+1 {
				t.Fatalf("%q was not inserted once", inserted)
			}
			want = appended(want, path, map[string]any{"command": "tt hook"})
			src, undos = next, append(undos, undo)
		}
		if got := decode(t, src); !reflect.DeepEqual(got, want) {
			t.Fatalf("means %v, want %v\n%s", got, want, src)
		}
		for i := len(undos) - 1; i >= 0; i-- {
			next, n, err := RemoveElements(src, paths[i], isOurs, undos[i])
			if err != nil || n != 1 {
				t.Fatalf("removed %d: %v\n%s", n, err, src)
			}
			src = next
		}
		if string(src) != string(before) {
			t.Fatalf("got\n%q\nwant\n%q", src, before)
		}
	})
}

func isSubsequence(small, big []byte) bool {
	for _, b := range big {
		if len(small) > 0 && small[0] == b {
			small = small[1:]
		}
	}
	return len(small) == 0
}

// Removing without a record never damages a document either.
func TestRemoveWithoutRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawDocument(t)
		src, _, _, err := Append(before, stop, "tt hook")
		if err != nil {
			return
		}
		got, n, err := RemoveElements(src, stop, isOurs, Undo{})
		if err != nil || n != 1 {
			t.Fatalf("removed %d: %v", n, err)
		}
		decode(t, got)
		if strings.Contains(string(got), "tt hook") {
			t.Fatalf("still there:\n%s", got)
		}
	})
}
