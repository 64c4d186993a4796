package shared

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
)

// check is what doctor finds of a host, by code; "" for what is repaired.
func (w *world) check(dir string, e engine.Engine, repair bool) (codes []string) {
	h := w.Check(context.Background(), w.store(dir, e), nil, repair, false)
	for _, p := range h.Problems {
		if p.Repaired {
			p.Code = ""
		}
		codes = append(codes, p.Code)
	}
	return codes
}

func TestCheckTellsWhatTheEngineIsLike(t *testing.T) {
	w, e := newWorld(t)
	d := dirs(t, 1)
	w.say(w.room(d[0], e, "shared"), "one", "two")
	if got := w.check(d[0], e, false); len(got) != 0 {
		t.Errorf("%q", got)
	}
	e.SetAway(true)
	if got := fmt.Sprint(w.check(d[0], e, true)); got != "[engine_unreachable]" {
		t.Errorf("away: %s", got)
	}
	e.SetAway(false)
	e.Lose("rooms.shared", 1)
	if got := fmt.Sprint(w.check(d[0], e, false)); got != "[engine_rewound]" {
		t.Errorf("it has lost an entry: %s", got)
	}
	if err := say(w.room(d[0], e, "shared"), "three"); code.Of(err) != code.EngineRewound {
		t.Errorf("a write to it: %v", err)
	}
	if got := fmt.Sprint(w.check(d[0], e, true)); got != "[]" {
		t.Errorf("repaired: %s", got)
	}
	w.say(w.room(d[0], e, "shared"), "three")
	if got := w.check(d[0], e, false); len(got) != 0 {
		t.Errorf("afterwards: %q", got)
	}
}

// Two mirrors that differ in one event are for a person, and nothing is written.
func TestRepairOfMirrorsThatDiffer(t *testing.T) {
	w, e := newWorld(t)
	d := dirs(t, 2)
	a, b := w.room(d[0], e, "shared"), w.room(d[1], e, "shared")
	w.say(a, "one", "two")
	if _, err := b.View(); err != nil {
		t.Fatal(err)
	}
	w.say(a, "three")
	before := w.lines(a)
	e.Lose("rooms.shared", 1)
	w.say(b, "instead of three") // its mirror has no more than the engine
	there := w.lines(b)
	for _, want := range []string{"[corrupt_room]", "[corrupt_room engine_restored]"} { // the write has closed it
		if got := fmt.Sprint(w.check(d[0], e, true)); got != want {
			t.Errorf("%s", got)
		}
		if err := say(w.room(d[0], e, "shared"), "four"); code.Of(err) != code.EngineRewound {
			t.Errorf("a write: %v", err)
		}
	}
	local := w.room(d[0], nil, "shared")
	if !bytes.Equal(w.lines(local), before) || !bytes.Equal(w.lines(w.room(d[1], e, "shared")), there) {
		t.Error("something was written")
	}
}

// The model: hosts say something, the engine loses entries or is replaced by an empty one,
// and all hosts repair, in any order, killed at any call. What was acknowledged to a host
// whose mirror is the longest is there in the end, at every host.
func TestRepairModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, e := newWorld(t)
		d := dirs(t, 3)
		n := 0
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 6).Draw(rt, "messages") {
				n++
				host := rapid.IntRange(0, 2).Draw(rt, "host")
				if err := say(w.room(d[host], e, "shared"), fmt.Sprint("text ", n)); err != nil {
					rt.Fatal(err)
				}
			}
			longest := -1
			want := []byte(nil)
			for i := range d {
				if got := w.lines(w.room(d[i], nil, "shared")); longest < 0 || len(got) > len(want) {
					longest, want = i, got
				}
			}
			if rapid.Bool().Draw(rt, "another engine") {
				e = memory.New("another", time.Now)
				defer e.Close()
			} else {
				most := bytes.Count(want, []byte("message_sent"))
				if has := e.Entries("rooms.shared"); has < most {
					most = has
				}
				e.Lose("rooms.shared", rapid.IntRange(0, most).Draw(rt, "lost"))
			}
			for range rapid.IntRange(0, 6).Draw(rt, "repairs") {
				host := rapid.IntRange(0, 2).Draw(rt, "repairing")
				w.check(d[host], &faulty{e, rapid.IntRange(0, 4).Draw(rt, "killed")}, true)
			}
			order := rapid.Permutation([]int{0, 1, 2}).Draw(rt, "order")
			for _, host := range append(order, order...) {
				if got := strings.Join(w.check(d[host], e, true), ""); got != "" {
					rt.Fatalf("host %d finds %s", host, got)
				}
			}
			for i := range d {
				if got := w.lines(w.room(d[i], e, "shared")); !bytes.Equal(got, want) {
					rt.Fatalf("host %d has\n%s\nwant\n%s", i, got, want)
				}
				if found := w.check(d[i], e, false); len(found) != 0 {
					rt.Fatalf("host %d finds %q", i, found)
				}
			}
		}
	})
}

// Two hosts repair at once.
func TestTwoRepairAtOnce(t *testing.T) {
	for range 10 {
		w, e := newWorld(t)
		d := dirs(t, 2)
		big := strings.Repeat("x", 300<<10)
		w.say(w.room(d[0], e, "shared"), "one", big, big, big, "five")
		want := w.lines(w.room(d[1], e, "shared"))
		other := memory.New("another", time.Now)
		defer other.Close()
		done := make(chan []string, 2)
		for _, dir := range d {
			go func() { done <- w.check(dir, other, true) }()
		}
		for range d {
			if got := strings.Join(<-done, ""); got != "" {
				t.Errorf("found %s", got)
			}
		}
		for _, dir := range append(d, filepath.Join(t.TempDir(), "new")) {
			if got := w.lines(w.room(dir, other, "shared")); !bytes.Equal(got, want) {
				t.Errorf("%s has %d bytes, want %d", dir, len(got), len(want))
			}
		}
	}
}

// A damaged mirror is fetched anew, if the engine has all of it, and left alone otherwise.
func TestDamagedMirror(t *testing.T) {
	for _, lost := range []int{0, 1} {
		w, e := newWorld(t)
		d := dirs(t, 1)
		r := w.room(d[0], e, "shared")
		w.say(r, "one", "two", "three")
		want := w.lines(r)
		damaged := bytes.Replace(want, []byte(`"body":"two"`), []byte(`"body":two"`), 1)
		if err := os.WriteFile(r.JournalPath(), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		e.Lose("rooms.shared", lost)
		got := w.check(d[0], e, true)
		b, err := os.ReadFile(r.JournalPath())
		if err != nil || strings.Join(got, "") != "" || (len(got) == 1) != (lost == 0) {
			t.Errorf("%q, %v", got, err)
		}
		if lost == 0 && !bytes.Equal(b, want) || lost > 0 && !bytes.Equal(b, damaged) {
			t.Errorf("with %d lost the journal is\n%s", lost, b)
		}
		if kept, _ := filepath.Glob(r.JournalPath() + ".aside-*"); (len(kept) == 1) != (lost == 0) {
			t.Errorf("kept: %q", kept)
		}
		if lost == 0 {
			w.say(w.room(d[0], e, "shared"), "four")
		}
	}
}
