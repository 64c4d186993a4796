package fsroom_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
)

// A mirror counts as up to date when it has what was fetched, not when it was fetched.
func TestMirrorIsCurrentWhenItHasWhatWasFetched(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	now := time.Now().Truncate(time.Second)
	r := h.room(1, fsroom.Options{Patience: time.Millisecond, Now: func() time.Time { return now }})
	asOf := func() time.Time {
		t.Helper()
		if _, err := r.View(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(r.Dir(), "fetched"))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	first := asOf()
	h.do(0, say("a", "news"))
	now = now.Add(time.Minute)
	unlock, err := h.room(1, fsroom.Options{}).Files.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if at := asOf(); !at.Equal(first) {
		t.Errorf("a mirror that another process has is up to date at %v", at)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if at := asOf(); !at.Equal(now) {
		t.Errorf("it is up to date at %v, and has been brought so at %v", at, now)
	}
}

// A wait looks now and then at what other hosts say of their agents, though nothing changes.
func TestWaitLooksAtOtherHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(t, 2, inMemory(t))
		h.do(0, join("a"))
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Second)
		defer cancel()
		looks := 0
		_ = h.room(1, fsroom.Options{NoWatch: true, BlindPoll: time.Second}).Await(ctx, func(*snapshot) (bool, fsroom.Sleep, error) {
			looks++
			return false, fsroom.Sleep{}, nil
		})
		if looks < 5 || looks > 7 { // two at the beginning, one in 30 seconds, one at the end
			t.Errorf("it looked %d times", looks)
		}
	})
}

// A distantEngine answers each call after a round trip, and tells of entries after half of one.
type distantEngine struct {
	engine.Engine
	roundTrip time.Duration
}

func (e *distantEngine) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	time.Sleep(e.roundTrip)
	return e.Engine.Read(ctx, room, from, fn)
}

func (e *distantEngine) Append(ctx context.Context, room string, after engine.Revision, entry engine.Entry, keep time.Duration) (engine.Entry, error) {
	time.Sleep(e.roundTrip / 2)
	defer time.Sleep(e.roundTrip / 2)
	return e.Engine.Append(ctx, room, after, entry, keep)
}

func (e *distantEngine) Watch(ctx context.Context, room string, notify func()) (func(), error) {
	return e.Engine.Watch(ctx, room, func() { time.AfterFunc(e.roundTrip/2, notify) })
}

// The slowest of a hundred handovers between two hosts takes no longer than five of the usual ones, by
// a clock that only the way to the engine moves on.
func TestNoHandoverStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(t, 2, &distantEngine{inMemory(t), 100 * time.Millisecond})
		h.do(0, join("a"), join("b"))
		const handovers = 100
		said := make(chan time.Time, 1) // when the last one was begun
		var took []time.Duration
		for i := range handovers {
			from, to := string(rune('a'+i%2)), (i+1)%2
			goOn := make(chan error, 1)
			waiting := make(chan struct{})
			go func() {
				looks := 0
				goOn <- h.room(to, fsroom.Options{NoWatch: true, BlindPoll: 5 * time.Millisecond}).Await(t.Context(), func(snap *snapshot) (bool, fsroom.Sleep, error) {
					if looks++; looks == 2 {
						close(waiting)
					}
					return snap.State.Said[from] == i/2+1, fsroom.Sleep{}, nil
				})
			}()
			<-waiting
			said <- time.Now()
			h.do(i%2, say(from, fmt.Sprint(i)))
			if err := <-goOn; err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(<-said))
		}
		slices.Sort(took)
		half, most := took[handovers/2], took[handovers*99/100]
		t.Logf("half of them took %v, 99 of 100 %v", half, most)
		if most > 5*half || half > time.Second {
			t.Errorf("half of the handovers took %v, 99 of 100 %v", half, most)
		}
	})
}
