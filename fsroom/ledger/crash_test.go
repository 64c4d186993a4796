//go:build unix

package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	for _, kill := range []bool{false, true} {
		for n := 1; ; n++ {
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
	}
}

// TestTakeFailsAtEachStep: the store has the snapshots of before, or one more, and all of them
// whole; the next snapshot is right.
func TestTakeFailsAtEachStep(t *testing.T) {
	for _, kill := range []bool{false, true} {
		for n := 1; ; n++ {
			f := newFixture(t)
			f.write("a", "1", "d/b", "1")
			f.take("x", 0)
			f.write("a", "2", "d/c", "2")
			steps := f.faulty(n, kill)
			surviving(func() { _, _ = f.Take(t.Context(), Request{Why: "x", Line: true}) })
			fired := *steps >= n
			f.open(Options{})
			if found := f.Check(t.Context(), false); len(found) > 0 {
				t.Errorf("step %d, kill %v: %+v", n, kill, found)
			}
			s := f.take("x", 0)
			if got := strings.Join(f.paths(s.Tree), " "); got != "a d/b d/c" {
				t.Errorf("step %d, kill %v: %s", n, kill, got)
			}
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

// TestPowerCut: a pack that was not on the disk yet when the power went is stored again. One that
// was whole counts.
func TestPowerCut(t *testing.T) {
	for _, damage := range []int64{-1, 0, 60} {
		f := newFixture(t)
		f.write("a", "1")
		f.take("x", 0)
		f.write("a", strings.Repeat("what may be lost\n", 20))
		f.open(Options{Fault: func(step string) error {
			if step == "pack-sync" {
				panic(killed{})
			}
			return nil
		}})
		surviving(func() { _, _ = f.Take(t.Context(), Request{Why: "x"}) })
		indexes, _ := filepath.Glob(filepath.Join(f.packDir(), unsyncedPrefix+"*"))
		if len(indexes) != 1 {
			t.Fatalf("unsynced: %v", indexes)
		}
		if damage >= 0 {
			if err := os.Truncate(packOf(indexes[0])+".pack", damage); err != nil {
				t.Fatal(err)
			}
		}
		f.open(Options{})
		f.write("b", "2")
		s := f.take("x", 0)
		v := f.Recorded()
		for _, name := range []string{"a", "b"} {
			at, err := v.objects.at(s.Tree, name)
			if b, readErr := v.objects.blob(at.ID); err != nil || readErr != nil || string(b) != f.content(name) {
				t.Errorf("cut to %d: %s: %v %v", damage, name, err, readErr)
			}
		}
		v.Close()
		if left, _ := filepath.Glob(filepath.Join(f.packDir(), unsyncedPrefix+"*")); len(left) > 0 {
			t.Errorf("cut to %d: still unsynced: %v", damage, left)
		}
		if found := f.Check(t.Context(), true); len(found) > 0 && damage < 0 {
			t.Errorf("cut to %d: %+v", damage, found)
		}
		if out, err := f.storeGit("fsck", "--no-dangling"); err != nil {
			t.Errorf("cut to %d: fsck: %v %s", damage, err, out)
		}
	}
}

// TestPruneFailsAtEachStep: every snapshot that is listed can be read.
func TestPruneFailsAtEachStep(t *testing.T) {
	for _, kill := range []bool{false, true} {
		for n := 1; ; n++ {
			f := newFixture(t)
			for i := range 5 {
				f.write("a", itoa(i))
				f.take(WhyTick, 0)
			}
			steps := f.faulty(n, kill)
			surviving(func() {
				all, _ := f.Snapshots()
				_ = f.repack(all, all[3:])
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
