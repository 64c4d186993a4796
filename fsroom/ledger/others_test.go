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

// Two rooms of one tree have turns of the same numbers, of which each has its own.
func TestTurnsOfRooms(t *testing.T) {
	f := newFixture(t)
	of := func(room string) {
		f.open(Options{Room: room, IsOwn: func(name string) bool { return room == "b" && name == "was b" }})
	}
	turns := func(room string, n int64) (found [2]string) {
		t.Helper()
		of(room)
		all, err := f.Snapshots()
		recent, err2 := f.Recent(n)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for i, s := range []func(all []*Snapshot) *Snapshot{
			func(all []*Snapshot) *Snapshot { start, _ := TurnOf(all, n); return start },
			func(all []*Snapshot) *Snapshot { _, end := TurnOf(all, n); return end },
		} {
			if s(all) != nil {
				found[i] = s(all).Name()
			}
			if s(recent) != nil && s(recent).Name() != found[i] {
				t.Errorf("%s, turn %d: of all %s, of the last ones %s", room, n, found[i], s(recent).Name())
			}
		}
		return found
	}
	take := func(room, why string, turn int64) string {
		of(room)
		f.write("f", why+room)
		return f.take(why, turn).Name()
	}
	type names = [2]string
	check := func(room string, turn int64, want names) {
		t.Helper()
		if got := turns(room, turn); got != want {
			t.Errorf("turn %d of %q: %q, not %q", turn, room, got, want)
		}
	}

	a := names{take("a", WhyStart, 2), take("a", WhyEnd, 2)}
	check("b", 2, names{})
	was := names{take("was b", WhyStart, 1), take("was b", WhyEnd, 1)}
	b := names{take("b", WhyStart, 2), ""}
	check("a", 1, names{})
	check("a", 2, a)
	check("b", 1, was)
	check("b", 2, b)

	// Whoever writes the lines again leaves them their turns.
	all, err := f.Snapshots()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.replaceLines(all, nil); err != nil {
		t.Fatal(err)
	}
	check("a", 2, a)
	check("b", 2, b)
}
