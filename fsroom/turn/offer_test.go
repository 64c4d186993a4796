package turn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"pgregory.net/rapid"
)

const (
	wakeGrace = 45 * time.Second
	// settled is long enough for nobody to be ready by having joined.
	settled = time.Minute
)

// notified: the listeners of the agents were notified just now, and have noticed it or not.
func notified(noticed bool, ids ...string) step {
	return func(w *world) {
		for _, id := range ids {
			h := w.hears[id]
			h.Notified, h.UnheardIn = w.wall, 0
			if !noticed {
				h.UnheardIn = turn.UnheardAfter
			}
			w.hears[id] = h
		}
	}
}

// deaf: the agents' listeners have not answered.
func deaf(ids ...string) step {
	return func(w *world) {
		for _, id := range ids {
			h := w.hears[id]
			h.Unheard, h.UnheardIn = true, 0
			w.hears[id] = h
		}
	}
}

// spent: the agents' models were called so often that a release calls them no more for a while.
func spent(ids ...string) step {
	return func(w *world) {
		for _, id := range ids {
			h := w.hears[id]
			h.TurnsSpent = time.Minute
			w.hears[id] = h
		}
	}
}

// TestReleaseToListeners: whom a release goes to where members listen.
func TestReleaseToListeners(t *testing.T) {
	abc := steps{members("a", "b", "c"), held("a"), later(settled)}
	off := policy(func(p *turn.Policy) { p.WakeGrace = 0 })
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"nobody listens", abc, "kept for b"},
		{"the fairest listens", append(abc, listening(ready, "b")), "offered to b"},
		{"though another one waits", append(abc, listening(ready, "b"), waiting("c")), "offered to b"},
		{"its model works", append(abc, listening(busy, "b")), "offered to b"},
		{"its model works, and another one came just now", append(abc, listening(busy, "b"), waited("c")), "offered to b"},
		{"it listens and waits", append(abc, listening(ready, "b"), waiting("b")), "reserved for b"},
		{"it listens and waited just now", append(abc, listening(ready, "b"), waited("b")), "offered to b"},
		{"it has hooks only", append(abc, listening(hooks, "b")), "kept for b"},
		{"it does not answer", append(abc, listening(unheard, "b")), "kept for b"},
		{"it is deaf, and another one listens", append(abc, listening(ready, "c")), "offered to c"},
		{"it was called often lately, and another one listens", append(abc, listening(ready, "b", "c"), spent("b")), "offered to c"},
		{"it does not answer, and another one listens", append(abc, listening(unheard, "b"), listening(ready, "c")), "offered to c"},
		{"it is deaf, and the other does not answer", append(abc, listening(unheard, "c")), "kept for b"},
		{"it is deaf, one waits and one listens", steps{members("a", "b", "c", "d"), held("a"), later(settled), waiting("c"), listening(ready, "d")}, "reserved for c"},
		{"it waited just now, and another one listens", append(abc, waited("b"), listening(ready, "c")), "reserved for b"},
		{"it wants it and cannot be called, and another one listens", append(abc, wants("b"), listening(ready, "c")), "offered to c"},
		{"it wants it and did not answer, and another one listens", append(abc, wants("b"), listening(unheard, "b"), listening(ready, "c")), "reserved for b"},
		{"it wants it and nothing listens", append(abc, wants("b")), "reserved for b"},
		{"it is gone", append(abc, listening(ready, "b", "c"), gone("b")), "offered to c"},
		{"its process has ended just after a wait, and the model of the other works", append(abc, waited("b"), dropped("b"), listening(busy, "c")), "offered to c"},
		{"an observer listens", append(abc, observers("h"), listening(ready, "h")), "kept for b"},
		{"switched off", append(abc, off, listening(ready, "b", "c")), "kept for b"},
		{"switched off, just waited", append(abc, off, listening(ready, "b"), waited("b")), "reserved for b"},
		{"nobody else is there", steps{members("a"), held("a"), listening(ready, "a")}, "open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, slices.Clone(c.steps)...)
			got := w.releases()
			if w.state.Pending.Listens {
				got = strings.Replace(got, "kept for", "offered to", 1)
			}
			equal(t, "release", got, c.want)
		})
	}
	w := room(t, append(abc, listening(ready, "b"))...)
	equal(t, "an assignment", w.assigns("b"), "reserved for b")
}

