package ledger

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// twoTurns has a turn 1 that changed files in each way.
func oneTurn(t *testing.T) *fixture {
	f := newFixture(t)
	f.git("init", "-q")
	f.write("a.txt", numbered(30), "b.txt", "b\n", "gone.txt", "gone\n", "run.sh", "#!/bin/sh\n", "other.txt", "other\n")
	f.git("add", "-A")
	f.git("commit", "-qm", "one")
	f.take(WhyStart, 1)
	f.write("a.txt", strings.Replace(numbered(30), "line 3\n", "three\n", 1), "b.txt", "changed\n", "d/new.txt", "new\n")
	f.remove("gone.txt")
	_ = os.Chmod(filepath.Join(f.root, "run.sh"), 0o755)
	f.take(WhyEnd, 1)
	return f
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line " + itoa(i) + "\n")
	}
	return b.String()
}

func TestUndoTakesATurnBack(t *testing.T) {
	t.Parallel()
	f := oneTurn(t)
	all, _ := f.Snapshots()
	v := f.Recorded()
	c, err := v.Changes(all[0], all[1], nil, MostPaths)
	v.Close()
	if err != nil || c.Files != 5 || c.Added != 3 || c.Removed != 3 {
		t.Errorf("changes: %+v %v", c, err)
	}
	out, err := f.undo(1)
	if err != nil || len(out.Plan.Conflicts) > 0 || len(out.Plan.Steps) != 5 {
		t.Fatalf("undo: %+v %v", out.Plan, err)
	}
	if s := strings.TrimSpace(f.git("status", "--short")); s != "" {
		t.Errorf("git status after undo: %s", s)
	}
	out, err = f.undo(1)
	if err != nil || len(out.Plan.Steps) > 0 || out.Before != nil {
		t.Errorf("undone twice: %+v %v", out, err)
	}
	all, _ = f.Snapshots()
	i := slices.IndexFunc(all, func(s *Snapshot) bool { return s.Tree == all[1].Tree })
	f.restore(all[i], true)
	if f.content("b.txt") != "changed\n" || f.content("gone.txt") == "gone\n" {
		t.Error("the way back does not lead back")
	}
}

// TestUndoTwice: a turn that made a file of a directory is taken back once, and then there is nothing to do.
func TestUndoTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("d/x", "x\n", "e/x", "x\n")
	f.take(WhyStart, 1)
	f.shell("rm -r d e; echo file > d; ln -s nowhere e")
	f.take(WhyEnd, 1)
	for i := range 2 {
		out, err := f.undo(1)
		if err != nil || len(out.Plan.Conflicts) > 0 || f.content("d/x") != "x\n" || f.content("e/x") != "x\n" || (len(out.Plan.Steps) == 0) != (i == 1) {
			t.Fatalf("%d: %+v %v", i, out.Plan, err)
		}
	}
}

