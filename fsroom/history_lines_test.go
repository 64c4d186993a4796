package fsroom_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/journal/event"
)

// lived returns the lines of a room with two ended lives and one in progress.
func lived(t *testing.T) []byte {
	t.Helper()
	r := fsroom.At(openStore(t, filepath.Join(tempDir(t), "data"), fsroom.Options{}), tallyRules, "demo")
	change(t, r, join("a"), say("a", "one"), leave("a"), join("b"), turnOn("b"), leave("b"), join("c"), join("d"), say("d", "two"))
	return linesOf(t, r)
}

func linesOf(t *testing.T, r *room) []byte {
	t.Helper()
	b, err := history.Lines(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func historyOf(t *testing.T, lines []byte) *history.History {
	t.Helper()
	h, err := history.Check(tallyRules, "other", lines)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func never(*event.Event) bool { return false }

// A room comes back from where it went on. The journal that says that it went away is kept
// aside, also if Import is killed.
func TestImportOfARoomThatCameBack(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		f, there := newFixture(t), newFixture(t)
		change(t, f.room, join("a"), leave("a"), join("b"), say("b", "one"), turnOn("b"))
		if _, err := history.Import(context.Background(), there.room, historyOf(t, linesOf(t, f.room)), never); err != nil {
			t.Fatal(err)
		}
		change(t, f.room, func(s *tally) ([]event.Event, error) { return []event.Event{{Type: closed, Turn: s.Turn}}, nil })
		change(t, there.room, say("b", "back"), leave("b"), join("c"))
		h := historyOf(t, linesOf(t, there.room))
		if _, err := history.Import(context.Background(), f.room, h, never); code.Of(err) != code.CorruptRoom {
			t.Fatalf("a room that went on here: %v", err)
		}
		step := 0
		r := f.at(fsroom.Options{Fault: func(fsroom.Step) error {
			if step++; step > n {
				return os.ErrDeadlineExceeded
			}
			return nil
		}})
		gone := func(e *event.Event) bool { return e.Type == closed }
		_, err := history.Import(context.Background(), r, h, gone)
		if _, again := history.Import(context.Background(), f.room, h, gone); again != nil {
			t.Fatalf("after being killed at step %d: %v", n, again)
		}
		if got := linesOf(t, f.room); !bytes.Equal(got, h.Lines) {
			t.Errorf("after being killed at step %d it has\n%s\nwant\n%s", n, got, h.Lines)
		}
		if kept, _ := filepath.Glob(filepath.Join(f.room.ArchiveDir(), "*.aside-*")); len(kept) != 1 {
			t.Errorf("kept: %q", kept)
		}
		if err == nil {
			return
		}
	}
}

func TestImportIsTheInverseOfLines(t *testing.T) {
	t.Parallel()
	lines := lived(t)
	f := newFixture(t)
	added, err := history.Import(context.Background(), f.room, historyOf(t, lines), never)
	if err != nil || added != 14 {
		t.Errorf("%d events, %v", added, err)
	}
	if got := linesOf(t, f.room); !bytes.Equal(got, lines) {
		t.Errorf("the room has\n%s\nwant\n%s", got, lines)
	}
	if added, err := history.Import(context.Background(), f.room, historyOf(t, lines), never); err != nil || added != 0 {
		t.Errorf("again: %d events, %v", added, err)
	}
	change(t, f.room, say("c", "three"))
	if _, err := history.Import(context.Background(), f.room, historyOf(t, lines), never); code.Of(err) != code.CorruptRoom {
		t.Errorf("into a room that has gone on: %v", err)
	}
	if got := linesOf(t, f.room); !bytes.HasPrefix(got, lines) || len(got) == len(lines) {
		t.Errorf("the room has\n%s", got)
	}
}

// Whatever beginning of the history a room has, it gets the rest.
func TestImportIntoABeginning(t *testing.T) {
	t.Parallel()
	lines := lived(t)
	h := historyOf(t, lines)
	for _, c := range h.Changes {
		f := newFixture(t)
		for _, part := range [][]byte{lines[:c.End], lines} {
			if _, err := history.Import(context.Background(), f.room, historyOf(t, part), never); err != nil {
				t.Errorf("up to event %d: %v", c.Seq, err)
			}
			if got := linesOf(t, f.room); !bytes.Equal(got, part) {
				t.Errorf("up to event %d the room has\n%s\nwant\n%s", c.Seq, got, part)
			}
		}
	}
}

// An import that is killed at any step leaves a beginning of the history, and goes on when
// it is run again.
func TestKilledImport(t *testing.T) {
	t.Parallel()
	lines := lived(t)
	for n := 0; ; n++ {
		f := newFixture(t)
		step := 0
		r := fsroom.At(openStore(t, f.dir, fsroom.Options{Fault: func(fsroom.Step) error {
			if step++; step > n {
				return os.ErrDeadlineExceeded
			}
			return nil
		}}), tallyRules, "demo")
		_, err := history.Import(context.Background(), r, historyOf(t, lines), never)
		r = f.room
		if got := linesOf(t, r); !bytes.HasPrefix(lines, got) {
			t.Errorf("killed at step %d it has\n%s", n, got)
		}
		if _, err := history.Import(context.Background(), r, historyOf(t, lines), never); err != nil {
			t.Errorf("after step %d: %v", n, err)
		}
		if got := linesOf(t, r); !bytes.Equal(got, lines) {
			t.Errorf("after step %d it has\n%s", n, got)
		}
		if err == nil {
			return
		}
	}
}

func TestHistoriesThatAreNone(t *testing.T) {
	t.Parallel()
	good := string(lived(t))
	line := func(n int) string { return strings.SplitAfter(good, "\n")[n] }
	for name, lines := range map[string]string{
		"empty":                "",
		"no line end":          strings.TrimSuffix(good, "\n"),
		"a blank line":         good + "\n",
		"truncated":            good[:len(good)-20],
		"the first is missing": strings.Replace(good, line(0), "", 1),
		"one is missing":       strings.Replace(good, line(2), "", 1),
		"one is there twice":   strings.Replace(good, line(2), line(2)+line(2), 1),
		"two are swapped":      strings.Replace(good, line(2)+line(3), line(3)+line(2), 1),
		"all twice":            good + good,
		"a turn goes back":     strings.Replace(good, `"turn_id":0`, `"turn_id":1`, 1),
		"an unfinished change": line(0),
		"a room never opened":  strings.Replace(good, `"opened"`, `"strange"`, 1),
		"binary":               "\x7fELF\x02\x01\x01\x00\n",
		"NUL":                  strings.Replace(good, line(2), strings.Repeat("\x00", 100)+"\n", 1),
		"not UTF-8":            strings.Replace(good, "one", "\xff\xfe", 1),
		"no JSON":              "hello\n",
		"an array":             "[" + strings.ReplaceAll(strings.TrimSuffix(good, "\n"), "\n", ",") + "]\n",
		"Windows":              strings.ReplaceAll(good, "\n", "\r\n"),
		"a byte order mark":    "\xef\xbb\xbf" + good,
		"a huge line":          strings.Replace(good, "one", strings.Repeat("x", 5<<20), 1),
		"a huge number":        strings.Replace(good, `"event_seq":3`, `"event_seq":99999999999999999999`, 1),
		"nested deeply":        strings.Repeat("[", 1<<20) + "\n",
		"a wrong payload":      strings.Replace(good, `"payload":"one"`, `"payload":{"a":1}`, 1),
	} {
		h, err := history.Check(tallyRules, "demo", []byte(lines))
		if code.Of(err) != code.CorruptRoom {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
}

// Lines are those that were committed.
func TestLinesOfATornJournal(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	change(t, f.room, join("a"), say("a", "one"))
	want := linesOf(t, f.room)
	file, err := os.OpenFile(f.room.JournalPath(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(`{"event_seq":4,"more":true,"event_ty`); err != nil {
		t.Fatal(err)
	}
	if got := linesOf(t, f.room); !bytes.Equal(got, want) {
		t.Errorf("got %s", got)
	}
	change(t, f.room, say("a", "two"))
}
