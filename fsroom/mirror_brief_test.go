package fsroom_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal/event"
)

// A slowEngine holds Publish up.
type slowEngine struct {
	engine.Engine
	publish chan struct{} // until it is closed
}

func (e *slowEngine) Publish(ctx context.Context, room, agent string, record []byte, keep time.Duration) error {
	<-e.publish
	return e.Engine.Publish(ctx, room, agent, record, keep)
}

var brief = fsroom.Options{Brief: time.Hour, Host: "here"}

// TestBriefCommandReadsOnce: what a command has looked at is what it changes, if no other
// host was first.
func TestBriefCommandReadsOnce(t *testing.T) {
	t.Parallel()
	e := &countingEngine{Engine: inMemory(t)}
	h := newHosts(t, 2, e)
	h.do(0, join("a"))
	r := h.room(1, brief)
	e.reads.Store(0)
	for range 2 {
		if _, err := r.View(); err != nil {
			t.Fatal(err)
		}
	}
	change(t, r, join("b"), say("b", "hello"))
	if n := e.reads.Load(); n != 1 {
		t.Errorf("it has read %d times", n)
	}
	h.verify()
}

// A farEngine takes a while to be read.
type farEngine struct {
	countingEngine
	roundTrip time.Duration
}

func (e *farEngine) Read(ctx context.Context, room string, from engine.Revision, fn func(engine.Entry) error) error {
	time.Sleep(e.roundTrip)
	return e.countingEngine.Read(ctx, room, from, fn)
}

// TestBriefWithAFarEngine: the farther an engine is, the longer a command takes, and the longer
// it uses what it has fetched.
func TestBriefWithAFarEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &farEngine{countingEngine{Engine: inMemory(t)}, 300 * time.Millisecond}
		h := newHosts(t, 2, e)
		h.do(0, join("a"))
		r := h.room(1, fsroom.Options{Brief: time.Millisecond, Host: "here"})
		e.reads.Store(0)
		for i, after := range []time.Duration{0, 3 * time.Second, 2 * time.Second} {
			time.Sleep(after)
			if _, err := r.View(); err != nil {
				t.Fatal(err)
			}
			if n, want := e.reads.Load(), []int32{1, 1, 2}[i]; n != want {
				t.Errorf("after %v it has read %d times", after, n)
			}
		}
	})
}

// TestBriefCommandIsOvertaken: a change of another host since the look is not overlooked,
// also if what was seen before it allows nothing.
func TestBriefCommandIsOvertaken(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	r := h.room(1, brief)
	if _, err := r.View(); err != nil {
		t.Fatal(err)
	}
	h.do(0, join("b"))
	change(t, r, join("c"))
	h.do(0, say("a", "more"))
	if _, events, err := r.Update(context.Background(), func(s *tally) ([]event.Event, error) {
		if s.Said["a"] == 0 {
			return nil, nil
		}
		return say("c", "heard")(s)
	}); err != nil || len(events) != 1 {
		t.Errorf("%v, %v", events, err)
	}
	h.verify()
}

// TestPublishedInTheBackground: of what happens to an agent while the engine is slow the last
// state is published, and Published waits for it.
func TestPublishedInTheBackground(t *testing.T) {
	t.Parallel()
	e := &slowEngine{Engine: inMemory(t), publish: make(chan struct{})}
	h := newHosts(t, 2, e)
	h.do(0, join("a"))
	r := h.room(0, brief)
	base := time.Now().Add(-time.Hour).Truncate(time.Second)
	const marks = 5
	for i := range marks {
		if err := r.Agent("a").Mark("seen", base.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	r.Store().Published(0) // it does not wait for ever
	close(e.publish)
	r.Store().Published(time.Minute)
	if at := h.room(1, fsroom.Options{Host: "there"}).Agent("a").Marked("seen"); !at.Equal(base.Add((marks - 1) * time.Minute)) {
		t.Errorf("another host sees %v, want the last of %v", at, base)
	}
}

// TestPublishedAtOnceToAFarEngine: others are notified of what is published, and find it.
func TestPublishedAtOnceToAFarEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(t, 2, &farEngine{countingEngine{Engine: inMemory(t)}, 300 * time.Millisecond})
		h.do(0, join("a"))
		r := h.room(0, brief)
		if _, err := r.View(); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Truncate(time.Second)
		if err := r.Agent("a").Mark("seen", at); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := h.room(1, fsroom.Options{Host: "there"}).Agent("a").Marked("seen"); !got.Equal(at) {
			t.Errorf("another host sees %v, want %v", got, at)
		}
	})
}
