package ledger

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A world is what the files of a tree are: their contents by path.
type world map[string]string

func (f *fixture) world() world {
	w := make(world)
	_ = filepath.WalkDir(f.root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(f.root, path)
			w[filepath.ToSlash(rel)] = f.content(rel)
		}
		return nil
	})
	return w
}

// changed returns the paths that two worlds have differently.
func (w world) changed(other world) (paths []string) {
	all := maps.Clone(w)
	maps.Copy(all, other)
	for path := range all {
		a, inA := w[path]
		b, inB := other[path]
		if a != b || inA != inB {
			paths = append(paths, path)
		}
	}
	return paths
}

// differs returns how two snapshots differ.
func (f *fixture) differs(from, to *Snapshot) []Step {
	f.Helper()
	v := f.Recorded()
	defer v.Close()
	found, err := v.differences(from, to, nil)
	if err != nil {
		f.Fatal(err)
	}
	return found
}

// TestWhatIsThereIsNotDeleted: whatever is written, removed and ignored, and whether the stat cache is
// there, what two snapshots differ in is so on the disk, and an undo or a restore leaves alone what
// the snapshots have not seen.
func TestWhatIsThereIsNotDeleted(t *testing.T) {
	t.Parallel()
	path := rapid.SampledFrom([]string{"a", "b", "d/a", "d/b", "d/e/a", "d/e/b"})
	rules := rapid.SampledFrom([]string{"", "a\n", "d\n", "/d/*\n!/d/a\n", "e/\n", "b\n!d/b\n", "*\n!.gitignore\n", "d/e/b\n", ".gitignore\n"})
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t)
		var worlds []world
		var taken []*Snapshot
		take := func() {
			taken = append(taken, f.take(WhyGuard, 0))
			worlds = append(worlds, f.world())
		}
		for range rapid.IntRange(2, 6).Draw(rt, "snapshots") {
			for range rapid.IntRange(1, 6).Draw(rt, "changes") {
				switch rapid.IntRange(0, 6).Draw(rt, "change") {
				case 0, 1:
					f.remove(path.Draw(rt, "removed"))
				case 2, 3:
					dir := rapid.SampledFrom([]string{"", "d/"}).Draw(rt, "dir")
					f.write(dir+".gitignore", rules.Draw(rt, "rules"))
				case 4:
					_ = os.Remove(f.cacheFile())
				default:
					f.write(path.Draw(rt, "written"), rapid.SampledFrom([]string{"1\n", "2\n", "3\n"}).Draw(rt, "content"))
				}
			}
			take()
		}
		for i, from := range taken {
			for j, to := range taken {
				for _, d := range f.differs(from, to) {
					for at, s := range map[int]State{i: d.From, j: d.To} {
						content, there := worlds[at][d.Path]
						if there != s.exists() || there && hashObject(kindBlob, []byte(content)) != s.ID {
							rt.Fatalf("%s to %s: %s is said to be %+v at %s, and was %q, %v", from.Name(), to.Name(), d.Path, s, taken[at].Name(), content, there)
						}
					}
				}
			}
		}
		i := rapid.IntRange(0, len(taken)-2).Draw(rt, "from")
		j := rapid.IntRange(i+1, len(taken)-1).Draw(rt, "to")
		before := worlds[len(worlds)-1]
		if _, err := f.Do(t.Context(), Change{Request: Request{Why: WhyUndo}, Plan: func(v *View) (*Plan, error) {
			return v.PlanUndo(taken[i], taken[j], nil)
		}}); err != nil {
			rt.Fatal(err)
		}
		changed := worlds[i].changed(worlds[j])
		for _, path := range before.changed(f.world()) {
			if !slices.Contains(changed, path) {
				rt.Fatalf("undo of %s to %s has changed %s", taken[i].Name(), taken[j].Name(), path)
			}
		}
		take()
		last := taken[len(taken)-1]
		f.restore(taken[i], true)
		for _, path := range f.world().changed(worlds[len(worlds)-1]) {
			if !slices.Contains(f.paths(last.Tree), path) && !slices.Contains(f.paths(taken[i].Tree), path) {
				rt.Fatalf("restore has changed %s, which neither snapshot has", path)
			}
			if _, was := worlds[i][path]; was && f.content(path) != worlds[i][path] {
				rt.Fatalf("restore of %s has removed %s, which was there then", taken[i].Name(), path)
			}
		}
	})
}

