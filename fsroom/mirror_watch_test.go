package fsroom_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
)

// A mirror that is watched gets all that comes.
func TestWatchedMirrorFollows(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	h.view(1)
	defer fsroom.At(openStore(t, h.dirs[1], fsroom.Options{Engine: h.engine}), tallyRules, "demo").Pull(t.Context())()
	const changes = 30
	for i := range changes {
		h.do(0, say("a", fmt.Sprint(i)))
	}
	mirror := fsroom.At(openStore(t, h.dirs[1], fsroom.Options{Host: "here"}), tallyRules, "demo") // asks no engine
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := mirror.Await(ctx, func(snap *snapshot) (bool, fsroom.Sleep, error) {
		return snap.State.Said["a"] == changes, fsroom.Sleep{}, nil
	}); err != nil {
		t.Fatal(err)
	}
	h.verify()
}

// A neverShut engine takes changes also when it has lost something.
type neverShut struct{ engine.Engine }

func (neverShut) Shut(context.Context, string, time.Time) error { return nil }

// A store that was copied back tells of an entry where the mirror has another, and what follows is no news of the mirror.
func TestToldOfAStoreThatHasLostOne(t *testing.T) {
	t.Parallel()
	lost := inMemory(t)
	h := newHosts(t, 2, lost)
	h.do(0, join("a"))
	h.do(1, say("a", "x")) // which host 0 has not seen
	e := &countingEngine{Engine: neverShut{lost}}
	r := fsroom.At(openStore(t, h.dirs[1], fsroom.Options{Engine: e}), tallyRules, "demo")
	defer r.Pull(t.Context())()
	read := func(times int32) {
		for limit := time.Now().Add(patience); e.reads.Load() < times; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("the room was read %d times, want %d", e.reads.Load(), times)
			}
		}
	}
	read(1)
	lost.Lose("rooms.demo", 1)
	h.do(0, say("a", "y"))
	read(2)
	h.do(0, say("a", "z"))
	read(3)
	if _, err := h.room(1, fsroom.Options{}).View(); !hasCode(err, code.EngineRewound) {
		t.Errorf("host 1 sees the room: %v", err)
	}
}

// Of a store that was copied back nothing is shown while another process has the mirror: what it
// has is to be compared first.
func TestLookAtAStoreThatHasLostOneComparesIt(t *testing.T) {
	t.Parallel()
	lost := inMemory(t)
	h := newHosts(t, 2, lost)
	h.do(0, join("a"))
	h.do(1, say("a", "x")) // which host 0 has not seen
	lost.Lose("rooms.demo", 1)
	h.do(0, say("a", "y"), say("a", "z"))
	unlock, err := h.room(1, fsroom.Options{}).Files.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if snap, err := h.room(1, fsroom.Options{Patience: time.Millisecond}).View(); err == nil {
		t.Errorf("host 1 sees %v", snap.State.Said)
	}
}

// A wait looks again once its host is told of what comes for its agents: of what came before,
// after its last look, nothing else tells it.
func TestNewsBeforeTheHostListens(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"), join("b"))
	late := &lateEngine{h.engine, make(chan struct{}), make(chan struct{})}
	r := fsroom.At(openStore(t, h.dirs[1], fsroom.Options{Engine: late, BlindPoll: seldom}), wakeRules, "demo")
	if err := r.Agent("b").EnsureWakeFile(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	looked, news, looks := make(chan struct{}, 2), make(chan struct{}), 0
	done := make(chan error, 1)
	go func() {
		done <- r.AwaitBoth(ctx, "b", func() fsroom.Neighbour { return nil }, func(*snapshot) (bool, fsroom.Sleep, error) {
			select {
			case <-news:
				return true, fsroom.Sleep{}, nil
			default:
			}
			if looks++; looks <= cap(looked) {
				looked <- struct{}{}
			}
			return false, fsroom.Sleep{}, nil
		})
	}()
	for range cap(looked) { // before and after it began to watch
		<-looked
	}
	<-late.asked
	close(news)
	h.room(0, fsroom.Options{}).Agent("b").Notify()
	close(late.goOn)
	if err := <-done; err != nil || ctx.Err() != nil {
		t.Errorf("%v; it looked again when its time was up: %v", err, ctx.Err())
	}
}

// A lateEngine is asked to tell of what comes for agents, and does so from when it goes on.
type lateEngine struct {
	engine.Engine
	asked, goOn chan struct{}
}

func (e *lateEngine) Notified(ctx context.Context, room string, fn func(string)) (func(), error) {
	close(e.asked)
	<-e.goOn
	return e.Engine.Notified(ctx, room, fn)
}

// Those who wait on a host leave it to one of them to ask the engine.
func TestIdleWaitersAskNobody(t *testing.T) {
	t.Parallel()
	e := &countingEngine{Engine: inMemory(t)}
	h := newHosts(t, 2, e)
	h.do(0, join("a"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const waiters = 5
	looked, done := make(chan struct{}, 100), make(chan error, waiters)
	var polls [waiters]atomic.Int32 // each asks whether the mirror is up to date
	for i := range waiters {
		r := h.room(1, fsroom.Options{NoWatch: true, BlindPoll: time.Millisecond, Now: func() time.Time { polls[i].Add(1); return time.Now() }})
		go func() {
			done <- r.Await(ctx, func(snap *snapshot) (bool, fsroom.Sleep, error) {
				looked <- struct{}{}
				return snap.State.Turn > 0, fsroom.Sleep{}, nil
			})
		}()
	}
	for range 2 * waiters { // before and after they began to watch
		<-looked
	}
	e.reads.Store(0)
	for i := range polls {
		for from := polls[i].Load(); polls[i].Load() < from+20; {
			time.Sleep(time.Millisecond)
		}
	}
	if n := e.reads.Load(); n > waiters {
		t.Errorf("%d that wait have read the room %d times", waiters, n)
	}
	h.do(0, turnOn("a"))
	for range waiters {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// What other hosts say of the agents of a room is fetched together.
func TestRecordsAreFetchedTogether(t *testing.T) {
	t.Parallel()
	e := &countingEngine{Engine: inMemory(t)}
	h := newHosts(t, 2, e)
	h.do(0, join("a"), join("b"), join("c"))
	for _, id := range []string{"a", "b", "c", "d"} {
		if err := h.room(0, fsroom.Options{Host: "there"}).Agent(id).Mark("seen", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	here := h.room(1, fsroom.Options{Host: "here", Brief: time.Minute})
	if _, err := here.View(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		if here.Agent(id).Marked("seen").IsZero() || e.records.Load() != 1 {
			t.Errorf("%s: the records were asked for %d times, want once", id, e.records.Load())
		}
	}
}
