package ledger

import (
	"slices"
	"testing"
	"time"
)

// What lies where somebody else has a turn, or had one, is no change of the turn, no loss, and is
// neither undone nor restored.
func TestOthers(t *testing.T) {
	f := newFixture(t)
	var now, before []string
	f.open(Options{Others: func(time.Time) ([]string, []string) { return now, before }})
	f.write("a", "a\n", "sub/x", "x\n", "sub/gone", "g\n")
	start := f.take(WhyStart, 1)
	paths := func(from, to *Snapshot) (all []string) {
		v := f.Recorded()
		defer v.Close()
		c, err := v.Changes(from, to, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Paths {
			all = append(all, p.Path)
		}
		for _, l := range c.LeftOut {
			all = append(all, "left out: "+l.Path)
		}
		return all
	}

	// While the other works.
	now = []string{"sub"}
	f.write("a", "b\n", "sub/x", "y\n", "sub/new", "n\n")
	f.remove("sub/gone")
	tick := f.take(WhyTick, 1)
	want := []string{"a", "left out: sub"}
	if got := paths(start, tick); !slices.Equal(got, want) {
		t.Errorf("at the tick %q", got)
	}
	if out := f.lost(); len(out.Plan.Steps) > 0 {
		t.Errorf("lost %+v", out.Plan)
	}
	if out := f.restore(start, true, "sub"); len(out.Plan.Steps) > 0 || f.content("sub/x") != "y\n" || f.content("sub/new") != "n\n" {
		t.Errorf("restored %+v", out.Plan)
	}

	// After it has ended.
	now, before = nil, []string{"sub"}
	end := f.take(WhyEnd, 1)
	before = nil
	if got := paths(start, end); !slices.Equal(got, want) {
		t.Errorf("at the end %q", got)
	}
	if out := f.lost(); len(out.Plan.Steps) > 0 {
		t.Errorf("lost afterwards %+v", out.Plan)
	}
	if _, err := f.undo(1); err != nil || f.content("a") != "a\n" || f.content("sub/x") != "y\n" || f.content("sub/new") != "n\n" {
		t.Errorf("undone: %v", err)
	}

	// A turn that begins later has all of the tree.
	next := f.take(WhyStart, 2)
	f.write("sub/x", "z\n")
	if got := paths(next, f.take(WhyEnd, 2)); !slices.Equal(got, []string{"sub/x"}) {
		t.Errorf("in the next turn %q", got)
	}
	if _, err := f.undo(2); err != nil || f.content("sub/x") != "y\n" {
		t.Errorf("undone: %v", err)
	}
}
