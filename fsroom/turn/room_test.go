package turn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A step brings a room closer to where a test begins:
//
//	room(t, members("a", "b"), held("a"), later(time.Minute), released("b"))
type step func(*world)

// room returns a room to which the steps have happened. When the test ends, its
// state has to be what its journal says.
func room(t testing.TB, steps ...step) *world {
	t.Helper()
	w := newWorld(t)
	t.Cleanup(func() {
		if !t.Failed() {
			w.check()
		}
	})
	for _, s := range steps {
		s(w)
	}
	return w
}

// members join in this order; "codex:1=codex" gives a display name.
func members(ids ...string) step {
	return func(w *world) {
		for _, id := range ids {
			id, display, _ := strings.Cut(id, "=")
			w.joinAs(id, display, false)
		}
	}
}

func observers(ids ...string) step {
	return func(w *world) {
		for _, id := range ids {
			w.observe(id)
		}
	}
}

// held lets the agents claim the turn, all but the last ending it by passing
// it to the next.
func held(ids ...string) step {
	return func(w *world) {
		for i, id := range ids {
			if got := w.tries(id); !strings.HasPrefix(got, turn.YourTurn) {
				w.t.Fatalf("%s cannot claim: %s", id, got)
			}
			if i < len(ids)-1 {
				assigned(ids[i+1])(w)
			}
		}
	}
}

// released ends the owner's turn, with the outcome that is expected.
func released(outcome string) step {
	return func(w *world) {
		if got := w.releases(); got != outcome {
			w.t.Fatalf("the release is %s, not %s", got, outcome)
		}
	}
}

func assigned(to string) step {
	return func(w *world) {
		if got := w.assigns(to); got != "reserved for "+to {
			w.t.Fatalf("cannot assign to %s: %s", to, got)
		}
	}
}

func taken(by string) step {
	return func(w *world) {
		if got := w.orders(by); !strings.HasPrefix(got, turn.YourTurn) {
			w.t.Fatalf("%s cannot take: %s", by, got)
		}
	}
}

func left(id string) step {
	return func(w *world) {
		if _, err := w.leave(id); err != nil {
			w.t.Fatalf("leave: %v", err)
		}
	}
}

func kicked(by, id string) step {
	return func(w *world) {
		if _, err := w.kick(by, id, true); err != nil {
			w.t.Fatalf("kick: %v", err)
		}
	}
}

func later(d time.Duration) step    { return func(w *world) { w.later(d) } }
func clockSet(d time.Duration) step { return func(w *world) { w.set(d) } }
func rebooted(d time.Duration) step { return func(w *world) { w.reboot(d) } }
func heartbeat(w *world)            { w.beat() }

func policy(change func(*turn.Policy)) step {
	return func(w *world) { w.setPolicy("a", change) }
}

// each does something to what is known of the agents.
func each(ids []string, do func(*present)) step {
	return func(w *world) {
		for _, id := range ids {
			do(w.presence(id))
		}
	}
}

func seen(ids ...string) step {
	return func(w *world) { each(ids, func(p *present) { p.Seen = w.wall })(w) }
}

// waited: the agents' last wait ended just now.
func waited(ids ...string) step {
	return func(w *world) { each(ids, func(p *present) { p.Waited = w.wall })(w) }
}

func waiting(ids ...string) step { return each(ids, func(p *present) { p.Waiting = true }) }
func alive(ids ...string) step   { return each(ids, func(p *present) { p.Process = turn.Alive }) }
func gone(ids ...string) step    { return each(ids, func(p *present) { p.Process = turn.Gone }) }

// stopped: the process of the session is suspended.
func stopped(ids ...string) step {
	return each(ids, func(p *present) { p.Process, p.Stopped = turn.Alive, true })
}

// dropped: the process has ended, but the session may live on in another.
func dropped(ids ...string) step {
	return each(ids, func(p *present) { p.Process, p.OutlivesProcess = turn.Gone, true })
}
