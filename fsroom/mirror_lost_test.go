package fsroom_test

import (
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
)

// A store that was copied back gives a renewal a revision that it has given before. It counts, also in
// a process that has seen the one that was lost, and in one that has fetched it a moment ago: neither
// could write to the mirror what it saw.
func TestRenewalAfterAStoreHasLostSome(t *testing.T) {
	t.Parallel()
	for name, brief := range map[string]time.Duration{"seen before": 0, "fetched after": time.Minute} {
		t.Run(name, func(t *testing.T) {
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
			r := h.room(1, fsroom.Options{Brief: brief, Patience: time.Millisecond})
			look := func() {
				t.Helper()
				if _, err := r.View(); err != nil {
					t.Fatal(err)
				}
			}
			lookUnwritten := func() {
				t.Helper()
				unlock, err := h.room(1, fsroom.Options{}).Files.Lock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				look()
				if err := unlock(); err != nil {
					t.Fatal(err)
				}
			}
			if brief == 0 {
				lookUnwritten()
			} else {
				h.view(1)
			}
			lost.Lose("rooms.demo", renewals)
			renew(t, h.room(0, fsroom.Options{}), "after")
			if brief > 0 {
				lookUnwritten()
			}
			look()
			h.view(0)
			h.view(1)
			for name, r := range map[string]*room{"its own host": h.room(0, fsroom.Options{}), "another": h.room(1, fsroom.Options{}), "the process": r} {
				if note, _ := r.Shared().Note(); string(note) != "after" {
					t.Errorf("%s has the note %q", name, note)
				}
			}
		})
	}
}

// What was fetched is not added to a mirror to which another process has added what the store has
// lost since.
func TestFetchBesideOneOfAStoreThatHasLostOne(t *testing.T) {
	t.Parallel()
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
