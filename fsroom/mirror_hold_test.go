package fsroom_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal/event"
)

// A mark that is held is announced to the other hosts until it is released.
func TestHoldIsAnnounced(t *testing.T) {
	t.Parallel()
	e := inMemory(t)
	h := newHosts(t, 1, e)
	h.do(0, join("a"))
	a := h.room(0, fsroom.Options{Host: "here"}).Agent("a")
	release, err := a.Hold("waiting")
	if err != nil {
		t.Fatal(err)
	}
	announced := func() bool {
		p, err := e.Announced(t.Context(), "rooms.demo", filepath.Base(filepath.Dir(a.Path("waiting"))), "waiting")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if !announced() {
		t.Error("a mark that is held is not announced")
	}
	release()
	if announced() || a.Held("waiting") {
		t.Error("the mark is held after its release")
	}
}

// A process that holds a mark says again what the engine has lost while it was away.
func TestRecordIsPublishedAgain(t *testing.T) {
	t.Parallel()
	e := inMemory(t)
	h := newHosts(t, 2, e)
	h.do(0, join("a"))
	a := h.room(0, fsroom.Options{Host: "there", Boot: "first"}).Agent("a")
	if err := a.Mark("seen", time.Now()); err != nil {
		t.Fatal(err)
	}
	release, err := a.Hold("seen")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	e.SetAway(true)
	e.LoseRecords("rooms.demo")
	e.SetAway(false)
	for limit := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		here := h.room(1, fsroom.Options{Host: "here", Boot: "mine"})
		if here.Agent("a").Held("seen") && here.Shared().Boot("there") == "first" {
			return
		}
		if time.Now().After(limit) {
			t.Fatal("nobody knows of it any more")
		}
	}
}

// A crowd counts the agents that are asked for.
type crowd struct {
	engine.Engine
	asked atomic.Int32

	all  chan struct{} // nobody is answered before it is closed; nil: at once
	size int32         // how many have to be asked for before that
}

func (c *crowd) Announced(ctx context.Context, room, agent, what string) (bool, error) {
	if c.asked.Add(1) == c.size {
		close(c.all)
	}
	if c.all != nil {
		select {
		case <-c.all:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return c.Engine.Announced(ctx, room, agent, what)
}

// hold makes a host on which agents hold a mark, and returns another that knows nothing of it.
func (c *crowd) hold(t *testing.T, agents int, o fsroom.Options) *room {
	h := newHosts(t, 2, c)
	h.do(0, join("a"))
	there := h.room(0, fsroom.Options{Host: "there"})
	for i := range agents {
		a := there.Agent(fmt.Sprint("agent:", i))
		if err := a.Mark("seen", time.Now()); err != nil {
			t.Fatal(err)
		}
		release, err := a.Hold("seen")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
	}
	o.Host = "here"
	return h.room(1, o)
}

// Who asks for all agents asks at once, and of each once.
func TestHoldsAreAskedForTogether(t *testing.T) {
	t.Parallel()
	const agents = 30
	c := &crowd{Engine: inMemory(t), all: make(chan struct{}), size: agents}
	here := c.hold(t, agents, fsroom.Options{Brief: time.Minute})
	for range 2 {
		if holders, err := here.Holders("seen", ""); err != nil || len(holders) != agents {
			t.Errorf("%d hold it, %v", len(holders), err)
		}
		for i := range agents {
			if !here.Agent(fmt.Sprint("agent:", i)).Held("seen") {
				t.Errorf("agent:%d does not hold it", i)
			}
		}
	}
	if n := c.asked.Load(); n != agents {
		t.Errorf("%d were asked for", n)
	}
}

// Who looks at one agent asks for a few, however many there are.
func TestOneHoldIsAskedForWithFew(t *testing.T) {
	t.Parallel()
	const agents = 30
	c := &crowd{Engine: inMemory(t)}
	here := c.hold(t, agents, fsroom.Options{Brief: time.Minute})
	if !here.Agent("agent:7").Held("seen") {
		t.Error("agent:7 does not hold it")
	}
	if asked := c.asked.Load(); asked != 8 {
		t.Errorf("%d agents were asked for", asked)
	}
	for i := range agents {
		if !here.Agent(fmt.Sprint("agent:", i)).Held("seen") {
			t.Errorf("agent:%d does not hold it", i)
		}
	}
	if n := c.asked.Load(); n != agents {
		t.Errorf("%d agents were asked for", n)
	}
}

// A decision asks for an agent that nobody has asked for.
func TestDecisionOnHolds(t *testing.T) {
	t.Parallel()
	c := &crowd{Engine: inMemory(t)}
	here := c.hold(t, 9, fsroom.Options{})
	var held []bool
	_, _, err := here.Update(t.Context(), func(s *tally) ([]event.Event, error) {
		held = append(held, here.Agent("agent:4").Held("seen"))
		return join("b")(s)
	})
	if err != nil || !held[len(held)-1] {
		t.Errorf("the decision was made on %v, %v", held, err)
	}
}

// A host says with what it says of an agent in which boot it is. The last word counts.
func TestBoot(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2, inMemory(t))
	h.do(0, join("a"))
	look := func(boot string) {
		t.Helper()
		if err := h.room(0, fsroom.Options{Host: "there", Boot: boot}).Agent("agent:"+boot).Mark("seen", time.Now()); err != nil {
			t.Fatal(err)
		}
		here := h.room(1, fsroom.Options{Host: "here", Boot: "mine"})
		for host, want := range map[string]string{"there": boot, "nowhere": ""} {
			if got := here.Shared().Boot(host); got != want {
				t.Errorf("%s is in the boot %q, want %q", host, got, want)
			}
		}
	}
	look("first")
	look("second")
}
