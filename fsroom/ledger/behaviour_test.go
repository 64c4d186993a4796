package ledger

import (
	"context"
	"errors"
	"os"
	"os/exec"
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

// TestNothingIsWrittenToGit, also where objects are borrowed, and they outlive what the user
// does to the repository.
func TestNothingIsWrittenToGit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	for i := range 20 {
		f.write("f"+itoa(i), strings.Repeat(itoa(i), 50))
	}
	f.git("add", "-A")
	f.git("commit", "-qm", "one")
	f.git("gc", "-q")
	f.write("loose", "loose\n")
	f.git("add", "loose")
	before := dirState(t, filepath.Join(f.root, ".git"))
	s := f.take(WhyStart, 1)
	f.write("f1", "changed")
	f.take(WhyEnd, 1)
	if _, err := f.undo(1); err != nil {
		t.Fatal(err)
	}
	if after := dirState(t, filepath.Join(f.root, ".git")); after != before {
		t.Errorf("below .git:\n%s\n%s", before, after)
	}
	if size := f.Size(); size > 20_000 {
		t.Errorf("%d bytes of our own: nothing was borrowed", size)
	}
	want := f.state()
	f.remove(".git")
	for i := range 20 {
		f.remove("f" + itoa(i))
	}
	f.remove("loose")
	f.restore(s, true)
	if got := f.state(); got != want {
		t.Errorf("after rm -rf .git:\n%s\n%s", want, got)
	}
}

