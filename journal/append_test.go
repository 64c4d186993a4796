package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

func TestAppendIsOneWriteOneSyncAndDurable(t *testing.T) {
	f := &fakeFile{}
	l := New("j", f)
	at, err := l.Append(Position{}, []event.Event{sample(7), sample(8), sample(9)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.writes != 1 || f.syncs != 1 || f.dirty {
		t.Fatalf("%d writes, %d syncs, dirty %v", f.writes, f.syncs, f.dirty)
	}
	if want := (Position{int64(len(f.data)), 9}); at != want {
		t.Fatalf("position %v, want %v", at, want)
	}
	if n := bytes.Count(f.synced, []byte(`"more":true}`+"\n")); n != 2 {
		t.Fatalf("%d lines say more, want all but the last of three", n)
	}
	if at, err = l.Append(at, []event.Event{sample(10)}, nil); err != nil || at.Seq != 10 || f.dirty {
		t.Fatal(at, err, f.dirty)
	}
	checkScan(t, l, Position{}, []int64{7, 8, 9, 10}, at, 0)
}

// TestAppendWithSync: what is done beside the sync knows the end of the change, which is written and not
// yet durable, and nothing is begun for one that could not be written.
func TestAppendWithSync(t *testing.T) {
	f := &fakeFile{}
	begun := 0
	l := New("j", f)
	written := func(end Position) error {
		if begun++; !f.dirty || f.syncs != 0 || end != (Position{int64(len(f.data)), 2}) {
			t.Errorf("dirty %v, %d syncs, end %v", f.dirty, f.syncs, end)
		}
		return l.Sync()
	}
	if _, err := l.Append(Position{}, []event.Event{sample(1), sample(2)}, written); err != nil || begun != 1 {
		t.Error(err, begun)
	}
	full := &fakeFile{failNextWrite: syscall.ENOSPC}
	if _, err := New("j", full).Append(Position{}, []event.Event{sample(1)}, written); err == nil || begun != 1 {
		t.Error(err, begun)
	}
}

func TestAppendLeavesTheCallersEventsAlone(t *testing.T) {
	events := []event.Event{sample(1), sample(2)}
	events[1].More = true
	if _, err := New("j", &fakeFile{}).Append(Position{}, events, nil); err != nil {
		t.Fatal(err)
	}
	if events[0].More || !events[1].More {
		t.Fatal("Append changed the caller's slice")
	}
}

func TestAppendNothing(t *testing.T) {
	f := &fakeFile{}
	at, err := New("j", f).Append(Position{3, 1}, nil, nil)
	if err != nil || at != (Position{3, 1}) || f.writes+f.syncs != 0 {
		t.Fatal(at, err, f.writes, f.syncs)
	}
}

func TestAppendRefusesBeforeWriting(t *testing.T) {
	with := func(change func(e *event.Event)) []event.Event { e := sample(2); change(&e); return []event.Event{e} }
	start := sample(1)
	at := Position{int64(len(start.Append(nil))), 1}
	tests := []struct {
		name   string
		at     Position
		events []event.Event
		want   string
	}{
		{"gap", at, []event.Event{sample(3)}, "event_seq 3 where 2 is due"},
		{"again", at, []event.Event{sample(1)}, "event_seq 1 where 2 is due"},
		{"gap inside", at, []event.Event{sample(2), sample(4)}, "event_seq 4 where 3 is due"},
		{"too early", Position{at.Offset - 1, 1}, []event.Event{sample(2)}, "position does not fit"},
		{"beyond the end", Position{at.Offset + 1, 1}, []event.Event{sample(2)}, "position does not fit"},
		{"number 0 at the start", Position{}, []event.Event{sample(0)}, "event_seq"},
		{"no type", at, with(func(e *event.Event) { e.Type = "" }), "event_type missing"},
		{"payload no JSON", at, with(func(e *event.Event) { e.Payload = json.RawMessage(`{"a":`) }), "not JSON"},
		{"handoff with something behind", at, with(func(e *event.Event) { e.Handoff = json.RawMessage(`{} {}`) }), "not JSON"},
		{"year 10000", at, with(func(e *event.Event) { e.CreatedAt = event.NewTime(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)) }), "RFC 3339"},
		{"too long", at, with(func(e *event.Event) { e.Reason = strings.Repeat("x", MaxLine) }), "longer than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeFile{data: start.Append(nil)}
			got, err := New("j", f).Append(tt.at, tt.events, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if f.writes+f.syncs != 0 || f.dirty || got != tt.at {
				t.Fatalf("%d writes, %d syncs, position %v", f.writes, f.syncs, got)
			}
		})
	}
}

// TestAppendFaults fails every step of an append, and the steps of undoing it.
func TestAppendFaults(t *testing.T) {
	full := syscall.ENOSPC
	tests := []struct {
		name   string
		fault  func(f *fakeFile)
		cause  error
		undone bool
		syncs  int
	}{
		{"write fails at once", func(f *fakeFile) { f.failNextWrite = full }, full, true, 1},
		{"write fails half way", func(f *fakeFile) { f.failNextWrite, f.writeAtMost = full, 400 }, full, true, 1},
		{"short write without error", func(f *fakeFile) { f.shortNextWrite = true }, io.ErrShortWrite, true, 1},
		{"sync fails", func(f *fakeFile) { f.failNextSync = full }, full, true, 2},
		{"sync fails, truncate fails", func(f *fakeFile) { f.failNextSync, f.failNextTrunc = full, io.EOF }, full, false, 1},
		{"write fails, truncate fails", func(f *fakeFile) { f.failNextWrite, f.failNextTrunc = full, io.EOF }, full, false, 0},
		{"sync fails, its undoing too", func(f *fakeFile) { f.failNextSync, f.failSyncNo = full, 2 }, full, false, 2},
		{"write fails, syncing the undoing too", func(f *fakeFile) { f.failNextWrite, f.failSyncNo = full, 1 }, full, false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first := sample(1)
			before := first.Append(nil)
			f := &fakeFile{data: bytes.Clone(before), synced: bytes.Clone(before)}
			l := New("j", f)
			at := Position{int64(len(before)), 1}
			tt.fault(f)
			got, err := l.Append(at, []event.Event{sample(2), sample(3)}, nil)
			var failed *AppendError
			if !errors.As(err, &failed) || !errors.Is(err, tt.cause) || failed.Undone != tt.undone || got != at {
				t.Fatalf("position %v, error %#v", got, err)
			}
			if f.writes != 1 || f.syncs != tt.syncs {
				t.Fatalf("%d writes, %d syncs", f.writes, f.syncs)
			}
			if !tt.undone {
				return
			}
			if f.dirty || !bytes.Equal(f.data, before) || !bytes.Equal(f.synced, before) {
				t.Fatal("said undone, and the file is not as before")
			}
			if _, err := l.Append(at, []event.Event{sample(2)}, nil); err != nil {
				t.Fatalf("append after an undone one: %v", err)
			}
		})
	}
}

