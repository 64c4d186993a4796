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
)

// A mark that is held is announced to the other hosts until it is released.
func TestHoldIsAnnounced(t *testing.T) {
	e := inMemory(t)
	h := newHosts(t, 1, e)
	h.do(0, join("a"))
	a := h.room(0, fsroom.Options{Host: "here"}).Agent("a")
	release, err := a.Hold("waiting")
	if err != nil {
		t.Fatal(err)
	}
	announced := func() engine.Presence {
		p, err := e.Announced(t.Context(), "rooms.demo", filepath.Base(filepath.Dir(a.Path("waiting"))), "waiting")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if announced() != engine.Present {
		t.Error("a mark that is held is not announced")
	}
	release()
	if announced() != engine.Absent || a.Held("waiting") {
		t.Error("the mark is held after its release")
	}
}

// A crowd answers nobody until so many are asked for.
type crowd struct {
	engine.Engine
	asked atomic.Int32
	all   chan struct{}
	size  int32
}

func (c *crowd) Announced(ctx context.Context, room, agent, what string) (engine.Presence, error) {
	if c.asked.Add(1) == c.size {
		close(c.all)
	}
	select {
	case <-c.all:
		return c.Engine.Announced(ctx, room, agent, what)
	case <-ctx.Done():
		return engine.Unknown, ctx.Err()
	}
}

// Agents of other hosts are asked for at once, and each once.
func TestHoldsAreAskedForTogether(t *testing.T) {
	const agents = 30
	e := &crowd{Engine: inMemory(t), all: make(chan struct{}), size: agents}
	h := newHosts(t, 2, e)
	h.do(0, join("a"))
	there := h.room(0, fsroom.Options{Host: "there"})
	here := h.room(1, fsroom.Options{Host: "here", Brief: time.Minute})
	for i := range agents {
		a := there.Agent(fmt.Sprint("agent:", i))
		if err := a.Mark("seen", time.Now()); err != nil {
			t.Fatal(err)
		}
		release, err := a.Hold("seen")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	if err := here.Agent("b").Mark("seen", time.Now()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i := range agents {
			if !here.Agent(fmt.Sprint("agent:", i)).Held("seen") {
				t.Errorf("agent:%d does not hold it", i)
			}
		}
	}
	if holders, err := here.Holders("seen", ""); err != nil || len(holders) != agents {
		t.Errorf("%d hold it, %v", len(holders), err)
	}
	if n := e.asked.Load(); n != agents {
		t.Errorf("%d were asked for", n)
	}
}
