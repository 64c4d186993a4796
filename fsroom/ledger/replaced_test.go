//go:build unix

package ledger

import "testing"

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
