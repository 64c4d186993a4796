package simulation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each trace that has ever found something is a file: its seed and what it found are in the first line, the cause in
// the second.
func TestFound(t *testing.T) {
	files, err := filepath.Glob("testdata/found/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no traces", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		o := replay(t, trace)
		if strings.HasPrefix(filepath.Base(file), "pending-") { // not mended yet: it is found still
			if o.class == "" {
				t.Errorf("%s (%s) finds nothing any more: it is pending no more", file, first)
			}
			continue
		}
		if o.class != "" {
			t.Errorf("%s (%s) finds: %s: %s\n%s", file, first, o.class, o.text, strings.Join(o.log, "\n"))
		}
	}
}

// A trace with something unknown in it is refused by name.
func TestParse(t *testing.T) {
	for _, c := range []struct{ text, problem string }{
		{"open a s p1\n# a remark\n  0.1 a line of the log\nrun p1 3\n", ""},
		{"open a s p1\nexplode p1\n", `line 2: there is no act "explode"`},
		{"open a\n", "line 1: the act is: open NAME SESSION PROCESS"},
		{"fail p1 1 flood\n", `line 1: there is no error "flood"`},
	} {
		_, err := parse(c.text)
		if (err == nil) != (c.problem == "") || err != nil && err.Error() != c.problem {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
