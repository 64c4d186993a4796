package jsonc

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
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
// decoded JSON and everything else stays, but for white space. Taking it out again leaves what
// was there, and its comments.
func TestAppendAndRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawDocument(t)
		d, err := Parse(before)
		if err != nil {
			t.Fatalf("%v\n%s", err, before)
		}
		original, _ := Parse(before)
		was := decode(t, before)
		var added [][]string
		for _, path := range [][]string{{"hooks", "Stop"}, {"hooks", "Pre"}} {
			src, want := d.Bytes(), decode(t, d.Bytes())
			err := d.Append(map[string]any{"command": "tt hook"}, path...)
			if errors.Is(err, ErrShape) {
				continue
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			if !isSubsequence(squeezed(src), squeezed(d.Bytes())) {
				t.Fatalf("bytes were lost:\n%q\n%q", src, d.Bytes())
			}
			if got := decode(t, d.Bytes()); !reflect.DeepEqual(got, appended(want, path, map[string]any{"command": "tt hook"})) {
				t.Fatalf("means %v\n%s", got, d.Bytes())
			}
			added = append(added, path)
		}
		for _, path := range added {
			var list []json.RawMessage
			raw, _ := d.Get(path...)
			_ = json.Unmarshal(raw, &list)
			for i := len(list) - 1; i >= 0; i-- {
				if !strings.Contains(string(list[i]), "tt hook") {
					continue
				}
				if found, err := d.Remove(append(path, strconv.Itoa(i))...); err != nil || !found {
					t.Fatalf("%v %v", found, err)
				}
			}
			if err := d.Prune(original, path...); err != nil {
				t.Fatal(err)
			}
		}
		if got := decode(t, d.Bytes()); !reflect.DeepEqual(got, was) {
			t.Fatalf("means %v, want %v\n%q\n%q", got, was, before, d.Bytes())
		}
		if squeezed(d.Bytes()) != squeezed(before) {
			t.Fatalf("more than white space has changed:\n%q\n%q", before, d.Bytes())
		}
	})
}

// squeezed returns src without white space.
func squeezed(src []byte) string { return strings.Join(strings.Fields(string(src)), "") }

// isSubsequence reports whether small is big without some of its bytes.
func isSubsequence(small, big string) bool {
	for i := range len(big) {
		if len(small) > 0 && small[0] == big[i] {
			small = small[1:]
		}
	}
	return len(small) == 0
}

// Any entry can be taken out of any document.
func TestRemoveAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawDocument(t)
		d, err := Parse(before)
		if err != nil {
			t.Fatal(err)
		}
		want := decode(t, before)
		object := want.(map[string]any)
		if len(object) == 0 {
			return
		}
		names := slices.Sorted(maps.Keys(object))
		name := rapid.SampledFrom(names).Draw(t, "name")
		if list, ok := object[name].([]any); ok && len(list) > 0 {
			i := rapid.IntRange(0, len(list)-1).Draw(t, "index")
			object[name] = slices.Delete(list, i, i+1)
			_, err = d.Remove(name, strconv.Itoa(i))
		} else {
			delete(object, name)
			_, err = d.Remove(name)
		}
		if err != nil {
			t.Fatalf("%v\n%q", err, before)
		}
		if got := decode(t, d.Bytes()); !reflect.DeepEqual(got, want) {
			t.Fatalf("means %v, want %v\n%q\n%q", got, want, before, d.Bytes())
		}
	})
}
