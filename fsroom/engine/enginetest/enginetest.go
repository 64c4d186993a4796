// Package enginetest has the tests that every engine passes.
package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
)

// patience bounds every test. Nothing waits this long unless it hangs.
const patience = time.Minute

// Run tests the engines that open returns. All of one test are connections to one empty
// engine, as if from several hosts; open closes them at the end of the test.
func Run(t *testing.T, open func(t *testing.T) func() engine.Engine) {
	for name, test := range map[string]func(*testing.T, func() engine.Engine){
		"EntriesAreInOrder":              testOrder,
		"ManyWritersMakeOneSequence":     testManyWriters,
		"LongTails":                      testLongTails,
		"LongEntry":                      testLongEntry,
		"NotesAreComparedAndExpire":      testNotes,
		"Confirm":                        testConfirm,
		"WatchSeesEveryLaterEntry":       testWatch,
		"UnknownRevisionIsRewound":       testRewound,
		"RoomsAreListed":                 testRooms,
		"RecordsAreReplaced":             testRecords,
		"PresenceEndsWithWithdraw":       testPresence,
		"NotificationsReachOtherClients": testNotify,
		"InfoIsStable":                   testInfo,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

const room = "rooms.api-0123456789abcdef"

func ctx(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return c
}

// until waits until something is so, and fails with what there is if it does not come.
func until(t *testing.T, is func() (so bool, what string)) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		so, what := is()
		if so {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func change(s string) engine.Entry { return engine.Entry{Lines: []byte(s + "\n")} }

func mustAppend(t *testing.T, e engine.Engine, after engine.Revision, entry engine.Entry, keep time.Duration) engine.Entry {
	t.Helper()
	got, err := e.Append(ctx(t), room, after, entry, keep)
	if err != nil {
		t.Fatalf("Append after %d: %v", after, err)
	}
	return got
}

// read returns the entries after a revision, which are in order and have times.
func read(t *testing.T, e engine.Engine, after engine.Revision) (entries []engine.Entry) {
	t.Helper()
	last := engine.Revision(0)
	err := e.Read(ctx(t), room, after, func(entry engine.Entry) error {
		if entry.Revision <= last || entry.At.IsZero() {
			t.Errorf("after %d comes %+v", last, entry)
		}
		last, entries = entry.Revision, append(entries, entry)
		return nil
	})
	if err != nil {
		t.Fatalf("Read from %d: %v", after, err)
	}
	if after == 0 {
		return entries
	}
	if len(entries) == 0 || entries[0].Revision != after {
		t.Fatalf("Read from %d does not begin there: %+v", after, entries)
	}
	return entries[1:]
}

func testOrder(t *testing.T, open func() engine.Engine) {
	a, b := open(), open()
	if got := read(t, b, 0); len(got) != 0 {
		t.Fatalf("a new room has %d entries", len(got))
	}
	last := mustAppend(t, a, 0, change("first"), 0).Revision
	if got := read(t, b, 0); len(got) != 1 || string(got[0].Lines) != "first\n" || got[0].Note != nil {
		t.Errorf("read %+v", got)
	}
	mustAppend(t, a, last, change("second"), 0)
	stop := errors.New("stop")
	n := 0
	err := b.Read(ctx(t), room, 0, func(engine.Entry) error { n++; return stop })
	if n != 1 || !errors.Is(err, stop) {
		t.Errorf("a Read that is stopped called fn %d times and returned %v", n, err)
	}
}

// testManyWriters lets writers append until each has succeeded some times. Every entry
// names the one that it expected to follow.
func testManyWriters(t *testing.T, open func() engine.Engine) {
	const writers, each = 12, 6
	var wg sync.WaitGroup
	for w := range writers {
		e := open()
		wg.Go(func() {
			for n := 0; n < each; {
				last := engine.Revision(0)
				if err := e.Read(ctx(t), room, 0, func(entry engine.Entry) error { last = entry.Revision; return nil }); err != nil {
					t.Error(err)
					return
				}
				_, err := e.Append(ctx(t), room, last, change(fmt.Sprintf("%d %d.%d", last, w, n)), 0)
				switch {
				case err == nil:
					n++
				case !errors.Is(err, engine.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	entries := read(t, open(), 0)
	if len(entries) != writers*each {
		t.Errorf("%d entries, want %d", len(entries), writers*each)
	}
	before := engine.Revision(0)
	for _, entry := range entries {
		if expected, _, _ := strings.Cut(string(entry.Lines), " "); expected != fmt.Sprint(before) {
			t.Errorf("an entry that expected %s follows %d", expected, before)
		}
		before = entry.Revision
	}
}

func testLongTails(t *testing.T, open func() engine.Engine) {
	e := open()
	last := engine.Revision(0)
	var revisions []engine.Revision
	for i := range 1100 {
		last = mustAppend(t, e, last, change(strconv.Itoa(i)), 0).Revision
		revisions = append(revisions, last)
	}
	for _, skipped := range []int{0, 1, 75, 1090, 1096, 1099} {
		after := engine.Revision(0)
		if skipped > 0 {
			after = revisions[skipped-1]
		}
		for i, entry := range read(t, open(), after) {
			if want := strconv.Itoa(skipped+i) + "\n"; string(entry.Lines) != want {
				t.Fatalf("entry %d after %d is %q, want %q", i, skipped, entry.Lines, want)
			}
		}
		if got := len(read(t, e, after)); got != 1100-skipped {
			t.Errorf("%d entries after %d, want %d", got, skipped, 1100-skipped)
		}
	}
}

func testLongEntry(t *testing.T, open func() engine.Engine) {
	e := open()
	long := engine.Entry{Lines: bytes.Repeat([]byte("0123456789abcde\n"), 1<<14)} // 256 KiB
	last := mustAppend(t, e, 0, long, 0).Revision
	if got := read(t, open(), 0); len(got) != 1 || !bytes.Equal(got[0].Lines, long.Lines) {
		t.Error("a long entry comes back changed")
	}
	tooLong := engine.Entry{Lines: make([]byte, 16<<20)}
	if _, err := e.Append(ctx(t), room, last, tooLong, 0); err != nil && !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("an entry of %d bytes: %v, want ErrTooLarge", len(tooLong.Lines), err)
	}
}

func testNotes(t *testing.T, open func() engine.Engine) {
	a, b := open(), open()
	first := mustAppend(t, a, 0, change("first"), 0).Revision
	note := mustAppend(t, a, first, engine.Entry{Note: []byte("renewed")}, time.Hour).Revision
	if _, err := b.Append(ctx(t), room, first, change("takeover"), 0); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("a change that did not know of the note: %v", err)
	}
	tail := read(t, b, first)
	if len(tail) != 1 || string(tail[0].Note) != "renewed" || tail[0].Lines != nil || tail[0].Revision != note {
		t.Fatalf("the tail is %+v", tail)
	}
	// A note that has expired is gone, and the entry before it is the last one again.
	mustAppend(t, a, note, engine.Entry{Note: []byte("short")}, time.Second)
	until(t, func() (bool, string) { return len(read(t, b, first)) <= 1, "the note does not expire" })
	last := mustAppend(t, b, note, change("second"), 0).Revision
	if got := read(t, a, first); len(got) == 0 || got[len(got)-1].Revision != last {
		t.Errorf("the tail is %+v, want to end at %d", got, last)
	}
}

func testConfirm(t *testing.T, open func() engine.Engine) {
	a, b := open(), open()
	if err := a.Confirm(ctx(t), room, 0); err != nil {
		t.Errorf("Confirm of a new room: %v", err)
	}
	first := mustAppend(t, a, 0, change("first"), 0).Revision
	if err := b.Confirm(ctx(t), room, first); err != nil {
		t.Errorf("Confirm of the last: %v", err)
	}
	second := mustAppend(t, a, first, change("second"), 0).Revision
	if err := b.Confirm(ctx(t), room, first); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("Confirm of the one before: %v", err)
	}
	if err := b.Confirm(ctx(t), room, second); err != nil {
		t.Errorf("Confirm of the last: %v", err)
	}
	if got := read(t, a, 0); len(got) != 2 {
		t.Errorf("Confirm left %d entries, want 2", len(got))
	}
}

func testWatch(t *testing.T, open func() engine.Engine) {
	writer, reader := open(), open()
	calls := make(chan struct{}, 1)
	stop, err := reader.Watch(ctx(t), room, func() {
		select {
		case calls <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	last := engine.Revision(0)
	for i := range 20 {
		last = mustAppend(t, writer, last, change(strconv.Itoa(i)), 0).Revision
		for seen := engine.Revision(0); seen < last; {
			select {
			case <-calls:
			case <-ctx(t).Done():
				t.Fatal("no notification")
			}
			for _, entry := range read(t, reader, 0) {
				seen = entry.Revision
			}
		}
	}
}

func testRewound(t *testing.T, open func() engine.Engine) {
	e := open()
	last := mustAppend(t, e, 0, change("first"), 0).Revision
	err := e.Read(ctx(t), room, last+1000, func(engine.Entry) error { return nil })
	if !errors.Is(err, engine.ErrRewound) {
		t.Errorf("Read from a revision that is not there: %v, want ErrRewound", err)
	}
}
