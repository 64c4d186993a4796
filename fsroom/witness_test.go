package fsroom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// cutJournal leaves the first lines of the journal.
func (f *fixture) cutJournal(n int) {
	f.t.Helper()
	f.write(f.room.JournalPath(), []byte(strings.Join(lines(f.read(f.room.JournalPath()))[:n], "")))
}

// losses are ways in which the journal of a populated room can lose its last events: all
// after the first three of its life, or all.
var losses = map[string]struct {
	lose func(f *fixture, early []byte) error
	all  bool
}{
	"cut after a line":  {func(f *fixture, early []byte) error { return os.Truncate(f.room.JournalPath(), int64(len(early))) }, false},
	"cut in a line":     {func(f *fixture, early []byte) error { return os.Truncate(f.room.JournalPath(), int64(len(early))+20) }, false},
	"an older copy":     {func(f *fixture, early []byte) error { f.write(f.room.JournalPath(), early); return nil }, false},
	"replaced by it":    {func(f *fixture, early []byte) error { return f.room.Replace(f.room.JournalPath(), early) }, false},
	"removed":           {func(f *fixture, _ []byte) error { return os.Remove(f.room.JournalPath()) }, true},
	"emptied":           {func(f *fixture, _ []byte) error { return os.Truncate(f.room.JournalPath(), 0) }, true},
	"cut in its first":  {func(f *fixture, _ []byte) error { return os.Truncate(f.room.JournalPath(), 10) }, true},
	"one of a life ago": {func(f *fixture, _ []byte) error { f.write(f.room.JournalPath(), f.read(f.archive())); return nil }, true},
}

// archive is the path of the first archived journal.
func (f *fixture) archive() string {
	f.t.Helper()
	paths, err := f.room.Archived()
	f.must(err)
	return paths[0]
}

// TestJournalShortened: the room goes on from state.json, with the same state and numbers, and says
// what is lost until it is repaired.
func TestJournalShortened(t *testing.T) {
	for name, test := range losses {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.do(join("a"), turnOn("a"), leave("a"), join("b"), join("c"))
			early := f.read(f.room.JournalPath())
			want := f.do(turnOn("b"), say("b", "one"), say("c", "two")) // events 9, 10, 11
			f.must(test.lose(f, early))
			lost := event.Lost{From: 9, To: 11}
			if test.all {
				lost.From = 6
			}
			f.shortened("before the next change", want, lost)
			f.shortened("after a refusal", f.refused(want), lost)
			f.shortened("after a change of nothing", f.do(nothing), lost)

			after := f.do(say("b", "three"))
			if after.Position.Seq != want.Position.Seq+2 || after.State.Turn != want.State.Turn || after.State.Said["b"] != 2 {
				t.Errorf("%+v at %+v", after.State, after.Position)
			}
			f.shortened("after a change", after, lost)
			f.must(os.Remove(f.statePath()))
			f.shortened("from the journal alone", after, lost)
			f.do(nothing)
			for _, p := range fsroomtest.Problems(f.dir, tallyRules) {
				if !strings.Contains(p, ".aside-") {
					t.Error(p)
				}
			}
			f.readsOn(lost)

			got := f.repair()
			if i := slices.IndexFunc(got, func(p doctor.Problem) bool { return p.Problem == doctor.JournalShortened }); i < 0 || !got[i].Repaired {
				t.Errorf("Repair: %+v", got)
			}
			if s := f.view(); s.Lost != nil || !reflect.DeepEqual(s.State, after.State) || s.Position.Seq != after.Position.Seq {
				t.Errorf("repaired: %+v, lost %v, want %+v", s.State, s.Lost, after.State)
			}
			if got := f.repair(); len(got) != 0 {
				t.Errorf("a second Repair finds %+v", got)
			}
			f.do(join("z"))
		})
	}
}

