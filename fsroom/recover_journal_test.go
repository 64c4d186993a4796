package fsroom_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// TestTornAnywhere cuts the journal after each byte of its last change, which is
// of one event, of two, or the first of a life: readers pass over it, and the
// next writer cuts it off.
func TestTornAnywhere(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before []decision
		last   decision
	}{
		"one event":         {[]decision{join("a")}, say("a", "hello")},
		"two events":        {[]decision{join("a"), leave("a"), join("a")}, leaveOpen("a")},
		"first of all":      {nil, join("a")},
		"first of its life": {[]decision{join("a"), turnOn("a"), leave("a")}, join("b")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.do(test.before...)
			before, state := f.view(), f.saved()
			journal := f.tryRead(f.room.JournalPath())
			f.do(test.last)
			whole := f.read(f.room.JournalPath())
			for n := len(journal); n < len(whole); n++ {
				state.restore(f)
				f.write(f.room.JournalPath(), whole[:n])
				f.torn(before, whole[:n], n%5 == 0 || n == len(whole)-1)
			}
			f.do(join("next"))
		})
	}
}

// leaveOpen is a change of two events that does not end the room.
func leaveOpen(who string) decision {
	return func(s *tally) ([]event.Event, error) {
		return []event.Event{{Type: left, Turn: s.Turn, From: who}, {Type: joined, Turn: s.Turn, From: "z"}}, nil
	}
}

func (f *fixture) torn(before *snapshot, journal []byte, goOn bool) {
	f.t.Helper()
	got := f.view()
	if !reflect.DeepEqual(got.State, before.State) || got.Position != before.Position {
		f.t.Errorf("torn at %d: %+v at %+v, want %+v at %+v", len(journal), got.State, got.Position, before.State, before.Position)
	}
	if now := f.read(f.room.JournalPath()); !bytes.Equal(now, journal) {
		f.t.Errorf("torn at %d: a reader changed the journal", len(journal))
	}
	if !goOn {
		return
	}
	if snap := f.do(join("next")); snap.Position.Seq <= before.Position.Seq {
		f.t.Errorf("torn at %d: the next change ends at %d after %d", len(journal), snap.Position.Seq, before.Position.Seq)
	}
	f.verify()
}

// A saved is state.json as it was; it can have been missing.
type saved struct{ content []byte }

func (f *fixture) saved() saved { return saved{f.tryRead(f.statePath())} }

func (s saved) restore(f *fixture) {
	if s.content == nil {
		f.must(os.RemoveAll(f.statePath()))
		return
	}
	f.write(f.statePath(), s.content)
}

func (f *fixture) tryRead(path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return b
}

// TestDamagedJournal: damage that a crash does not explain is reported with its
// line, and nothing is written over it.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		line   int // reported, counted from 1
		damage func(lines [][]byte) [][]byte
	}{
		"same size, first line": {1, garble(1)},
		"same size, in between": {4, garble(4)},
		"same size, last line":  {6, garble(6)},
		"a line is missing":     {3, func(l [][]byte) [][]byte { return append(l[:2:2], l[3:]...) }},
		"a line stands twice":   {4, func(l [][]byte) [][]byte { return append(l[:3:3], l[2:]...) }},
		"a line is half":        {2, func(l [][]byte) [][]byte { l[1] = append(l[1][:20:20], '\n'); return l }},
		"two lines are swapped": {3, func(l [][]byte) [][]byte { l[2], l[3] = l[3], l[2]; return l }},
		"a blank line":          {2, func(l [][]byte) [][]byte { return append(l[:1:1], append([][]byte{[]byte("\n")}, l[1:]...)...) }},
		"carriage returns": {1, func(l [][]byte) [][]byte {
			return [][]byte{bytes.ReplaceAll(bytes.Join(l, nil), []byte("\n"), []byte("\r\n"))}
		}},
		"a byte order mark": {1, func(l [][]byte) [][]byte { return append([][]byte{[]byte("\ufeff")}, l...) }},
		"an event.Event without sense": {5, func(l [][]byte) [][]byte {
			l[4] = bytes.Replace(l[4], []byte(`"hello"`), []byte(`[1,2,3]`), 1)
			return l
		}},
		"NULs in between": {3, func(l [][]byte) [][]byte { copy(l[2][10:], make([]byte, 10)); return l }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.do(join("a"), turnOn("a"), join("b"), say("b", "hello"), say("b", "again"))
			lines := bytes.SplitAfter(f.read(f.room.JournalPath()), []byte("\n"))
			f.write(f.room.JournalPath(), bytes.Join(test.damage(lines[:6]), nil))
			f.damaged(test.line)
			f.expect(fmt.Sprintf("journal.jsonl:%d:", test.line))
		})
	}
}

