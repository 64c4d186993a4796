package fsroom_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
	"github.com/talking-stick/tt/journal/event"
)

// TestLostPages makes bytes of an unacknowledged change NUL, as a power cut may:
// nothing of it counts, whichever of its lines still read, and the room goes on.
func TestLostPages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before []decision
		last   decision
	}{
		"one event":         {[]decision{join("a")}, say("a", "hello")},
		"two events":        {[]decision{join("a")}, leaveOpen("a")},
		"three events":      {[]decision{join("a")}, leaveThree("a")},
		"first of all":      {nil, join("a")},
		"first of a life":   {[]decision{join("a"), turnOn("a"), leave("a")}, join("b")},
		"the end of a life": {[]decision{join("a"), say("a", "hello")}, leave("a")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.do(test.before...)
			before, state, journal := f.view(), f.saved(), f.tryRead(f.room.JournalPath())
			history := f.history()
			f.do(test.last)
			lines := f.lastChange(len(journal))
			for i := 0; i < len(lines); i += fsroomtest.Stride() {
				for _, n := range []int{1, 200, len(lines)} {
					lost := bytes.Clone(lines)
					clear(lost[i:min(i+n, len(lost))])
					state.restore(f)
					f.write(f.room.JournalPath(), append(bytes.Clone(journal), lost...))
					f.torn(before, append(bytes.Clone(journal), lost...), i%13 == 0)
				}
			}
			f.do(join("next"))
			if now := f.history(); !slices.Equal(now[:len(history)], history) {
				t.Errorf("history:\n%q\nwant\n%q", now, history)
			}
		})
	}
}

// leaveThree is a change of three events that does not end the room.
func leaveThree(who string) decision {
	return func(s *tally) ([]event.Event, error) {
		events, err := leaveOpen(who)(s)
		return append(events, event.Event{Type: joined, Turn: s.Turn, From: "y"}), err
	}
}

// lastChange takes what the journal has beyond an offset, if need be from the
// archive, and leaves the room as it was before the change was archived.
func (f *fixture) lastChange(offset int) []byte {
	f.t.Helper()
	if b := f.tryRead(f.room.JournalPath()); b != nil {
		return b[offset:]
	}
	paths, err := f.room.Archived()
	f.must(err)
	b := f.read(paths[len(paths)-1])
	f.must(os.Remove(paths[len(paths)-1]))
	return b[offset:]
}

// TestAcknowledgedPages makes bytes of acknowledged lines NUL: every command says
// so, none goes on as if the event had never been, and a repair keeps its number.
func TestAcknowledgedPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "one"), leaveOpen("a"))
	whole, state := f.read(f.room.JournalPath()), f.saved()
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for i := 0; i < len(whole); i += fsroomtest.Stride() {
		b := bytes.Clone(whole)
		b[i] = 0
		f.write(f.room.JournalPath(), b)
		line := 1 + bytes.Count(whole[:i], []byte("\n"))
		f.damaged(line)
		if _, err := f.room.Events(context.Background(), 4, (&reader{}).take); i >= last && code.Of(err) != code.CorruptRoom {
			t.Errorf("byte %d: Events: %v", i, err)
		}
		if i%29 > 0 && i < len(whole)-2 {
			continue
		}
		f.repair()
		lost := 1
		if b[i] != whole[i] && whole[i] == '\n' {
			lost = 2 // one line swallowed the next
		}
		now, repaired := f.view(), f.read(f.room.JournalPath())
		damaged, told := bytes.Count(repaired, []byte(`"event_type":"damaged"`)), bytes.Count(repaired, []byte(`"event_type":"journal_damaged"`))
		if line > 1 && damaged > lost || told > 1 || now.Position.Seq != int64(5+told) {
			t.Errorf("byte %d: %d events were lost, at %+v", i, damaged, now.Position)
		}
		state.restore(f)
		f.removeKept()
	}
	f.write(f.room.JournalPath(), whole)
}

// TestTornBehindAnEarlierLife: a state.json of a life that is in the archive, which a
// copy or a power cut can leave, says nothing of what was committed in this one.
func TestTornBehindAnEarlierLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "one"), say("a", "two"), say("a", "three"))
	old := f.saved()
	f.do(leave("a"), join("b"))
	before := f.view()
	whole := len(f.read(f.room.JournalPath()))
	f.do(say("b", strings.Repeat("x", 4000)))
	f.must(os.Truncate(f.room.JournalPath(), int64(whole+3000)))
	old.restore(f)
	f.torn(before, f.read(f.room.JournalPath()), true)
}