// shortened checks that the room is as it was before it lost events, for all who look at it.
func (f *fixture) shortened(when string, want *snapshot, lost event.Lost) {
	f.t.Helper()
	s := f.view()
	if !reflect.DeepEqual(s.State, want.State) || s.Position.Seq != want.Position.Seq || s.Lost == nil || *s.Lost != lost {
		f.t.Errorf("%s: %+v at %+v, lost %v; want %+v at %+v, lost %v", when, s.State, s.Position, s.Lost, want.State, want.Position, lost)
	}
	if names, err := fsroom.Rooms(f.room.Store(), tallyRules); err != nil || !f.room.Exists() || !slices.Contains(names, "demo") {
		f.t.Errorf("%s: there is no room: %v, %v", when, names, err)
	}
	found := slices.ContainsFunc(doctor.Check(f.room), func(p doctor.Problem) bool {
		return p.Problem == doctor.JournalShortened && p.LostFrom == lost.From && p.LostTo == lost.To
	})
	if !found {
		f.t.Errorf("%s: Check finds %+v", when, doctor.Check(f.room))
	}
	e, err := f.room.Event(context.Background(), lost.To)
	if err != nil || e.Type != event.Damaged || len(e.Payload) > 0 {
		f.t.Errorf("%s: a lost event is %+v, %v", when, e, err)
	}
}

func (f *fixture) refused(s *snapshot) *snapshot {
	f.t.Helper()
	if _, _, err := f.room.Update(context.Background(), say("stranger", "hello")); err == nil {
		f.t.Error("a stranger speaks")
	}
	return s
}

// readsOn: a reader whose last event is lost, or any other, gets what comes after it, and nothing else.
func (f *fixture) readsOn(lost event.Lost) {
	f.t.Helper()
	last := f.view().Position.Seq
	for after := int64(0); after <= last; after++ {
		var got []int64
		_, err := f.room.History(context.Background(), after, func(e *event.Event) error { got = append(got, e.Seq); return nil })
		var want []int64
		for seq := after + 1; seq <= last; seq++ {
			if !lost.Has(seq) {
				want = append(want, seq)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			f.t.Errorf("after %d: %v, %v; want %v", after, got, err, want)
		}
	}
}

// TestShortenedWhileFollowed: a reader gets each event once, also if the journal goes away under it.
func TestShortenedWhileFollowed(t *testing.T) {
	for name, test := range losses {
		if strings.HasPrefix(name, "one of") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.expect("journal_shortened")
			f.do(join("a"), turnOn("a"), leave("a"), join("b"), join("c"))
			early := f.read(f.room.JournalPath())
			f.do(turnOn("b"), say("b", "one"), say("c", "two"))
			var got []int64
			looks := 0
			_, err := f.polled().Follow(t.Context(), 8, func(e *event.Event) error { got = append(got, e.Seq); return nil }, func() error {
				switch looks++; looks {
				case 1:
					f.must(test.lose(f, early))
				case 3:
					f.do(say("b", "three"))
				}
				if len(got) >= 5 {
					return errEnough
				}
				return nil
			})
			if want := []int64{9, 10, 11, 12, 13}; !errors.Is(err, errEnough) || !slices.Equal(got, want) {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		})
	}
}

// TestJournalIsBack: where the whole journal is put back, nothing is lost.
func TestJournalIsBack(t *testing.T) {
	f := newFixture(t)
	f.populate()
	whole := f.read(f.room.JournalPath())
	want := f.view()
	f.cutJournal(4)
	f.do(nothing)
	f.write(f.room.JournalPath(), whole)
	if s := f.view(); s.Lost != nil || !reflect.DeepEqual(s.State, want.State) || s.Position != want.Position {
		t.Errorf("%+v, lost %v", s.State, s.Lost)
	}
	f.do(join("z"))
}

// TestOlderCopies: of state.json alone, or of the whole room, are as they were before.
func TestOlderCopies(t *testing.T) {
	f := newFixture(t)
	f.populate()
	state, lines := f.read(f.statePath()), f.read(f.room.JournalPath())
	old := f.view()
	want := f.do(say("b", "more"))
	f.write(f.statePath(), state)
	if s := f.view(); s.Lost != nil || !reflect.DeepEqual(s.State, want.State) {
		t.Errorf("an older state.json: %+v, lost %v", s.State, s.Lost)
	}
	f.write(f.room.JournalPath(), lines)
	if s := f.view(); s.Lost != nil || !reflect.DeepEqual(s.State, old.State) {
		t.Errorf("an older room: %+v, lost %v", s.State, s.Lost)
	}
	f.do(say("b", "goes on"))
}