func TestCut(t *testing.T) {
	one, two := sample(1), sample(2)
	whole := one.Append(nil)
	torn := two.Append(bytes.Clone(whole))
	f := &fakeFile{data: torn[:len(torn)-1]}
	l := New("j", f)
	for _, offset := range []int64{-1, 5, int64(len(torn))} {
		if err := l.Cut(Position{offset, 1}); !errors.Is(err, ErrPosition) {
			t.Fatalf("cut at %d: %v", offset, err)
		}
	}
	at, tail, err := l.Last()
	if err != nil || tail.Torn != int64(len(torn)-1-len(whole)) {
		t.Fatal(at, tail, err)
	}
	if err := l.Cut(at); err != nil || f.dirty || !bytes.Equal(f.synced, whole) {
		t.Fatalf("%v, dirty %v", err, f.dirty)
	}
	f.failNextTrunc = io.ErrClosedPipe
	if err := l.Cut(at); err == nil {
		t.Fatal("a failed truncate went unnoticed")
	}
	f.failNextSync = io.ErrClosedPipe
	if err := l.Cut(at); err == nil {
		t.Fatal("a failed sync went unnoticed")
	}
	if err := l.Cut(Position{}); err != nil || len(f.synced) != 0 {
		t.Fatal(err)
	}
}
