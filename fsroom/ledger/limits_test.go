package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDeletedWhereTooManyAre: what is removed from a directory of which too many new files are left out
// is deleted, and comes back; what was made again is not deleted, and stays.
func TestDeletedWhereTooManyAre(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"directory": "data/", "top": ""} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.open(Options{Limits: Limits{NewFiles: 10}})
			f.write("other", "1", dir+"labels", "1", dir+"again", "1")
			first := f.take(WhyStart, 1)
			f.remove(dir + "again")
			f.take("x", 1)
			f.remove(dir + "labels")
			f.write(dir+"again", "2")
			for i := range 11 {
				f.write(dir+itoa(i), "x")
			}
			last := f.take(WhyEnd, 1)
			if got := f.differs(first, last); len(got) != 1 || got[0].Path != dir+"labels" || got[0].To.exists() {
				t.Errorf("differs in %+v, left out %+v", got, last.LeftOut)
			}
			world := f.world()
			if out := f.restore(first, true); !slices.Contains(out.Plan.Kept, Conflict{Path: dir + "again", Why: ConflictLeftOut}) {
				t.Errorf("kept %+v", out.Plan.Kept)
			}
			if got := f.world().changed(world); !slices.Equal(got, []string{dir + "labels"}) {
				t.Errorf("restore has changed %q", got)
			}
			f.remove(dir + "labels")
			if _, err := f.undo(1); err != nil {
				t.Fatal(err)
			}
			if got := f.world().changed(world); !slices.Equal(got, []string{dir + "labels"}) {
				t.Errorf("undo has changed %q", got)
			}
		})
	}
}

// TestTooManyInManyDirectories: it takes no time that grows with the square of what is new, where no directory has
// most of it.
func TestTooManyInManyDirectories(t *testing.T) {
	t.Parallel()
	const dirs, each = 4000, 10
	s := &scanner{limits: Limits{NewFiles: dirs * each / 2}.orDefaults()}
	for i := range dirs {
		d := &directory{path: "d" + itoa(10000+i) + "/src"}
		for j := range each {
			s.reads = append(s.reads, reading{dir: d, file: &file{name: itoa(j)}, new: true})
		}
	}
	began := time.Now()
	s.leaveTooMany()
	if took := time.Since(began); len(s.reads) != dirs*each/2 || len(s.left) != dirs/2 || s.left[0] != (LeftOut{Path: "d10000", Why: LeftTooMany, Files: each}) ||
		took > 3*time.Second {
		t.Errorf("%d files stay, %d directories do not, the first is %+v, after %v", len(s.reads), len(s.left), s.left[0], took)
	}
}

// TestAtFindsEachName: a directory stands in a tree as if its name ended in a slash.
func TestAtFindsEachName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	names := []string{"a", "a-b", "a.b", "b-c", "b.c/x", "b/x", "b0", "c/x/y", "c/x.y", "c/x0"}
	for _, name := range names {
		f.write(name, name)
	}
	s := f.take("x", 0)
	v := f.Recorded()
	defer v.Close()
	for _, name := range names {
		if at, err := v.objects.at(s.Tree, name); err != nil || at.ID != hashObject(kindBlob, []byte(name)) {
			t.Errorf("%s: %+v, %v", name, at, err)
		}
	}
	for path, mode := range map[string]uint32{
		"b": modeDir, "b.c": modeDir, "c": modeDir, "c/x": modeDir, "c/x.y": modeFile, "a/x": 0, "c/y": 0, "": 0, "0": 0, "z": 0,
	} {
		if at, err := v.objects.at(s.Tree, path); err != nil || at.Mode != mode {
			t.Errorf("%s: %+v, %v", path, at, err)
		}
	}
}

// TestLinkThatFailsRemovesNothing: a file of the store is replaced by one of the user's, or stays.
func TestLinkThatFailsRemovesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("dir/x", "x", "user", "2", "store", "1")
	path := func(name string) string { return filepath.Join(f.root, name) }
	if linkFile(path("dir"), path("store")) || f.content("store") != "1" {
		t.Errorf("a link that fails leaves %q", f.content("store"))
	}
	for range 2 {
		if !linkFile(path("user"), path("store")) || f.content("store") != "2" || len(f.world()) != 3 {
			t.Errorf("a link leaves %v", f.world())
		}
	}
}

