//go:build unix

package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDirectoryReplacedByFile: on the way back, what stands in the directory's place is a file, below which nothing can be looked up.
func TestDirectoryReplacedByFile(t *testing.T) {
	f := newFixture(t)
	f.write("d/in", "in\n", "d/e/deep", "deep\n", "f", "f\n")
	first := f.take(WhyStart, 1)
	before := f.state()
	f.remove("d")
	f.remove("f")
	f.write("d", "file\n", "f/x", "x\n")
	f.take(WhyEnd, 1)
	replaced := f.state()
	out, err := f.undo(1)
	if err != nil || len(out.Plan.Conflicts) > 0 {
		t.Fatalf("undo: %+v %v", out, err)
	}
	if after := f.state(); after != before {
		t.Errorf("undo: before\n%safter\n%s", before, after)
	}
	f.restore(out.Before, true)
	if after := f.state(); after != replaced {
		t.Errorf("the way back: before\n%safter\n%s", replaced, after)
	}
	f.restore(first, true, "d")
	if f.content("d/e/deep") != "deep\n" || f.content("f/x") != "x\n" {
		t.Errorf("restore of the directory alone: %s", f.state())
	}
}

// TestNamesThatAreNotUTF8 are written in results as Go quotes them, or JSON would lose which they are.
func TestNamesThatAreNotUTF8(t *testing.T) {
	f := newFixture(t)
	f.write("a", "a\n")
	f.take(WhyStart, 1)
	f.write("n\xff", "mine\n")
	f.take(WhyEnd, 1)
	f.write("n\xff", "newer\n")
	out, err := f.undo(1)
	if err != nil || len(out.Plan.Conflicts) != 1 || out.Plan.Conflicts[0].Path != `"n\xff"` {
		t.Errorf("%+v %v", out.Plan, err)
	}
}

// TestStoredNames: what the store keeps in JSON has names that are not UTF-8 as they are.
func TestStoredNames(t *testing.T) {
	f := newFixture(t)
	f.open(Options{Limits: Limits{FileSize: 100}})
	f.write("d\xff/n\xfe", "mine\n", "private\xff", "1", "large\xff", strings.Repeat("x", 101), "plain", "1", "more", "1")
	if err := os.Chmod(filepath.Join(f.root, "private\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := f.take(WhyStart, 1)
	before := f.state()
	f.remove("private\xff")
	f.write("d\xff/n\xfe", "changed\n", "d\xff/new\xff", "new\n")
	f.take(WhyEnd, 1)
	changed := f.state()
	for n := 1; ; n++ {
		steps := f.faulty(n, true)
		surviving(func() { _, _ = f.undo(1) })
		if *steps < n {
			break
		}
		f.open(Options{Limits: Limits{FileSize: 100}})
		f.Check(t.Context(), true)
		if got := f.state(); got != changed && got != before {
			t.Fatalf("killed at step %d: want\n%sgot\n%s", n, changed, got)
		}
	}
	if got := f.state(); got != before {
		t.Errorf("want\n%sgot\n%s", before, got)
	}
	all, _ := f.Snapshots()
	if s := all[0]; s.LeftOut[0].Path != "large\xff" || s.Modes["private\xff"] != 0o600 || s.Number != first.Number {
		t.Errorf("%+v", s)
	}
}
