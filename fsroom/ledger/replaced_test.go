package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDirectoryReplacedByFile: on the way back, what stands in the directory's place is a file, below which nothing can be looked up.
func TestDirectoryReplacedByFile(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

// TestDirectoryReplacedByLink: what the link leads to is not what stands in the directory, neither for the plan
// nor for what carries it out, wherever it is killed.
func TestDirectoryReplacedByLink(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"renamed": "d2", "outside": "../out"} {
		for _, exact := range []bool{false, true} {
			f := newFixture(t)
			f.write("d/in", "in\n", "d/e/deep", "deep\n")
			first := f.take(WhyStart, 1)
			before := f.state()
			f.rename("d", to)
			f.write("../out/.gitignore", "in\n")
			if err := os.Symlink(to, filepath.Join(f.root, "d")); err != nil {
				t.Fatal(err)
			}
			f.take(WhyEnd, 1)
			linked, out := f.state(), f.content("../out/in")
			change := func() (*Outcome, error) {
				if !exact {
					return f.undo(1)
				}
				return f.restore(first, true), nil
			}
			for n, fired := 1, true; fired; n++ {
				steps := f.faulty(n, true)
				surviving(func() { _, _ = change() })
				if fired = *steps >= n; !fired {
					break
				}
				f.open(Options{})
				f.Check(t.Context(), true)
				if got := f.state(); got != linked && got != before {
					t.Fatalf("%s, exact %v: killed at step %d:\n%s", name, exact, n, got)
				}
			}
			f.open(Options{})
			all, _ := f.Snapshots()
			if got := f.state(); got != before {
				t.Errorf("%s, exact %v: want\n%sgot\n%s", name, exact, before, got)
			}
			f.restore(all[1], true)
			if got := f.state(); got != linked || f.content("../out/in") != out {
				t.Errorf("%s, exact %v: the way back: want\n%sgot\n%s, outside %q", name, exact, linked, got, f.content("../out/in"))
			}
		}
	}
}

// TestKeptIsNotMadeRoomFor: where a path of the snapshot is not written, neither what stands in its place nor what
// has its content is removed.
func TestKeptIsNotMadeRoomFor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("d/in", "in\n", "e/in", "in e\n", "e/other", "other\n")
	first := f.take("x", 0)
	f.rename("d", "d2")
	f.remove("e")
	f.write("d", "file\n", "e", "file\n", "new", "new\n", ".gitignore", "/d/in\n/e/in\n")
	f.take("x", 0)
	out := f.restore(first, true)
	if d, e := f.content("d")+f.content("d2/in"), f.content("e/other"); d != "file\nin\n" || e != "other\n" || exists(filepath.Join(f.root, "new")) {
		t.Errorf("%+v:\n%s", out.Plan, f.state())
	}
}

// TestStoredNames: what the store keeps in JSON has names that are not UTF-8 as they are.
func TestStoredNames(t *testing.T) {
	t.Parallel()
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

// TestLinkSinceTheKill: what a killed undo removed is not put back through a link that somebody has made since.
func TestLinkSinceTheKill(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("other/a", "a\n")
	f.take(WhyStart, 1)
	f.write("d/in", "in\n")
	f.take(WhyEnd, 1)
	f.open(Options{Fault: func(step string) error {
		if step == "applied" {
			panic(killed{})
		}
		return nil
	}})
	surviving(func() { _, _ = f.undo(1) })
	if err := os.Symlink("other", filepath.Join(f.root, "d")); err != nil {
		t.Fatal(err)
	}
	f.open(Options{})
	f.Check(t.Context(), true)
	if exists(filepath.Join(f.root, "other", "in")) {
		t.Error("it is where the link leads to")
	}
}