// TestDeletedAfterMoment: a file that went after the moment is in the snapshot, or unsure, whatever has
// become of its directory; one that went before it is in neither.
func TestDeletedAfterMoment(t *testing.T) {
	t.Parallel()
	ways := map[string]func(f *fixture){
		"the directory is empty": func(f *fixture) { f.remove("sub/d/x") },
		"too many are new": func(f *fixture) {
			f.remove("sub/d/x")
			for i := range 11 {
				f.write("sub/d/new"+itoa(i), "x")
			}
		},
		"only ignored files are left": func(f *fixture) { f.remove("sub/d/x"); f.write("sub/d/x.o", "x") },
		"the directory went":          func(f *fixture) { f.remove("sub/d") },
		"those above it went":         func(f *fixture) { f.remove("sub") },
		"an older one is in its place": func(f *fixture) {
			f.rename("sub/d", "o/gone")
			f.rename("older", "sub/d")
		},
		"so of the one above it": func(f *fixture) {
			f.rename("sub", "o/gone")
			f.rename("oldersub", "sub")
		},
		"so with ignored files alone": func(f *fixture) {
			f.rename("sub", "o/gone")
			f.rename("bare", "sub")
		},
		"a link to an older one is": func(f *fixture) {
			f.rename("sub", "o/gone")
			if err := os.Symlink("oldersub", filepath.Join(f.root, "sub")); err != nil {
				f.Fatal(err)
			}
		},
	}
	for name, remove := range ways {
		for _, late := range []bool{true, false} {
			t.Run(name+" late "+strconv.FormatBool(late), func(t *testing.T) {
				f := newFixture(t)
				f.open(Options{Limits: Limits{NewFiles: 10}})
				f.git("init", "-q")
				f.write(".gitignore", "*.o\n/o/\n", "sub/d/x", "1", "other", "1", "o/x", "1", "older/y", "1", "oldersub/d/y", "1", "bare/d/x.o", "1")
				f.take(WhyFirst, 0)
				f.settled()
				var moment time.Time
				if late {
					moment = f.settled()
				}
				remove(f)
				if !late {
					moment = f.settled()
				}
				s, err := f.Take(f.Context(), Request{Why: WhyStart, Turn: 1, Moment: moment})
				if err != nil {
					t.Fatal(err)
				}
				v := f.Recorded()
				defer v.Close()
				at, err := v.objects.at(s.Tree, "sub/d/x")
				isUnsure := slices.Contains(s.Unsure, "sub/d/x")
				if err != nil || late && !at.exists() && !isUnsure || !late && (at.exists() || isUnsure) {
					t.Errorf("%+v, unsure %q, %v", at, s.Unsure, err)
				}
			})
		}
	}
}

// TestRestoreNamesUnrecorded: of what is in no snapshot, restore and undo do not say that it is as it was.
func TestRestoreNamesUnrecorded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open(Options{Limits: Limits{FileSize: 100}})
	f.write(".gitignore", "*.log\n", "a", "1", ".env", "1", "x.log", "1", "nest/.git/HEAD", "ref: x\n", "nest/x", "1", "large", strings.Repeat("x", 101))
	s := f.take(WhyStart, 1)
	f.write(".env", "2", "x.log", "2", "nest/x", "2", "large", strings.Repeat("y", 101))
	f.take(WhyEnd, 1)
	for name, want := range map[string]string{
		".env": "[{.env left_out", "x.log": "[{x.log ignored", "nest": "[{nest left_out", "nest/x": "[{nest/x left_out", "large": "[{large left_out", "a": "[]",
		".": "[{large left_out",
	} {
		var files []string
		if name != "." {
			files = []string{name}
		}
		if got := fmt.Sprint(f.restore(s, true, files...).Plan.Kept); !strings.HasPrefix(got, want) || strings.Count(got, "{") > 1 {
			t.Errorf("restore %s: kept %s", name, got)
		}
		if out, err := f.undo(1, files...); err != nil || !strings.HasPrefix(fmt.Sprint(out.Plan.Kept), want) {
			t.Errorf("undo %s: %+v, %v", name, out, err)
		}
	}
}