// TestUndoConflicts has a row for each way in which newer work forbids an undo.
func TestUndoConflicts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(f *fixture)
		path   string
		why    string // "": no conflict
	}{
		{"other lines", func(f *fixture) {
			f.write("a.txt", strings.Replace(f.content("a.txt"), "line 25\n", "later\n", 1))
		}, "", ""},
		{"same lines", func(f *fixture) {
			f.write("a.txt", strings.Replace(f.content("a.txt"), "three\n", "3\n", 1))
		}, "a.txt", ConflictChanged},
		{"neighbouring lines", func(f *fixture) {
			f.write("a.txt", strings.Replace(f.content("a.txt"), "line 4\n", "four\n", 1))
		}, "a.txt", ConflictChanged},
		{"deleted since", func(f *fixture) { f.remove("b.txt") }, "b.txt", ConflictChanged},
		{"renamed since", func(f *fixture) {
			_ = os.Rename(filepath.Join(f.root, "b.txt"), filepath.Join(f.root, "c.txt"))
		}, "b.txt", ConflictRenamed},
		{"created again", func(f *fixture) { f.write("gone.txt", "mine\n") }, "gone.txt", ConflictInTheWay},
		{"in the way and ignored", func(f *fixture) { f.write(".gitignore", "gone.txt\n", "gone.txt", "mine\n") }, "gone.txt", ConflictInTheWay},
		{"new file changed", func(f *fixture) { f.write("d/new.txt", "newer\n") }, "d/new.txt", ConflictChanged},
		{"link since", func(f *fixture) { f.remove("b.txt"); _ = os.Symlink("a.txt", filepath.Join(f.root, "b.txt")) }, "b.txt", ConflictType},
		{"binary since", func(f *fixture) { f.write("b.txt", "\x00") }, "b.txt", ConflictChanged},
		{"mode since", func(f *fixture) { _ = os.Chmod(filepath.Join(f.root, "run.sh"), 0o700) }, "run.sh", ConflictChanged},
		{"other file", func(f *fixture) { f.write("other.txt", "x\n", "unknown", "x") }, "", ""},
		{"back by hand", func(f *fixture) { f.write("b.txt", "b\n") }, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := oneTurn(t)
			test.change(f)
			before := f.state()
			out, err := f.undo(1)
			if err != nil {
				t.Fatal(err)
			}
			if test.why == "" {
				if len(out.Plan.Conflicts) > 0 {
					t.Errorf("conflicts %+v", out.Plan.Conflicts)
				}
				return
			}
			if len(out.Plan.Conflicts) != 1 || out.Plan.Conflicts[0].Path != test.path || out.Plan.Conflicts[0].Why != test.why {
				t.Errorf("conflicts %+v, want %s of %s", out.Plan.Conflicts, test.why, test.path)
			}
			if after := f.state(); after != before {
				t.Errorf("the tree was changed:\n%s\n%s", before, after)
			}
		})
	}
}

func TestMergedUndoKeepsNewerLines(t *testing.T) {
	t.Parallel()
	f := oneTurn(t)
	f.write("a.txt", strings.Replace(f.content("a.txt"), "line 25\n", "later\n", 1))
	if _, err := f.undo(1); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(numbered(30), "line 25\n", "later\n", 1); f.content("a.txt") != want {
		t.Errorf("merged: %q", f.content("a.txt"))
	}
}

// TestPermissionsComeBack: git keeps one bit of them.
func TestPermissionsComeBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "a", "b", "b", "c", "c", "s", "#!")
	_ = os.Chmod(filepath.Join(f.root, "b"), 0o600)
	_ = os.Chmod(filepath.Join(f.root, "s"), 0o750)
	s := f.take(WhyPerson, 0)
	before := f.state()
	for _, p := range []string{"a", "b", "s"} {
		f.remove(p)
	}
	_ = os.Chmod(filepath.Join(f.root, "c"), 0o666)
	f.restore(s, false)
	if after := f.state(); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
}

func TestUnreadableIsNotDeleted(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	f := newFixture(t)
	f.write("d/a", "a", "b", "b")
	first := f.take("x", 0)
	_ = os.Chmod(filepath.Join(f.root, "d"), 0)
	defer os.Chmod(filepath.Join(f.root, "d"), 0o755)
	_ = os.Chmod(filepath.Join(f.root, "b"), 0)
	second := f.take("x", 0)
	if first.Tree != second.Tree || len(second.LeftOut) != 2 {
		t.Errorf("%s %s %+v", first.Tree, second.Tree, second.LeftOut)
	}
}

