package fsroom_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/journal/event"
)

var leakChanges = flag.Int("leak.changes", 1000, "how many changes TestNothingLeaks makes, with an eighth as many waits")

// What a process has taken of what is scarce.
type holdings struct{ files, goroutines, objects int }

// holds counts. The files come before the garbage is collected, which would close
// those that were forgotten.
func holds(t *testing.T) holdings {
	t.Helper()
	files, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip(err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return holdings{len(files), runtime.NumGoroutine(), int(m.HeapObjects)}
}

// TestNothingLeaks: a server makes changes and waits for months. After many of
// both it holds what it held after the first few, also of changes that were
// refused, waits that were given up, and lives that ended.
func TestNothingLeaks(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	f := newFixture(t)
	r := f.watched()
	f.leadLife(r)
	f.bustle(r)
	before := holds(t)
	for range *leakChanges / 32 {
		f.leadLife(r)
	}
	for range *leakChanges / 32 { // the end of a life would take forgotten watches with it
		f.bustle(r)
	}
	for began := time.Now(); runtime.NumGoroutine() > before.goroutines && time.Since(began) < patience; {
		runtime.Gosched() // watches end in the background
	}
	now := holds(t)
	if now.files > before.files || now.goroutines > before.goroutines || now.objects > before.objects+*leakChanges/10 {
		t.Errorf("%+v after %d changes, %+v before them", now, *leakChanges, before)
	}
}

func (f *fixture) leadLife(r *room) {
	f.t.Helper()
	f.bustle(r)
	change(f.t, r, leave("a"))
}

// bustle is some 15 changes and two waits.
func (f *fixture) bustle(r *room) {
	f.t.Helper()
	change(f.t, r, join("a"))
	for range 12 {
		change(f.t, r, say("a", "hello"))
	}
	if _, _, err := r.Update(context.Background(), say("stranger", "hello")); err == nil {
		f.t.Error("a stranger spoke")
	}
	ctx, cancel := context.WithCancel(context.Background())
	err := r.Await(ctx, func(*snapshot) (bool, fsroom.Sleep, error) { cancel(); return false, fsroom.Sleep{}, nil })
	if !errors.Is(err, context.Canceled) {
		f.t.Error(err)
	}
	l := looker{t: f.t, after: []func() fsroom.Sleep{rest, f.saying("woken")}, word: "woken"}
	l.await(r)
	seq := change(f.t, r, say("a", "bye")).Position.Seq
	if _, err := r.Events(context.Background(), seq-1, func(*event.Event) error { return nil }); err != nil {
		f.t.Error(err)
	}
}
