package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/fsroomtest"
)

// errFault is what a step fails with.
var errFault = errors.New("made to fail")

// killed is what a step panics with that stands for the end of the process.
type killed struct{}

// faulty opens the store so that the nth step fails, or with kill ends the process.
func (f *fixture) faulty(n int, kill bool) (steps *int) {
	steps = new(int)
	f.open(Options{Fault: func(step string) error {
		if *steps++; *steps != n {
			return nil
		}
		if kill {
			panic(killed{})
		}
		return errFault
	}})
	return steps
}

// surviving calls do, which may be killed.
func surviving(do func()) {
	defer func() {
		if r := recover(); r != nil && r != (killed{}) {
			panic(r)
		}
	}()
	do()
}

// TestUndoFailsAtEachStep: whichever step fails, or is the last of a killed process, the tree is
// as before or as after the undo once the next process has looked, and no temporary file is left.
func TestUndoFailsAtEachStep(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprint("kill ", kill), func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n += fsroomtest.Stride() {
				f := oneTurn(t)
				f.write("a.txt", strings.Replace(f.content("a.txt"), "line 25\n", "later\n", 1))
				before := f.state()
				steps := f.faulty(n, kill)
				surviving(func() { _, _ = f.undo(1) })
				fired := *steps >= n
				f.open(Options{})
				f.take("x", 0)
				after := f.state()
				done := f.content("b.txt") == "b\n" && f.content("gone.txt") == "gone\n" && !exists(filepath.Join(f.root, "d", "new.txt")) &&
					f.content("a.txt") == strings.Replace(numbered(30), "line 25\n", "later\n", 1)
				if after != before && !done {
					t.Errorf("step %d, kill %v: neither before nor after:\n%s\nbefore\n%s", n, kill, after, before)
				}
				if f.Interrupted() {
					t.Errorf("step %d, kill %v: still interrupted", n, kill)
				}
				if out, err := f.storeGit("fsck", "--no-dangling"); err != nil {
					t.Errorf("step %d, kill %v: fsck: %v %s", n, kill, err, out)
				}
				if !fired {
					break
				}
			}
		})
	}
}

// TestChangeThatMayNotGoOn: a change that is refused before any of its steps, or after the last, leaves the tree as
// it was, and says why.
func TestChangeThatMayNotGoOn(t *testing.T) {
	t.Parallel()
	refused := errors.New("the turn is over")
	for n := 1; ; n++ {
		f, asked := oneTurn(t), 0
		before := f.state()
		steps := 0
		undo := func(v *View) (*Plan, error) {
			from, to := TurnOf(v.All, 1)
			p, err := v.PlanUndo(from, to, nil)
			if err == nil {
				steps = len(p.Steps)
			}
			return p, err
		}
		_, err := f.Do(t.Context(), Change{Request: Request{Why: WhyUndo}, Plan: undo, Still: func() error {
			if asked++; asked >= n {
				return refused
			}
			return nil
		}})
		if asked < n {
			if asked <= steps || steps < 2 || err != nil {
				t.Errorf("asked %d times for %d steps, %v", asked, steps, err)
			}
			return
		}
		if !errors.Is(err, refused) || f.state() != before || f.Interrupted() {
			t.Errorf("step %d: %v, the tree is %s", n, err, f.state())
		}
	}
}

// TestTakeFailsAtEachStep: the store has the snapshots of before, or one more, and all of them
// whole; the next snapshot is right.
func TestTakeFailsAtEachStep(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		kill, unsynced := i%2 == 1, i > 1
		for n := 1; ; n += fsroomtest.Stride() {
			f := newFixture(t)
			f.write("a", "1", "d/b", "1")
			f.take("x", 0)
			if unsynced { // what it left is in one pack with the next
				f.write("a", "1 and more")
				if _, err := f.Take(t.Context(), Request{Why: WhyGuard, Unsynced: true}); err != nil {
					t.Fatal(err)
				}
			}
			f.write("a", "2", "d/c", "2")
			steps := f.faulty(n, kill)
			told := int64(0)
			ready := func(_ *View, s *Snapshot) { told = s.Number }
			surviving(func() { _, _ = f.Take(t.Context(), Request{Why: "x", Line: true, Ready: ready, Unsynced: unsynced}) })
			fired := *steps >= n
			f.open(Options{})
			if found := f.Check(t.Context(), false); len(found) > 0 {
				t.Errorf("step %d, kill %v: %+v", n, kill, found)
			}
			s := f.take("x", 0)
			if got := strings.Join(f.paths(s.Tree), " "); got != "a d/b d/c" || s.Number <= told {
				t.Errorf("step %d, kill %v, unsynced %v: %s has %s after s%d", n, kill, unsynced, s.Name(), got, told)
			}
			if all, err := f.Snapshots(); err != nil || len(all) < 2+i/2 {
				t.Errorf("step %d, kill %v, unsynced %v: %d snapshots, %v", n, kill, unsynced, len(all), err)
			}
			f.readable()
			left, _ := filepath.Glob(filepath.Join(f.packDir(), tempPrefix+"*"))
			if len(left) > 0 {
				t.Errorf("step %d, kill %v: left behind %v", n, kill, left)
			}
			if !fired {
				break
			}
		}
	}
}