// TestOfferedTurn: who may claim a turn that is offered to b, which listens.
func TestOfferedTurn(t *testing.T) {
	offered := func(more ...step) steps {
		return append(steps{members("a", "b", "c"), held("a"), later(settled), listening(ready, "b"), released("kept for b")}, more...)
	}
	const mine, wait = "your_turn sequence", "not_yet idle"
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		want  string
		next  time.Duration // of c
	}{
		{"b at once", offered(), "b", mine, 0},
		{"c has to wait", offered(later(grace)), "c", wait, wakeGrace - grace},
		{"c, at the end", offered(later(wakeGrace - ms)), "c", wait, ms},
		{"c, after the end", offered(later(wakeGrace)), "c", mine, 0},
		{"b, late", offered(later(time.Hour)), "b", mine, 0},
		{"c while b has not noticed yet", offered(notified(false, "b")), "c", wait, turn.UnheardAfter},
		{"c when b did not notice", offered(later(turn.UnheardAfter), deaf("b")), "c", mine, 0},
		{"c when nothing listens for b any more", offered(later(time.Second), listening(hooks, "b")), "c", mine, 0},
		{"c when b is about to claim", offered(waiting("b"), listening(hooks, "b")), "c", wait, wakeGrace},
		{"c when b has left", offered(left("b")), "c", mine, 0},
		{"the author", offered(later(grace)), "a", wait, wakeGrace - grace},
		{"the author, b being deaf", offered(later(grace), deaf("b")), "a", wait, 0},
		{"the author alone", offered(gone("b", "c")), "a", mine, 0},
		{"the author, at its time", offered(later(graces)), "a", mine, 0},
		{"the author, at its time, while b has longer", offered(policy(func(p *turn.Policy) { p.WakeGrace = time.Hour.Milliseconds() }), later(graces)), "a", wait, 0},
		{"c, switched off since", offered(policy(func(p *turn.Policy) { p.WakeGrace = 0 })), "c", mine, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			if c.next > 0 {
				equal(t, "next", w.state.NextDeadline(w.facts(), "c"), c.next)
			}
			equal(t, "try", w.tries(c.who), c.want)
		})
	}
	w := room(t, offered()...)
	equal(t, "parking", w.parks("b"), mine)
	equal(t, "watched", words(room(t, offered()...).state.WatchedBy("c")), "[b]")
}

// TestOffer: who is notified of a turn that is free, and when to look again.
func TestOffer(t *testing.T) {
	offered := func(more ...step) steps {
		return append(steps{members("a", "b", "c", "d"), held("a"), later(settled), listening(ready, "b", "c"), released("kept for b"), notified(true, "b")}, more...)
	}
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"nobody listens", steps{members("a", "b"), held("a"), later(settled), released("kept for b")}, " 0s"},
		{"the preferred one was notified", offered(), " 45s"},
		{"it has not noticed yet", offered(notified(false, "b"), later(0)), " 5s"},
		{"it did not notice", offered(later(turn.UnheardAfter), deaf("b")), "c 5s"},
		{"nor is the next one called, which was often lately", offered(spent("c"), later(turn.UnheardAfter), deaf("b")), " 0s"},
		{"the next one was notified", offered(later(turn.UnheardAfter), deaf("b"), notified(true, "c"), later(time.Second)), " 44s"},
		{"it was notified of something before", offered(notified(true, "c"), later(turn.UnheardAfter), deaf("b")), "c 5s"},
		{"the preferred one lets its time pass", offered(later(wakeGrace)), "c 5s"},
		{"so does the next one", offered(later(wakeGrace), notified(true, "c"), later(wakeGrace)), " 0s"},
		{"neither notices", offered(later(turn.UnheardAfter), deaf("b"), notified(false, "c"), later(turn.UnheardAfter), deaf("c")), " 0s"},
		{"the turn was taken", offered(later(wakeGrace), held("d")), " 0s"},
		{"the preferred one has left", offered(left("b")), "c 5s"},
		{"the room has ended", offered(left("d"), left("c"), left("b"), left("a")), " 0s"},
		{"it is reserved", append(offered(later(wakeGrace), held("d"), waiting("b")), released("reserved for b")), " 0s"},
		{"the fairest is deaf, later one listens", steps{members("a", "b", "c"), held("a"), later(settled), released("kept for b"), listening(ready, "c")}, " 10s"},
		{"and is notified after the grace", steps{members("a", "b", "c"), held("a"), later(settled), released("kept for b"), listening(ready, "c"), later(grace)}, "c 5s"},
		{"not the author", steps{members("a", "b"), held("a"), later(settled), listening(ready, "a"), released("kept for b"), later(grace)}, " 0s"},
		{"switched off since", offered(policy(func(p *turn.Policy) { p.WakeGrace = 0 }), later(wakeGrace)), " 0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := room(t, c.steps...).offer()
			equal(t, "offer", fmt.Sprint(o.Notify, " ", o.Again), c.want)
		})
	}
}

func (w *world) offer() turn.Offer { return w.state.Offer(w.facts()) }

