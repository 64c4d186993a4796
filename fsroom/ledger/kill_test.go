package ledger

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/fsroomtest"
)

// childVariable says what a process of this test does: the directory of the fixture and the
// work.
const childVariable = "TT_LEDGER_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir, work, ok := strings.Cut(os.Getenv(childVariable), "|"); ok {
		child(dir, work)
		return
	}
	os.Exit(fsroomtest.Main(m))
}

// child undoes a turn, or takes and prunes until it is killed.
func child(dir, work string) {
	ctx := context.Background()
	l := New(filepath.Join(dir, "stores", "store"), Options{Root: filepath.Join(dir, "tree"), Home: dir, Limits: Limits{Free: 1}})
	if turn, err := strconv.ParseInt(work, 10, 64); err == nil {
		_, _ = l.Do(ctx, Change{Request: Request{Why: WhyUndo}, Plan: func(v *View) (*Plan, error) {
			from, to := TurnOf(v.All, turn)
			return v.PlanUndo(from, to, nil)
		}})
		return
	}
	for {
		if work == "prune" {
			_, _ = PruneAll(ctx, filepath.Join(dir, "stores"), Options{Home: dir}, Keep{Age: time.Nanosecond, Size: 1, Now: time.Now().Add(48 * time.Hour)})
		} else {
			_, _ = l.Take(ctx, Request{Why: WhyGuard, Line: true})
		}
	}
}

// TestKilledProcesses kills processes that undo, take and prune at any moment, all at once. The
// tree is as before or as after the undo once the next process has looked, and what is listed
// can be read.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	rounds := 12 / min(3, fsroomtest.Stride())
	if n, err := strconv.Atoi(os.Getenv("TT_LEDGER_TEST_ROUNDS")); err == nil {
		rounds = n
	}
	f := newFixture(t)
	dir := filepath.Dir(f.root)
	f.Ledger = New(filepath.Join(dir, "stores", "store"), Options{Root: f.root, Home: dir, Limits: Limits{Free: 1}})
	f.git("init", "-q")
	f.write("a", numbered(30))
	f.git("add", "-A")
	f.git("commit", "-qm", "one")
	f.git("gc", "-q")
	start := func(work string) *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(f.env(), childVariable+"="+dir+"|"+work)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	undone := 0
	for round := range rounds {
		turn := int64(round + 1)
		before := f.state()
		f.take(WhyStart, turn)
		for i := range 20 {
			f.write(fmt.Sprintf("d%d/f%d", i%3, i), fmt.Sprint("turn ", turn, " file ", i, strings.Repeat(" text", rand.Intn(2000))))
		}
		f.remove(fmt.Sprintf("d1/f%d", 1+3*rand.Intn(6)))
		f.take(WhyEnd, turn)
		after := f.state()
		work := []*exec.Cmd{start("prune"), start("take"), start(fmt.Sprint(turn))}
		killed := time.After(time.Duration(rand.Intn(150)) * time.Millisecond)
		<-killed
		for _, c := range work {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
		f.take(WhyGuard, 0)
		switch got := f.state(); got {
		case before:
			undone++
		case after:
		default:
			t.Fatalf("round %d: neither before nor after:\n%s\nbefore\n%s\nafter\n%s", round, got, before, after)
		}
		if found := f.Check(t.Context(), false); len(found) > 0 {
			t.Errorf("round %d: %+v", round, found)
		}
		f.readable()
	}
	t.Logf("%d of %d turns were undone", undone, rounds)
	if out, err := f.storeGit("fsck", "--no-dangling"); err != nil {
		t.Errorf("fsck: %v %s", err, out)
	}
}

// TestSweep expects that what a process leaves which is killed while it replaces a file goes with the next.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.take(WhyStart, 1)
	for _, path := range []string{f.applyingFile(), f.linesFile()} {
		temp, err := os.CreateTemp(f.Dir(), "."+filepath.Base(path)) // as lockfile.Replace
		if err != nil {
			t.Fatal(err)
		}
		_ = temp.Close()
	}
	f.take(WhyEnd, 1)
	f.readable()
}

// readable reads all that the snapshots name, and looks for temporary files.
func (f *fixture) readable() {
	f.Helper()
	all, err := f.Snapshots()
	if err != nil {
		f.Fatal(err)
	}
	v := f.Recorded()
	defer v.Close()
	needed := map[ID]bool{}
	for _, s := range all {
		if err := v.objects.reach(s.Tree, needed); err != nil {
			f.Errorf("%s: %v", s.Name(), err)
		}
	}
	for id := range needed {
		if _, _, err := v.objects.read(id); err != nil {
			f.Error(err)
		}
	}
	for _, pattern := range []string{f.packDir() + "/" + tempPrefix + "*", f.packDir() + "/.*", f.Dir() + "/.*", f.root + "/.tt-*", f.root + "/*/.tt-*"} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			f.Errorf("left behind: %v", left)
		}
	}
}