// TestPowerCut: what a process has left to others to make durable may be lost, each file of it or
// part of it. Then the snapshot is lost as a whole, or not at all; the next one is right, has a
// number of its own, and a prune goes on.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	files := []string{"pack", "index", "line", "cache"}
	damages := []string{"none", "gone", "empty", "torn"}
	for n := 0; n < 64; n += fsroomtest.Stride() + fsroomtest.Stride()/4 {
		var damage []string
		for i := range files {
			damage = append(damage, damages[n>>(2*i)&3])
		}
		damage[3] = damages[(n+n>>2+n>>4)&3] // each of the cache with each of two others
		name := strings.Join(damage, " ")
		f := newFixture(t)
		f.write("a", "1", "d/b", "1")
		f.take(WhyEnd, 1)
		f.take(WhyStart, 2)
		lines := f.size(f.linesFile())
		f.write("a", strings.Repeat("what may be lost\n", 20), "d/b", "2")
		s, err := f.Take(t.Context(), Request{Why: WhyEnd, Turn: 2, Line: true, Unsynced: true})
		if err != nil || !f.Unsynced() {
			t.Fatalf("%s: %v, unsynced %v", name, err, f.Unsynced())
		}
		index, _ := filepath.Glob(filepath.Join(f.packDir(), unsyncedPrefix+"*"))
		for i, path := range []string{packOf(index[0]) + ".pack", index[0], f.linesFile(), f.cacheFile()} {
			keep := int64(0)
			if path == f.linesFile() {
				keep = lines
			}
			f.damage(path, keep, damage[i])
		}
		f.open(Options{Boot: "2"})
		whole := damage[0] == "none" && damage[1] == "none"
		all, err := f.Snapshots()
		if known := len(all) == 3; err != nil || known != (whole && damage[2] == "none") || len(all) < 2 {
			t.Errorf("%s: %d snapshots, %v", name, len(all), err)
		}
		if n%3 > 0 {
			if err := f.prune(t.Context(), Keep{Age: 1, Now: time.Now()}, 1); err != nil {
				t.Errorf("%s: prune: %v", name, err)
			}
		}
		if n%3 > 1 {
			f.Check(t.Context(), true)
		}
		f.write("c", "3")
		next := f.take(WhyTakeover, 2)
		if next.Number <= s.Number {
			t.Errorf("%s: snapshot %d after %d", name, next.Number, s.Number)
		}
		if got := strings.Join(f.paths(next.Tree), " "); got != "a c d/b" {
			t.Errorf("%s: %s", name, got)
		}
		if f.Unsynced() {
			t.Errorf("%s: still unsynced", name)
		}
		f.readable()
		if found := f.Check(t.Context(), false); len(found) > 0 && damage[2] != "torn" {
			t.Errorf("%s: %+v", name, found)
		}
		if err := f.prune(t.Context(), Keep{Age: 1, Now: time.Now().Add(48 * time.Hour)}, 1); err != nil {
			t.Errorf("%s: prune: %v", name, err)
		}
		if n%16 == 0 {
			if out, err := f.storeGit("fsck", "--no-dangling"); err != nil {
				t.Errorf("%s: fsck: %v %s", name, err, out)
			}
		}
	}
}

func (f *fixture) size(path string) int64 {
	f.Helper()
	info, err := os.Stat(path)
	if err != nil {
		f.Fatal(err)
	}
	return info.Size()
}