func garble(line int) func([][]byte) [][]byte {
	return func(l [][]byte) [][]byte {
		l[line-1] = bytes.Replace(l[line-1], []byte(`"event_seq"`), []byte(`"event_seq `), 1)
		return l
	}
}

func (f *fixture) damaged(line int) {
	f.t.Helper()
	files := f.files()
	_, viewErr := f.room.View()
	_, _, updateErr := f.room.Update(context.Background(), say("a", "on top"))
	for name, err := range map[string]error{"View": viewErr, "Update": updateErr} {
		var e *code.Error
		if !errors.As(err, &e) || e.Code != code.CorruptRoom {
			f.t.Errorf("%s: %v", name, err)
			continue
		}
		if e.Details["line"] != line || e.Details["file"] != f.room.JournalPath() {
			f.t.Errorf("%s: %v %v, want line %d", name, err, e.Details, line)
		}
		if !strings.Contains(e.Hint, "tt doctor") {
			f.t.Errorf("%s: no hint what to do: %q", name, e.Hint)
		}
	}
	if now := f.files(); !reflect.DeepEqual(files, now) {
		f.t.Errorf("files were changed")
	}
}

// TestDamageBehindAFreshState: a state.json that covers all of the journal is
// believed without reading the journal again, but Check does read it.
func TestDamageBehindAFreshState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	info, err := os.Stat(f.room.JournalPath())
	f.must(err)
	lines := bytes.SplitAfter(f.read(f.room.JournalPath()), []byte("\n"))
	f.write(f.room.JournalPath(), bytes.Join(garble(2)(lines), nil))
	f.must(os.Chtimes(f.room.JournalPath(), info.ModTime(), info.ModTime()))
	f.view()
	f.do(say("b", "unaware"))
	f.expect("journal.jsonl:2:")
}

// TestLineOfAnotherRoom is not believed: it is reported, and a repair takes it out.
func TestLineOfAnotherRoom(t *testing.T) {
	for name, state := range map[string]bool{"with state.json": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.do(join("a"), turnOn("a"))
			b := f.read(f.room.JournalPath())
			line := bytes.SplitAfter(b, []byte("\n"))[2]
			line = bytes.Replace(bytes.Replace(line, []byte(`"turn_id":1`), []byte(`"turn_id":99`), 1), []byte(`"event_seq":3`), []byte(`"event_seq":4`), 1)
			f.write(f.room.JournalPath(), append(b, bytes.Replace(line, []byte(`"room_id":"demo"`), []byte(`"room_id":"other"`), 1)...))
			if !state {
				f.must(os.Remove(f.statePath()))
			}
			f.damaged(4)
			if got := f.repair(); len(got) == 0 || !got[0].Repaired {
				t.Errorf("Repair: %+v", got)
			}
			if s := f.view(); s.State.Turn != 1 {
				t.Errorf("turn %d", s.State.Turn)
			}
			f.do(turnOn("a"))
		})
	}
}

// A journal that has grown within one tick of the file system's clock is not what state.json covers.
func TestLongerJournalOfTheSameTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	state := f.read(f.statePath())
	info, err := os.Stat(f.room.JournalPath())
	f.must(err)
	f.do(say("a", "one"))
	f.write(f.statePath(), state)
	f.must(os.Chtimes(f.room.JournalPath(), info.ModTime(), info.ModTime()))
	if snap, err := f.room.View(); err != nil || snap.Position.Offset <= info.Size() {
		t.Errorf("%+v, %v", snap, err)
	}
	f.do(say("a", "two"))
}