func dirState(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("find", dir, "-printf", "%p %s %T@ %m\n").Output()
	if err != nil {
		t.Skip("find has no -printf")
	}
	lines := strings.Split(string(out), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestPruneKeepsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write("tracked", "tracked")
	f.git("add", "-A")
	f.git("commit", "-qm", "one")
	f.git("gc", "-q")
	for i := range 80 {
		f.write("f", "turn "+itoa(i), "g"+itoa(i), itoa(i))
		f.take(WhyEnd, int64(i+1))
	}
	all, _ := f.Snapshots()
	if err := f.prune(f.Context(), Keep{Age: 24 * time.Hour, Now: time.Now()}, -1); err != nil {
		t.Fatal(err)
	}
	if packs, err := openPacks(f.objectsDir(), nil); len(packs) > 3 || err != nil {
		t.Errorf("%d packs, %v", len(packs), err)
	}
	f.remove(".git") // the linked pack is ours alone now
	if err := f.prune(f.Context(), Keep{Age: time.Hour, Now: time.Now().Add(48 * time.Hour)}, -1); err != nil {
		t.Fatal(err)
	}
	kept, _ := f.Snapshots()
	if len(kept) < keptTurns || len(kept) >= len(all) {
		t.Errorf("%d of %d snapshots", len(kept), len(all))
	}
	if out, err := f.storeGit("fsck", "--no-dangling"); err != nil {
		t.Errorf("fsck: %v %s", err, out)
	}
	for _, s := range kept {
		v := f.Recorded()
		if err := v.objects.reach(s.Tree, map[ID]bool{}); err != nil {
			t.Error(err)
		}
		if at, _ := v.objects.at(s.Tree, "tracked"); at.exists() {
			if _, err := v.objects.blob(at.ID); err != nil {
				t.Error(err)
			}
		}
		v.Close()
	}
	if left, err := PruneAll(f.Context(), filepath.Dir(f.Dir()), Options{}, Keep{Age: time.Hour, Size: 1, Now: time.Now().Add(48 * time.Hour)}); err != nil || left == 0 {
		t.Errorf("left %d %v", left, err)
	}
	if found := f.Check(f.Context(), false); len(found) > 0 {
		t.Errorf("problems: %+v", found)
	}
}

// TestTicksAreThinned: of the snapshots by time that are older than an hour the last one of each hour is kept, however
// few turns there were.
func TestTicksAreThinned(t *testing.T) {
	f := newFixture(t)
	now := time.Now().Truncate(time.Hour).Add(30 * time.Minute)
	take := func(why string, ago time.Duration) {
		f.write("a", ago.String())
		if _, err := f.Take(t.Context(), Request{Why: why, Turn: 1, Moment: now.Add(-ago), Line: true}); err != nil {
			t.Fatal(err)
		}
	}
	take(WhyStart, 200*time.Minute)
	for ago := 190 * time.Minute; ago >= 0; ago -= 10 * time.Minute {
		take(WhyTick, ago)
	}
	take(WhyGuard, 0)
	if _, err := PruneAll(t.Context(), filepath.Dir(f.Dir()), Options{}, Keep{Age: time.Hour * 999, Size: 1 << 40, Now: now}); err != nil {
		t.Fatal(err)
	}
	var kept []string
	all, err := f.Snapshots()
	for _, s := range all {
		kept = append(kept, s.Why+" "+now.Sub(s.Time()).String())
	}
	want := "start 3h20m0s, tick 2h40m0s, tick 1h40m0s, tick 1h10m0s, tick 1h0m0s, tick 50m0s, tick 40m0s, tick 30m0s, tick 20m0s, tick 10m0s, tick 0s, guard 0s"
	if got := strings.Join(kept, ", "); err != nil || got != want {
		t.Errorf("kept %s\nwant %s\n%v", got, want, err)
	}
}

func TestFullDiskIsUnknown(t *testing.T) {
	t.Parallel()
	full := false
	f := newFixture(t)
	f.open(Options{Fault: func(step string) error {
		if full && step != "prepare" {
			return &os.PathError{Op: "write", Path: step, Err: errNoSpace}
		}
		return nil
	}})
	f.write("a", "a")
	f.take("x", 0)
	full = true
	f.write("a", "b")
	_, err := f.Take(context.Background(), Request{Why: "x", Line: true})
	if WhyUnknown(err) != UnknownFull {
		t.Errorf("error %v", err)
	}
	restore := func(v *View) (*Plan, error) { return v.PlanRestore(v.All[0], nil, true) }
	if _, err := f.Do(t.Context(), Change{Request: Request{Why: WhyRestore}, Plan: restore}); WhyUnknown(err) != UnknownFull || f.content("a") != "b" {
		t.Errorf("restore without a snapshot before: %v", err)
	}
	full = false
	if all, err := f.Snapshots(); len(all) != 1 || err != nil {
		t.Errorf("%d lines, %v", len(all), err)
	}
	left, _ := filepath.Glob(filepath.Join(f.packDir(), tempPrefix+"*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDamagedStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "a")
	f.take("x", 0)
	file, _ := os.OpenFile(f.linesFile(), os.O_APPEND|os.O_WRONLY, 0)
	_, _ = file.WriteString(`{"snapshot":2,"torn`)
	file.Close()
	_ = os.WriteFile(f.cacheFile(), []byte("rubbish"), 0o600)
	if s := f.take("x", 0); s.Number != 2 {
		t.Errorf("snapshot %d", s.Number)
	}
	if found := f.Check(f.Context(), true); len(found) != 1 || !found[0].Repaired {
		t.Errorf("found %+v", found)
	}
	if found := f.Check(f.Context(), false); len(found) != 0 {
		t.Errorf("after the repair: %+v", found)
	}
	lock := filepath.Join(f.Dir(), "lock")
	_, _, _ = os.Remove(lock), os.Mkdir(lock, 0o700), os.Chmod(f.Dir(), 0o500)
	for _, repair := range []bool{false, true} {
		if found := f.Check(f.Context(), repair); len(found) != 2 || found[0].Path != f.Dir() || found[1].Path != lock || found[1].Repaired != repair {
			t.Errorf("a store that cannot be written to: %+v", found)
		}
	}
	f.shell("rm " + f.cacheFile() + "; mkfifo " + f.cacheFile())
	f.take("x", 0)
	index := filepath.Join(f.root, ".git")
	f.git("init", "-q")
	_ = os.WriteFile(filepath.Join(index, "index"), []byte("DIRCrubbish"), 0o600)
	if _, err := f.Take(f.Context(), Request{}); !errors.Is(err, errIndex) || WhyUnknown(err) != UnknownUnreadable {
		t.Errorf("a damaged index: %v", err)
	}
}

// TestRepairKeepsWhatIsNew: a snapshot that another process takes before the repair has the lock
// is not among the damaged ones.
func TestRepairKeepsWhatIsNew(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "a")
	f.take("x", 0)
	file, _ := os.OpenFile(f.linesFile(), os.O_APPEND|os.O_WRONLY, 0)
	_, _ = file.WriteString("damaged\n")
	file.Close()
	other := New(f.Dir(), Options{Root: f.root, Limits: Limits{Free: 1}})
	f.open(Options{Fault: func(step string) error {
		if step == "prepare" {
			_, err := other.Take(t.Context(), Request{Why: "x", Line: true})
			return err
		}
		return nil
	}})
	if found := f.Check(t.Context(), true); len(found) != 1 || !found[0].Repaired {
		t.Errorf("found %+v", found)
	}
	if all, err := f.Snapshots(); len(all) != 2 || err != nil {
		t.Errorf("%d snapshots, %v", len(all), err)
	}
}

// TestViewLeavesNothingOpen: a process may look at the tree for days.
func TestViewLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1\n")
	f.take(WhyPerson, 0)
	v := f.Recorded()
	v.objects.refresh()
	v.Close()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	if strings.Contains(string(maps), f.packDir()) {
		t.Errorf("an index is still mapped:\n%s", maps)
	}
}

// TestManyPacksAreJoined also where there are many turns in an hour.
func TestManyPacksAreJoined(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Ledger = New(filepath.Join(filepath.Dir(f.root), "stores", "store"), Options{Root: f.root, Limits: Limits{Free: 1}})
	packs := func() int {
		all, _ := filepath.Glob(filepath.Join(f.packDir(), "*.pack"))
		return len(all)
	}
	for i := range 2 * maxPacks {
		f.write("a", itoa(i))
		f.take(WhyGuard, 0)
		if f.MayPrune(time.Hour) {
			if _, err := PruneAll(t.Context(), filepath.Dir(f.Dir()), Options{}, Keep{Age: time.Hour, Size: 1 << 30, Now: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		if n := packs(); n > maxPacks+1 {
			t.Fatalf("%d packs after %d snapshots", n, i+1)
		}
	}
	f.readable()
}
