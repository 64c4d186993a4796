package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
)

// A sequence is one change, in a room in which something is to be done besides.
type sequence struct {
	prepare func(f *fixture)
	change  decision
	repairs bool // even if the change itself fails, something is put in order
}

func sequences() map[string]sequence {
	in := func(decisions ...decision) func(*fixture) {
		return func(f *fixture) { f.do(decisions...) }
	}
	return map[string]sequence{
		"first join":           {prepare: func(*fixture) {}, change: join("a")},
		"later change":         {prepare: in(join("a")), change: say("a", "hello")},
		"change of two events": {prepare: in(join("a"), join("b"), leave("b")), change: leave("a")},
		"leave that ends":      {prepare: in(join("a"), leave("a"), join("a"), turnOn("a")), change: leave("a")},
		"join that reopens":    {prepare: in(join("a"), turnOn("a"), leave("a")), change: join("b")},
		"over a torn tail":     {prepare: func(f *fixture) { f.do(join("a")); f.tear() }, change: say("a", "hello"), repairs: true},
		"reopen a torn life": {
			prepare: func(f *fixture) { f.do(join("a"), leave("a")); f.tear() }, change: join("b"), repairs: true,
		},
		"ended, not archived":   {prepare: endUnarchived, change: join("b"), repairs: true},
		"state behind":          {prepare: func(f *fixture) { f.do(join("a")); f.dying(fsroom.StepReplace, say("a", "one")) }, change: say("a", "two"), repairs: true},
		"settle, state missing": {prepare: func(f *fixture) { f.do(join("a")); f.must(os.Remove(f.statePath())) }, change: nothing, repairs: true},
	}
}

// tear leaves what a process killed in mid-write leaves.
func (f *fixture) tear() {
	f.t.Helper()
	file, err := os.OpenFile(f.room.JournalPath(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	f.must(err)
	_, err = file.WriteString(`{"event_seq":99,"event_id":"torn","room_id":"de`)
	f.must(errors.Join(err, file.Close()))
}

// endUnarchived leaves what a process killed after its commit leaves.
func endUnarchived(f *fixture) {
	f.t.Helper()
	f.do(join("a"), turnOn("a"))
	faulty := &fault{step: fsroom.StepArchive, err: syscall.EIO}
	change(f.t, f.at(fsroom.Options{Fault: faulty.hit}), leave("a"))
}

// A fault makes a step fail: the nth of all, or every one of a kind.
type fault struct {
	nth   int
	step  fsroom.Step
	err   error
	count int
	fired fsroom.Step
}

func (x *fault) hit(s fsroom.Step) error {
	x.count++
	if x.count != x.nth && s != x.step {
		return nil
	}
	x.fired = s
	return x.err
}

// TestEveryStepFails fails the first step of each change, then the second, and
// so on until none is left. Either nothing has happened, and the error tells
// what to do about it, or the change is there; and the next command works.
func TestEveryStepFails(t *testing.T) {
	t.Parallel()
	causes := map[error]code.Code{syscall.EIO: code.DataDirUnusable, syscall.ENOSPC: code.DiskFull}
	fired := map[fsroom.Step]bool{}
	for name, q := range sequences() {
		for cause, want := range causes {
			x := &fault{fired: "none yet"}
			for n := 1; x.fired != ""; n++ {
				x = &fault{nth: n, err: cause}
				t.Run(fmt.Sprintf("%s/%v/%d", name, cause, n), func(t *testing.T) {
					f := newFixture(t)
					q.prepare(f)
					f.failing(q, x, want)
				})
				fired[x.fired] = true
			}
		}
	}
	steps := []fsroom.Step{fsroom.StepPrepare, fsroom.StepLock, fsroom.StepLoad, fsroom.StepCut, fsroom.StepSync,
		fsroom.StepAppend, fsroom.StepReplace, fsroom.StepArchive, fsroom.StepUnlock, fsroom.StepDone}
	missed := slices.DeleteFunc(steps, func(s fsroom.Step) bool { return fired[s] })
	if len(missed) > 0 {
		t.Errorf("steps that never failed: %v", missed)
	}
}

func (f *fixture) failing(q sequence, x *fault, want code.Code) {
	f.t.Helper()
	history, files := f.history(), f.files()
	_, events, err := f.at(fsroom.Options{Fault: x.hit}).Update(context.Background(), q.change)
	switch {
	case err == nil:
		for _, e := range events {
			history = append(history, line(e))
		}
	case x.fired == "":
		f.t.Fatalf("nothing failed, but: %v", err)
	case code.Of(err) != want || !errors.Is(err, x.err):
		f.t.Errorf("%v for %v", err, x.err)
	case x.fired == fsroom.StepUnlock, x.fired == fsroom.StepReplace && !q.repairs:
		f.t.Errorf("failed after the commit: %v", err)
	case !q.repairs && !maps.Equal(files, f.files()):
		f.t.Errorf("refused, but files were changed:\n%v\n%v", files, f.files())
	}
	if now := f.history(); !slices.Equal(now, history) {
		f.t.Errorf("after the failure:\n%q\nwant\n%q", now, history)
	}
	f.do(join("z"), say("z", "goes on"))
	if now := f.history(); !slices.Equal(now[:len(history)], history) {
		f.t.Errorf("the next command lost something:\n%q\nwant\n%q", now, history)
	}
}

// TestViewThatFails: a reader is told as well.
func TestViewThatFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	x := &fault{nth: 1, err: syscall.EACCES}
	_, err := f.at(fsroom.Options{Fault: x.hit}).View()
	if code.Of(err) != code.DataDirUnusable {
		t.Fatalf("View: %v", err)
	}
}

// TestRefusalWritesNothing: not in a room, not in one that was never opened.
func TestRefusalWritesNothing(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*fixture){
		"live":  func(f *fixture) { f.populate() },
		"ended": func(f *fixture) { f.do(join("a"), leave("a")) },
		"new":   func(f *fixture) {},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			prepare(f)
			before := f.files()
			_, _, err := f.room.Update(context.Background(), say("stranger", "hello"))
			if code.Of(err) != code.NotJoined {
				t.Errorf("Update: %v", err)
			}
			if after := f.files(); !maps.Equal(before, after) {
				t.Errorf("files were changed:\n%v\n%v", before, after)
			}
		})
	}
}