// TestIgnoredIsNotDeleted has the cases by name: each is a list of changes, with a snapshot after each.
func TestIgnoredIsNotDeleted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes []func(*fixture)
		want    string // how the last snapshot differs from the first
	}{
		"un-ignored in part": {[]func(*fixture){
			func(f *fixture) { f.write(".gitignore", "d\n") },
			func(f *fixture) { f.write(".gitignore", "d/*\n!d/a\n", "d/a", "2") },
		}, "d/a .gitignore"},
		"made again": {[]func(*fixture){
			func(f *fixture) { f.write(".gitignore", "b\n") },
			func(f *fixture) { f.remove("b") },
			func(f *fixture) { f.write("b", "2") },
		}, ".gitignore"},
		"removed at once and made again": {[]func(*fixture){
			func(f *fixture) { f.write(".gitignore", "b\n"); f.remove("b") },
			func(f *fixture) { f.write("b", "2") },
		}, ".gitignore"},
		"removed": {[]func(*fixture){
			func(f *fixture) { f.write(".gitignore", "b\n") },
			func(f *fixture) { f.remove("b") },
		}, ".gitignore -b"},
		"without a cache": {[]func(*fixture){
			func(f *fixture) { f.write(".gitignore", "d/\n"); _ = os.Remove(f.cacheFile()) },
		}, ".gitignore"},
		"no longer ignored": {[]func(*fixture){
			func(f *fixture) { f.write(".gitignore", ""); f.write("old", "2") },
		}, ".gitignore"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write(".gitignore", "old\n", "old", "1", "b", "1", "d/a", "1", "d/b", "1")
			first := f.take(WhyStart, 1)
			var last *Snapshot
			for _, change := range test.changes {
				change(f)
				last = f.take(WhyEnd, 1)
			}
			var got []string
			for _, d := range f.differs(first, last) {
				mark := ""
				if !d.To.exists() {
					mark = "-"
				}
				got = append(got, mark+d.Path)
			}
			want := strings.Fields(test.want)
			slices.Sort(want)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("differs in %q, want %q", got, want)
			}
			was := f.world()
			if _, err := f.undo(1); err != nil {
				t.Fatal(err)
			}
			if f.content("old") != was["old"] {
				t.Errorf("old: %q", f.content("old"))
			}
		})
	}
}

// TestLostCacheCarries: without the stat cache, too, what cannot be taken is in the snapshot as it was.
func TestLostCacheCarries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open(Options{Limits: Limits{NewFiles: 10, FileSize: 100}})
	for i := range 9 {
		f.write("d/"+itoa(i), itoa(i))
	}
	f.take("x", 0)
	for i := range 9 {
		f.write("e/"+itoa(i), itoa(i))
	}
	first := f.take("x", 0)
	_ = os.Remove(f.cacheFile())
	f.write("d/0", strings.Repeat("x", 101))
	second := f.take("x", 0)
	if found := f.differs(first, second); len(found) > 0 || len(f.paths(second.Tree)) != 18 || len(second.LeftOut) != 1 {
		t.Errorf("differs in %+v, left out %+v, has %d files", found, second.LeftOut, len(f.paths(second.Tree)))
	}
}

// TestManyIgnoredCostLittle: of a directory with very many ignored names little is stored when one comes.
func TestManyIgnoredCostLittle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write(".gitignore", "*.o\n", "f", "1")
	for i := range 5000 {
		f.write("d/"+itoa(i)+".o", "")
	}
	first := f.take("x", 0)
	size := f.Size()
	f.write("d/new.o", "")
	last := f.take("x", 0)
	if n := f.Size() - size; n > 20_000 || len(f.differs(first, last)) > 0 {
		t.Errorf("one name more costs %d bytes, and differs in %v", n, f.differs(first, last))
	}
}

// TestIgnoredThenGone: what went after a snapshot at which git ignored it is kept while git ignores it, and comes back after that.
// It hides no older loss.
func TestIgnoredThenGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write("work", "w", "art.o", "art.o", "out/a", "out/a", "out/b", "out/b")
	f.take(WhyStart, 1)
	f.remove("work")
	f.write(".gitignore", "*.o\nout\n")
	f.take(WhyTick, 1)
	f.remove("art.o")
	f.remove("out")
	f.take(WhyEnd, 1)
	kept := []Conflict{{Path: "art.o", Why: KeptIgnored}, {Path: "out", Why: KeptIgnored}}
	if out := f.lost(); f.content("work") != "w" || !slices.Equal(out.Plan.Kept, kept) {
		t.Errorf("work %q, kept %+v", f.content("work"), out.Plan.Kept)
	}
	f.write(".gitignore", "# none\n")
	f.lost()
	for _, path := range []string{"art.o", "out/a", "out/b"} {
		if f.content(path) != path {
			t.Errorf("%s: %q", path, f.content(path))
		}
	}
	f.take(WhyStart, 2)
	f.write(".gitignore", "*.o\n")
	f.take(WhyTick, 2)
	f.write(".gitignore", "# none\n", "art.o", "new")
	f.take(WhyTick, 2)
	f.rename("art.o", "moved")
	if out := f.lost(); len(out.Plan.Steps) > 0 {
		t.Errorf("nothing went, but there is %+v", out.Plan)
	}
}

// TestIgnoredInTurn: what git ignores only since the beginning of a turn, and is there, is said by facts, undo and a verdict.
func TestIgnoredInTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write("art.o", "1", "same.o", "1", "out/a", "1", "out/b", "1")
	start := f.take(WhyStart, 1)
	f.write(".gitignore", "*.o\nout\n", "art.o", "2", "out/a", "2")
	end := f.take(WhyEnd, 1)
	v, err := f.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	left := []LeftOut{{Path: "art.o", Why: LeftIgnored}, {Path: "out", Why: LeftIgnored}, {Path: "same.o", Why: LeftIgnored}}
	if c, err := v.Changes(start, end, nil, 0); err != nil || c.Files != 1 || !slices.Equal(c.LeftOut, left) {
		t.Errorf("%+v, %v", c, err)
	}
	if d, err := v.Differing(start.State()); err != nil || d == nil || d.Missing != 4 || d.Added != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	kept := []Conflict{{Path: "art.o", Why: KeptIgnored}, {Path: "out", Why: KeptIgnored}}
	_, _ = f.undo(1) // takes the rules back
	if out, err := f.undo(1); err != nil || !slices.Equal(out.Plan.Kept, kept) || f.content("art.o") != "2" {
		t.Errorf("%+v, %v, art.o %q", out, err, f.content("art.o"))
	}
}
