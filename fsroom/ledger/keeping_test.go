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

// TestDamagedLinesCountOnce: lines that are damaged, or gone, count once, also after a new one.
func TestDamagedLinesCountOnce(t *testing.T) {
	t.Parallel()
	for _, harm := range []string{"", "null\n", "null"} {
		f := newFixture(t)
		f.write("a", "1")
		f.take(WhyGuard, 0)
		if err := os.WriteFile(f.linesFile(), []byte(harm), 0o600); err != nil {
			t.Fatal(err)
		}
		before := f.Damaged()
		if f.take(WhyGuard, 0); before != 1 || f.Damaged() != 1 {
			t.Errorf("%q: %d, then %d", harm, before, f.Damaged())
		}
	}
}
