package fsroom_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// benchRoom is a room with some members, on the disk that TMPDIR names.
func benchRoom(b *testing.B) *room {
	b.Helper()
	s, err := fsroom.Open(filepath.Join(b.TempDir(), "data"), fsroom.Options{NoWatch: true})
	if err != nil {
		b.Fatal(err)
	}
	r := fsroom.At(s, tallyRules, "demo")
	for i := range 10 {
		change(b, r, join(fmt.Sprint("agent", i)))
	}
	return r
}

func BenchmarkView(b *testing.B) {
	r := benchRoom(b)
	for b.Loop() {
		if _, err := r.View(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdate is mostly two syncs.
func BenchmarkUpdate(b *testing.B) {
	r := benchRoom(b)
	decide := say("agent0", "hello")
	for b.Loop() {
		change(b, r, decide)
	}
}

// BenchmarkExists does not depend on how many rooms there are.
func BenchmarkExists(b *testing.B) {
	for _, rooms := range []int{1, 2000} {
		b.Run(fmt.Sprint(rooms), func(b *testing.B) {
			r := benchRoom(b)
			for i := range rooms - 1 {
				if err := os.Mkdir(filepath.Join(filepath.Dir(r.Dir()), fmt.Sprint("other", i)), 0o700); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if !r.Exists() {
					b.Fatal("does not exist")
				}
			}
		})
	}
}

// BenchmarkReplay is what a lost state.json costs in a room of 100 000 events.
func BenchmarkReplay(b *testing.B) {
	r := benchRoom(b)
	const total = 100_000
	log, err := journal.OpenWriter(r.JournalPath())
	if err != nil {
		b.Fatal(err)
	}
	at, _, err := log.Last()
	for err == nil && at.Seq < total {
		batch := make([]event.Event, 1000)
		for i := range batch {
			batch[i] = event.Event{
				Seq: at.Seq + int64(i) + 1, ID: fsroom.NewID(), RoomID: "demo", Type: said, From: "agent0", Payload: []byte(`"hello"`),
			}
		}
		at, err = log.Append(at, batch, nil)
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.Dir(), "state.json")); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		snap, err := r.View()
		if err != nil || snap.Position.Seq < total {
			b.Fatal(snap, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/total, "ns/event")
}