// TestNoWitness: a state.json that is damaged, of another room, or does not say whose it is, proves
// nothing.
func TestNoWitness(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"damaged": func(b []byte) []byte { return bytes.Replace(b, []byte(`"last":"lost"`), []byte(`"last":"LOST"`), 1) },
		"of another": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"room":"demo","jou`), []byte(`"room":"oops","jou`), 1)
		},
		"of nobody": func(b []byte) []byte { return bytes.Replace(b, []byte(`"room":"demo","jou`), []byte(`"jou`), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			want := f.do(join("a"), say("a", "kept"))
			f.do(say("a", "lost"))
			f.cutJournal(3)
			before := f.read(f.statePath())
			f.write(f.statePath(), change(before))
			if now := f.read(f.statePath()); bytes.Equal(now, before) {
				t.Fatalf("not changed: %s", now)
			}
			if s := f.view(); s.Lost != nil || !reflect.DeepEqual(s.State, want.State) {
				t.Errorf("%+v, lost %v", s.State, s.Lost)
			}
			f.do(say("a", "more"))
		})
	}
}

// TestArchiveHasIt: where the archive has the last event of state.json, the life has ended, although
// state.json says that it has not.
func TestArchiveHasIt(t *testing.T) {
	f := newFixture(t)
	f.do(join("a"), turnOn("a"))
	state := f.read(f.statePath())
	f.do(leave("a"))
	f.write(f.statePath(), state)
	if s := f.view(); s.State.Open || s.Lost != nil || f.room.Exists() {
		t.Errorf("%+v, lost %v", s.State, s.Lost)
	}
	f.do(join("b"))
}

// TestExchanged: the directory of the room gives way to a copy while a change is written, once or
// each time. What is acknowledged is in the room that is there.
func TestExchanged(t *testing.T) {
	for name, times := range map[string]int{"once": 1, "each time": 1000} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.do(join("a"), join("b"))
			copied := filepath.Join(tempDir(t), "copy")
			f.must(os.CopyFS(copied, os.DirFS(f.room.Dir())))
			for path, mode := range map[string]os.FileMode{"agents": 0o700, "tmp": 0o700, "lock": 0o600} {
				f.must(os.Chmod(filepath.Join(copied, path), mode))
			}
			n := 0
			exchange := func(log *journal.Log) error {
				err := log.Sync()
				if n++; n > times {
					return err
				}
				f.must(os.Rename(f.room.Dir(), copied+".x"))
				f.must(os.Rename(copied, f.room.Dir()))
				f.must(os.Rename(copied+".x", copied))
				return err
			}
			told := 0
			_, _, err := f.at(fsroom.Options{Sync: exchange}).UpdateThen(t.Context(), turnOn("a"), func() { told++ })
			if times == 1 && (err != nil || told != 1) || times > 1 && (err == nil || told != 0) {
				t.Errorf("%v, told %d times", err, told)
			}
			if s := f.view(); s.State.Turn != int64(told) {
				t.Errorf("turn %d, told %d times", s.State.Turn, told)
			}
			f.do(turnOn("b"))
		})
	}
}

// TestStateOfWhatWasWritten: state.json has the time of the journal that was written, not of
// the file that has its name by then.
func TestStateOfWhatWasWritten(t *testing.T) {
	f := newFixture(t)
	f.do(join("a"), say("a", "one"))
	info, err := os.Stat(f.room.JournalPath())
	f.must(err)
	var state struct{ Journal cover }
	f.must(json.Unmarshal(f.read(f.statePath()), &state))
	if !time.Unix(0, state.Journal.MTimeNS).Equal(info.ModTime()) {
		t.Errorf("%v, the journal is of %v", time.Unix(0, state.Journal.MTimeNS), info.ModTime())
	}
}

// TestLossWithEveryStepFailing: the first change after a loss fails at each of its steps. It has
// happened or not, nothing else was lost, and no number is used twice.
func TestLossWithEveryStepFailing(t *testing.T) {
	x := &fault{fired: "none yet"}
	for n := 1; x.fired != ""; n++ {
		x = &fault{nth: n, err: syscall.ENOSPC}
		f := newFixture(t)
		f.expect("journal_shortened")
		f.do(join("a"), say("a", "one"))
		before := f.do(say("a", "two"), turnOn("a")) // events 4 and 5
		f.cutJournal(3)
		f.must(appendTo(f.room.JournalPath(), `{"event_seq":4,`))
		_, _, err := f.at(fsroom.Options{Fault: x.hit}).Update(t.Context(), say("a", "three"))
		want := before.Position.Seq
		if err == nil {
			want += 2
		}
		s := f.view()
		if s.Position.Seq != want || s.State.Turn != 1 || s.State.Said["a"] != int(want-before.Position.Seq)/2+2 {
			t.Errorf("step %d (%s) fails with %v: %+v at %+v", n, x.fired, err, s.State, s.Position)
		}
		f.shortened(string(x.fired), s, event.Lost{From: 4, To: 5})
		if s = f.do(say("a", "four")); s.State.Turn != 1 {
			t.Errorf("%+v", s.State)
		}
		f.shortened("after the next change", s, event.Lost{From: 4, To: 5})
		for _, p := range fsroomtest.Problems(f.dir, tallyRules) {
			t.Error(p)
		}
	}
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// TestLossTornAnywhere: a process is killed at each byte of the first change after a loss.
func TestLossTornAnywhere(t *testing.T) {
	f := newFixture(t)
	f.expect("journal_shortened")
	f.do(join("a"), say("a", strings.Repeat("long ", 100)))
	before := f.do(say("a", "two"), turnOn("a"))
	f.cutJournal(2) // the line of the loss goes beyond where the journal ended
	short := f.read(f.room.JournalPath())
	failing := &fault{step: fsroom.StepAppend, err: syscall.EIO}
	if _, _, err := f.at(fsroom.Options{Fault: failing.hit}).Update(t.Context(), say("a", "three")); err == nil {
		t.Fatal("nothing failed")
	}
	state := f.read(f.statePath())
	f.do(say("a", "three"))
	whole := f.read(f.room.JournalPath())
	for n := len(short); n < len(whole); n++ {
		f.write(f.statePath(), state)
		f.write(f.room.JournalPath(), whole[:n])
		if s := f.view(); s.Position.Seq != before.Position.Seq || !reflect.DeepEqual(s.State, before.State) {
			t.Fatalf("torn at %d: %+v at %+v", n, s.State, s.Position)
		}
		if n%50 == 0 || n == len(whole)-1 {
			if s := f.do(say("a", "three")); s.Position.Seq != before.Position.Seq+2 || s.State.Turn != 1 {
				t.Fatalf("torn at %d: %+v at %+v", n, s.State, s.Position)
			}
		}
	}
}

// TestLockExchanged: another file gets the name of the lock alone while a change is written. Others
// would lock that one, so the change is decided again.
func TestLockExchanged(t *testing.T) {
	f := newFixture(t)
	f.do(join("a"), join("b"))
	exchanged, decided := false, 0
	exchange := func(log *journal.Log) error {
		if !exchanged {
			exchanged = true
			f.must(os.Remove(f.room.LockPath()))
			f.must(os.WriteFile(f.room.LockPath(), nil, 0o600))
		}
		return log.Sync()
	}
	r := f.at(fsroom.Options{Sync: exchange})
	take := turnOn("a")
	_, _, err := r.Update(t.Context(), func(s *tally) ([]event.Event, error) { decided++; return take(s) })
	if err != nil || decided != 2 || f.view().State.Turn != 1 {
		t.Errorf("%v, decided %d times, turn %d", err, decided, f.view().State.Turn)
	}
}
