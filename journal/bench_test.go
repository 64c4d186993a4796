package journal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// sample is an event of the usual size, about 300 bytes on its line.
func sample(seq int64) event.Event {
	return event.Event{
		Seq: seq, ID: fmt.Sprintf("evt_%016x", seq*0x9e3779b97f4a7c1), RoomID: "room_5f2b8c1d9e4a7036", Turn: seq / 3,
		Type: []string{"claim", "release", "message_sent"}[seq%3], From: "claude:1f2e3d4c", To: "codex:9a8b7c6d",
		Payload:   json.RawMessage(`{"body":"the parser is done, tests are next","delivery_hint":"normal"}`),
		CreatedAt: event.NewTime(time.UnixMilli(1767323045678 + seq%1e9)),
	}
}

// writeJournal writes the events as they are, seq and more included, to a new file.
func writeJournal(tb testing.TB, events ...event.Event) string {
	tb.Helper()
	var b []byte
	for i := range events {
		b = events[i].Append(b)
	}
	return writeBytes(tb, b)
}

func writeBytes(tb testing.TB, b []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "journal.jsonl")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func openLog(tb testing.TB, path string) *Log {
	tb.Helper()
	l, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	return l
}

func samples(n int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		events[i] = sample(int64(i + 1))
	}
	return events
}

func BenchmarkScan100000(b *testing.B) {
	l := openLog(b, writeJournal(b, samples(100_000)...))
	size, _, _ := l.Stat()
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if _, _, err := l.Scan(Position{}, func(*event.Event, int64) error { n++; return nil }); err != nil || n != 100_000 {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/line")
}

func BenchmarkFindIn100000(b *testing.B) {
	l := openLog(b, writeJournal(b, samples(100_000)...))
	b.ReportAllocs()
	for seq := int64(1); b.Loop(); seq = (seq*48271)%100_000 + 1 {
		if pos, err := l.Find(seq); err != nil || pos.Seq != seq-1 {
			b.Fatal(seq, pos, err)
		}
	}
}

func BenchmarkLast(b *testing.B) {
	l := openLog(b, writeJournal(b, samples(1000)...))
	b.ReportAllocs()
	for b.Loop() {
		if pos, _, err := l.Last(); err != nil || pos.Seq != 1000 {
			b.Fatal(pos, err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	l, err := OpenWriter(filepath.Join(b.TempDir(), "journal.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.ReportAllocs()
	var at Position
	for b.Loop() {
		if at, err = l.Append(at, []event.Event{sample(at.Seq + 1)}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	e := sample(123456)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = e.Append(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}