// TestSecretsAndIgnoredAreNotRead looks for their contents in the store.
func TestSecretsAndIgnoredAreNotRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write(".gitignore", "ignored\nlater\n", "ignored", "IGNORED", ".env", "SECRET", "sub/key.pem", "SECRET", ".env.example", "fine", "tracked.key", "tracked")
	f.git("add", "-f", "tracked.key")
	s := f.take("x", 0)
	if got := strings.Join(f.paths(s.Tree), " "); got != ".env.example .gitignore tracked.key" {
		t.Errorf("snapshot of %s", got)
	}
	var left []string
	for _, l := range s.LeftOut {
		left = append(left, l.Why+":"+l.Path)
	}
	if got := strings.Join(left, " "); got != "secret:.env secret:sub/key.pem" {
		t.Errorf("left out: %s", got)
	}
	// What is ignored from now on is in no snapshot, also not later, and not called deleted.
	f.write("now", "now", "dir/sub/x", "x")
	before := f.take("x", 0)
	f.write(".gitignore", "ignored\nlater\nnow\ndir\n", "now", "IGNORED", "dir/sub/x", "IGNORED", "dir/y", "IGNORED")
	after := f.take("x", 0)
	f.write("other", "x")
	later := f.take("x", 0)
	f.write(".gitignore", "ignored\nlater\nnow\n")
	again := f.take("x", 0)
	v := f.Recorded()
	defer v.Close()
	for path, want := range map[string]bool{"dir": true, "ignored": true, "now": true, "dir/sub": false, ".gitignore": false, "later": false} {
		if at, err := v.objects.ignoredIn(after, path); err != nil || at.exists() != want {
			t.Errorf("%s is ignored: %v, %v", path, at.exists(), err)
		}
	}
	for _, test := range []struct {
		from, to *Snapshot
		want     string
	}{{before, after, "modified .gitignore"}, {before, later, "modified .gitignore added other"}, {after, later, "added other"},
		{later, again, "modified .gitignore"}, {before, again, "modified .gitignore added dir/y modified dir/sub/x added other"}} {
		c, err := v.Changes(test.from, test.to, nil, 0)
		var got, want []string
		for _, p := range c.Paths {
			got = append(got, p.Status+" "+p.Path)
		}
		for word := range slices.Chunk(strings.Fields(test.want), 2) {
			want = append(want, strings.Join(word, " "))
		}
		slices.Sort(got)
		if slices.Sort(want); err != nil || !slices.Equal(got, want) {
			t.Errorf("from %s to %s: %q, want %q, %v", test.from.Name(), test.to.Name(), got, want, err)
		}
	}
	for _, s := range []*Snapshot{after, later} {
		if got := strings.Join(f.paths(s.Tree), " "); strings.Contains(got, "now") || strings.Contains(got, "dir") {
			t.Errorf("%s has what is ignored: %s", s.Name(), got)
		}
	}
	// A restore neither writes nor removes it.
	f.write("now", "mine")
	out := f.restore(before, true)
	if f.content("now") != "mine" || f.content("ignored") != "IGNORED" || f.content(".env") != "SECRET" {
		t.Errorf("touched what is ignored: %+v", out.Plan)
	}
}

func TestTooManyAndLarge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open(Options{Limits: Limits{NewFiles: 10, FileSize: 100}})
	f.write("a", "a", "large", strings.Repeat("x", 101))
	f.take("x", 0)
	for i := range 20 {
		f.write("forgotten/pkg/"+itoa(i), "x")
	}
	s := f.take("x", 0)
	if got := strings.Join(f.paths(s.Tree), " "); got != "a" {
		t.Errorf("snapshot of %s", got)
	}
	if len(s.LeftOut) != 2 || s.LeftOut[0] != (LeftOut{"forgotten/pkg", LeftTooMany, 20}) || s.LeftOut[1].Why != LeftLarge {
		t.Errorf("left out: %+v", s.LeftOut)
	}
}

// TestRestoreNamesLargeFiles: what was recorded and is too large now is not as it was, and stays.
func TestRestoreNamesLargeFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open(Options{Limits: Limits{FileSize: 100}})
	f.write("dd", "precious", "other", "1")
	s := f.take(WhyPerson, 0)
	f.write("dd", strings.Repeat("x", 101))
	v, err := f.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if n, err := v.Differs(s); err != nil || n != (Differences{Changed: 1}) {
		t.Errorf("%+v, %v", n, err)
	}
	out := f.restore(s, true, "dd")
	if k := out.Plan.Kept; len(k) != 1 || k[0].Path != "dd" || k[0].Why != ConflictLeftOut || len(f.content("dd")) != 101 {
		t.Errorf("%+v", out.Plan)
	}
	if other := f.restore(s, false, "other"); len(other.Plan.Kept) > 0 {
		t.Errorf("%+v", other.Plan)
	}
}

// TestOneBeginning: a turn has one beginning, and whoever asks for it again is shown that.
func TestOneBeginning(t *testing.T) {
	f := newFixture(t)
	first := f.take(WhyStart, 1)
	f.write("late", "1")
	var shown *Snapshot
	again, err := f.Take(f.Context(), Request{Why: WhyStart, Turn: 1, Ready: func(_ *View, s *Snapshot) { shown = s }})
	if err != nil || again.Number != first.Number || shown != again {
		t.Errorf("shown %v, got %v, want %v (%v)", shown, again, first, err)
	}
}

