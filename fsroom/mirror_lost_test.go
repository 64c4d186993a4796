package fsroom_test

import (
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine/memory"
)

// A store that was copied back gives a renewal a revision that it has given before. It counts, also in
// a process that has seen the one that was lost.
func TestRenewalAfterAStoreHasLostSome(t *testing.T) {
	var mu sync.Mutex
	clock := time.Now()
	lost := memory.New("test", func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(time.Second)
		return clock
	})
	defer lost.Close()
	h := newHosts(t, 2, lost)
	h.do(0, join("a"))
	h.view(1)
	const renewals = 3
	for range renewals {
		renew(t, h.room(0, fsroom.Options{}), "before")
	}
	h.view(0)
	long := h.room(1, fsroom.Options{Patience: time.Millisecond})
	unlock, err := h.room(1, fsroom.Options{}).Files.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.View(); err != nil { // which cannot write it to the mirror
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	lost.Lose("rooms.demo", renewals)
	renew(t, h.room(0, fsroom.Options{}), "after")
	if _, err := long.View(); err != nil {
		t.Fatal(err)
	}
	h.view(0)
	h.view(1)
	for name, r := range map[string]*room{"its own host": h.room(0, fsroom.Options{}), "another": h.room(1, fsroom.Options{}), "a process that goes on": long} {
		if note, _ := r.Note(); string(note) != "after" {
			t.Errorf("%s has the note %q", name, note)
		}
	}
}

// A renewal that was fetched a moment ago, and not written, is not taken for one that the mirror has
// because a store that was copied back gave it a lower revision.
func TestRenewalFetchedAfterAStoreHasLostSome(t *testing.T) {
	clock := time.Now()
	var mu sync.Mutex
	lost := memory.New("test", func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(time.Second)
		return clock
	})
	defer lost.Close()
	h := newHosts(t, 2, lost)
	h.do(0, join("a"))
	const renewals = 3
	for range renewals {
		renew(t, h.room(0, fsroom.Options{}), "before")
	}
	h.view(1)
	lost.Lose("rooms.demo", renewals)
	renew(t, h.room(0, fsroom.Options{}), "after")
	brief := h.room(1, fsroom.Options{Brief: time.Minute, Patience: time.Millisecond})
	unlock, err := h.room(1, fsroom.Options{}).Files.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := brief.View(); err != nil { // which cannot write it to the mirror
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := brief.View(); err != nil {
		t.Fatal(err)
	}
	if note, _ := brief.Note(); string(note) != "after" {
		t.Errorf("the note is %q", note)
	}
}

// What was fetched is not added to a mirror to which another process has added what the store has
// lost since.
func TestFetchBesideOneOfAStoreThatHasLostOne(t *testing.T) {
	lost := inMemory(t)
	h := newHosts(t, 3, lost)
	h.do(0, join("a"))
	h.view(1)
	h.view(2)
	h.do(0, say("a", "x"))
	fetched, goOn, added := make(chan struct{}), make(chan struct{}), make(chan error)
	first := &hosts{t: t, dirs: h.dirs, engine: &afterRead{Engine: lost, then: func() { close(fetched); <-goOn }}}
	go func() {
		_, err := first.room(1, fsroom.Options{}).View()
		added <- err
	}()
	<-fetched
	lost.Lose("rooms.demo", 1)
	h.do(2, say("a", "y"), say("a", "z"))
	second := &hosts{t: t, dirs: h.dirs, engine: &afterRead{Engine: lost, then: func() {
		close(goOn)
		if err := <-added; err != nil {
			t.Error(err)
		}
	}}}
	if snap, err := second.room(1, fsroom.Options{}).View(); !hasCode(err, code.EngineRewound) {
		t.Errorf("%v, %+v", err, snap)
	}
}