// TestOfferEnds: a guardian that does what Offer says ends in time, notifies each listener
// once, and in the order of fairness. Meanwhile a member that waits gets the turn no later
// than after the wake grace, and once it is over anybody does.
func TestOfferEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		ids := []string{"b", "c", "d", "e"}[:rapid.IntRange(1, 4).Draw(t, "members")]
		members(append([]string{"a"}, ids...)...)(w)
		held("a")(w)
		w.later(settled)
		hears := map[string]bool{}
		var listeners []string
		for _, id := range ids {
			if rapid.Bool().Draw(t, id+" listens") {
				listening(ready, id)(w)
				hears[id] = rapid.Bool().Draw(t, id+" hears")
				listeners = append(listeners, id)
			}
		}
		notify := func(id string) {
			h := w.hears[id]
			if h.How == "" {
				return
			}
			if h.Notified = w.wall; !hears[id] {
				h.UnheardIn = turn.UnheardAfter
			}
			w.hears[id] = h
		}
		w.releases()
		first := w.state.Pending.Preferred
		notify(first)
		told := []string{}
		if slices.Contains(listeners, first) {
			told = append(told, first)
		} else if len(listeners) > 0 {
			t.Fatalf("%q hears nothing, and is the first of %v", first, listeners)
		}
		waiter := "w"
		w.join(waiter)
		for range 100 {
			o := w.offer()
			if o.Notify != "" {
				told = append(told, o.Notify)
				notify(o.Notify)
			}
			if w.wall.Sub(w.state.Pending.At.Wall.Time) >= wakeGrace {
				if got := w.asks(waiter); got != "your_turn sequence" {
					t.Fatalf("%s is told %s", waiter, got)
				}
			}
			if o.Again == 0 {
				break
			}
			w.later(o.Again)
			for id, h := range w.hears {
				if h.UnheardIn > 0 && w.wall.Sub(h.Notified) >= turn.UnheardAfter {
					h.Unheard, h.UnheardIn = true, 0
					w.hears[id] = h
				}
			}
		}
		if o := w.offer(); o != (turn.Offer{}) {
			t.Fatalf("it does not end: %+v", o)
		}
		if !slices.Equal(told, listeners) {
			t.Fatalf("told %v, of %v", told, listeners)
		}
		if most := time.Duration(len(listeners)+1) * wakeGrace; w.wall.Sub(began) > settled+most {
			t.Fatalf("it took %v", w.wall.Sub(began))
		}
		if len(listeners) > 0 {
			if got := w.asks(waiter); got != "your_turn sequence" {
				t.Fatalf("in the end %s is told %s", waiter, got)
			}
		}
	})
}

// asks returns what a try would answer, without trying.
func (w *world) asks(id string) string {
	_, res, err := turn.Try(w.state, w.facts(), turn.TryRequest{Agent: id, Lease: "none"})
	return answer(res, err)
}

// TestWithoutListeners: where nothing listens, the wake grace and what is known of hooks
// change nothing.
func TestWithoutListeners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain, other := newWorld(t), newWorld(t)
		other.policy.WakeGrace = rapid.SampledFrom([]int64{0, 1, 1_000_000}).Draw(t, "wake grace")
		ids := []string{"a", "b", "c"}
		for _, w := range []*world{plain, other} {
			members(ids...)(w)
		}
		switch rapid.IntRange(0, 2).Draw(t, "known") {
		case 0:
			listening(hooks, ids...)(other)
		case 1:
			listening(turn.Hearing{Busy: true, Unheard: true}, "b")(other)
		case 2:
			other.policy.WakeGrace = 0
			policy(func(p *turn.Policy) { p.WakeGrace = 0 })(other)
			listening(ready, ids...)(other)
		}
		both := func(what string, do func(*world) string) {
			if one, two := do(plain), do(other); one != two {
				t.Fatalf("%s: %q without and %q with", what, one, two)
			}
		}
		who := func(t *rapid.T) string { return rapid.SampledFrom(ids).Draw(t, "who") }
		t.Repeat(map[string]func(*rapid.T){
			"try":   func(t *rapid.T) { id := who(t); both("try", func(w *world) string { return w.tries(id) }) },
			"take":  func(t *rapid.T) { id := who(t); both("take", func(w *world) string { return w.takes(id) }) },
			"waits": func(t *rapid.T) { id := who(t); waiting(id)(plain); waiting(id)(other) },
			"release": func(t *rapid.T) {
				if plain.state.Owner == "" {
					t.Skip()
				}
				both("release", (*world).releases)
			},
			"time": func(t *rapid.T) {
				d := rapid.SampledFrom([]time.Duration{ms, grace, wakeGrace, graces, claimed}).Draw(t, "time")
				plain.later(d)
				other.later(d)
			},
			"": func(t *rapid.T) {
				both("offer", func(w *world) string { return fmt.Sprint(w.offer()) })
				for _, id := range ids {
					both("next", func(w *world) string { return w.state.NextDeadline(w.facts(), id).String() })
				}
			},
		})
	})
}

// TestPolicyOfOlderRooms: a room of a program that did not know the wake grace has the
// usual one.
func TestPolicyOfOlderRooms(t *testing.T) {
	w := room(t, members("a"))
	e := w.events[0]
	e.Payload = []byte(strings.Replace(string(e.Payload), `,"wake_grace_ms":45000`, "", 1))
	s := turn.New(roomID)
	if err := s.Apply(&e); err != nil || s.Policy != turn.DefaultPolicy() {
		t.Errorf("%+v, %v", s.Policy, err)
	}
}