// TestUndoNamesLargeFiles: what is too large to be recorded, and changed in the turn, is not taken back, and is
// named; what did not change is not.
func TestUndoNamesLargeFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open(Options{Limits: Limits{FileSize: 100}})
	large := strings.Repeat("x", 101)
	f.write("a", "a", "gone", large, "grown", "1", "kept", large)
	start := f.take(WhyStart, 1)
	f.remove("gone")
	f.write("a", "b", "grown", large, "new", large)
	end := f.take(WhyEnd, 1)
	kept := func(out *Outcome, err error) (paths []string) {
		if err != nil || len(out.Plan.Conflicts) > 0 {
			t.Fatalf("%+v %v", out, err)
		}
		for _, c := range out.Plan.Kept {
			if c.Why != ConflictLeftOut {
				t.Errorf("kept: %+v", c)
			}
			paths = append(paths, c.Path)
		}
		return paths
	}
	if got := kept(f.undo(1, "grown")); !slices.Equal(got, []string{"grown"}) {
		t.Errorf("of one file: kept %q", got)
	}
	if got := kept(f.undo(1)); f.content("a") != "a" || !slices.Contains(got, "gone") || !slices.Contains(got, "grown") || !slices.Contains(got, "new") {
		t.Errorf("a is %q, kept %q", f.content("a"), got)
	}
	later := *start
	later.At += int64(time.Hour) // a turn that began when the files were as they are
	got := kept(f.Do(t.Context(), Change{Dry: true, Plan: func(v *View) (*Plan, error) { return v.PlanUndo(&later, end, nil) }}))
	if !slices.Equal(got, []string{"gone"}) {
		t.Errorf("without a change: kept %q", got)
	}
}

// TestMoment: what changed after the moment that a snapshot stands for is in it as it was.
func TestMoment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("early", "1", "late", "1", "gone", "1", "d/x", "1")
	f.take(WhyEnd, 1)
	f.settled()
	f.write("early", "2")
	moment := f.settled()
	f.write("late", "2", "new/file", "2")
	f.remove("gone")
	s, err := f.Take(f.Context(), Request{Why: WhyStart, Turn: 2, Moment: moment})
	if err != nil {
		t.Fatal(err)
	}
	v := f.Recorded()
	defer v.Close()
	content := func(path string) string {
		at, _ := v.objects.at(s.Tree, path)
		b, err := v.objects.blob(at.ID)
		if !at.exists() || err != nil {
			return "-"
		}
		return string(b)
	}
	if got := content("early") + content("late") + content("new/file") + content("gone"); got != "21-1" {
		t.Errorf("early late new gone: %s", got)
	}
	if got := strings.Join(s.Unsure, " "); got != "gone" { // something else may have changed the directory
		t.Errorf("unsure: %s", got)
	}
	if s.Scan == s.Tree {
		t.Error("the scan is not the moment")
	}
}

// settled waits until the clock of files has moved on, and returns the time in between.
func (f *fixture) settled() time.Time {
	path := filepath.Join(filepath.Dir(f.root), "clock")
	read := func() int64 {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			f.Fatal(err)
		}
		st, err := linkStat(path)
		if err != nil {
			f.Fatal(err)
		}
		return st.ctime
	}
	start := read()
	for {
		if now := read(); now > start+2 {
			at := time.Unix(0, now-1)
			for read() <= now {
			}
			return at
		}
	}
}

// TestWithoutBefore: what was written before the first scan, and after the turn began, is
// unsure, and an undo says so.
func TestWithoutBefore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("old", "1", "f", "1")
	moment := f.settled()
	f.write("f", "2")
	if _, err := f.Take(f.Context(), Request{Why: WhyStart, Turn: 1, Moment: moment}); err != nil {
		t.Fatal(err)
	}
	f.write("old", "2")
	f.take(WhyEnd, 1)
	out, err := f.undo(1)
	if err != nil || len(out.Plan.Conflicts) != 1 || out.Plan.Conflicts[0] != (Conflict{Path: "f", Why: ConflictNoBefore}) {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := f.undo(1, "old"); err != nil || f.content("old") != "1" || f.content("f") != "2" {
		t.Errorf("old %s f %s %v", f.content("old"), f.content("f"), err)
	}
}