// damage makes a file what a power cut may leave of it; the first bytes are durable.
func (f *fixture) damage(path string, durable int64, how string) {
	f.Helper()
	var err error
	switch size := f.size(path); {
	case how == "gone" && durable == 0:
		err = os.Remove(path)
	case how == "gone", how == "empty":
		err = os.Truncate(path, durable)
	case how == "torn":
		err = os.Truncate(path, durable+(size-durable)/2)
	}
	if err != nil {
		f.Fatal(err)
	}
}

// TestLostObjects: what is missing in the store anyway does not keep a prune from going on. What
// cannot be read is not missing.
func TestLostObjects(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"gone", "unreadable"} {
		f := newFixture(t)
		for i := range 4 {
			f.write("a", itoa(i), "b"+itoa(i), itoa(i))
			f.take(WhyGuard, 0)
		}
		all, _ := f.Snapshots()
		v := f.Recorded()
		var index string
		for _, p := range v.objects.own {
			if _, ok := p.find(all[1].Tree); ok {
				index = p.path + ".idx"
			}
		}
		v.Close()
		if err := os.Remove(index); err != nil {
			t.Fatal(err)
		}
		if how == "unreadable" {
			if err := os.Mkdir(index, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		err := f.repack(true, all[:3], all[3])
		after, _ := f.Snapshots()
		if next := f.take("x", 0); next.Number <= all[3].Number {
			t.Errorf("%s: %s again", how, next.Name())
		}
		if lost := how == "gone"; lost != (err == nil) || lost != (len(after) == 2) {
			t.Errorf("%s: %d snapshots, %v", how, len(after), err)
		}
		// The one that was dropped is named.
		if found := f.Check(t.Context(), true); len(found) != map[string]int{"gone": 1}[how] {
			t.Errorf("%s: %+v", how, found)
		}
	}
}

// TestPruneFailsAtEachStep: every snapshot that is listed can be read.
func TestPruneFailsAtEachStep(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{false, true} {
		for n := 1; ; n++ {
			f := newFixture(t)
			for i := range 5 {
				f.write("a", itoa(i))
				f.take(WhyGuard, 0)
			}
			steps := f.faulty(n, kill)
			surviving(func() {
				all, _ := f.Snapshots()
				_ = f.repack(true, all[3:], all[4])
			})
			fired := *steps >= n
			f.open(Options{})
			if found := f.Check(t.Context(), false); len(found) > 0 {
				t.Errorf("step %d, kill %v: %+v", n, kill, found)
			}
			if !fired {
				break
			}
		}
	}
}

// TestWriterDuringUndo: a file that changes between the scan and the write is not lost, and
// everything else is as before.
func TestWriterDuringUndo(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"applying", "write", "replace", "rename"} {
		for _, path := range []string{"a.txt", "b.txt", "gone.txt", "d/new.txt", "run.sh"} {
			f := oneTurn(t)
			wrote := false
			f.open(Options{Fault: func(step string) error {
				if step == at && !wrote {
					wrote = true
					f.write(path, "newer work\n")
				}
				return nil
			}})
			_, err := f.undo(1)
			if got := f.content(path); got != "newer work\n" || !wrote {
				t.Errorf("%s at %s: newer work is lost: %q, %v", path, at, got, err)
			}
		}
	}
}

// TestHostileStore: a plan that somebody has written into the store leads nowhere else.
func TestHostileStore(t *testing.T) {
	t.Parallel()
	f := oneTurn(t)
	outside := filepath.Join(filepath.Dir(f.root), "outside")
	_ = os.WriteFile(outside, []byte("mine"), 0o600)
	for _, path := range []string{"../outside", "/etc/x", "a/../../outside", ".git/config"} {
		_ = os.WriteFile(f.applyingFile(), []byte(`{"before":1,"mark":".tt-1-","steps":[{"path":"`+path+`","from":{"mode":33188,"id":""},"to":{"mode":33188,"id":""}}]}`), 0o600)
		f.Check(t.Context(), true)
		if f.Interrupted() {
			t.Errorf("%s: still there", path)
		}
	}
	if b, _ := os.ReadFile(outside); string(b) != "mine" {
		t.Error("a file outside was changed")
	}
}
