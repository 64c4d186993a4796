package turn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"pgregory.net/rapid"
)

// wokenFor: the agent takes the turn that it was woken for, and keeps it for a while.
func wokenFor(id string, lasts time.Duration) step {
	return func(w *world) {
		res, err := w.tryWith(turn.TryRequest{Agent: id, Lease: w.newID("lease"), Woken: true})
		if err != nil || res.Status != turn.YourTurn {
			w.t.Fatalf("%s cannot claim: %v %v", id, res.Status, err)
		}
		w.later(lasts)
	}
}

// person: one joins.
func person(id string) step {
	return func(w *world) {
		w.seen(id)
		w.commit(turn.Join(w.state, turn.JoinRequest{Agent: id, SessionKind: "human_cli", CanonicalPath: path, WorkspaceRoot: "/work", Policy: w.policy}), nil)
	}
}

// TestRest: a turn that goes round without use comes to rest, and nothing else does.
func TestRest(t *testing.T) {
	begins := func(more ...step) steps {
		return append(steps{members("a", "b", "c"), held("a"), later(settled), listening(ready, "a", "b", "c")}, more...)
	}
	const short = 10 * time.Second
	round := begins(released("kept for b"), wokenFor("b", short), released("kept for c"), wokenFor("c", short), released("kept for a"), wokenFor("a", short))
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"two short turns of three members", round[:8], "kept for a"},
		{"three", round, "open"},
		{"one of them was not woken", append(round[:8:8], released("kept for a"), held("a")), "kept for b"},
		{"the last one was not short", append(round[:9:9], wokenFor("a", time.Minute)), "kept for b"},
		{"another member has joined", append(round[:len(round):len(round)], members("d")), "reserved for d"},
		{"one waits", append(round[:len(round):len(round)], waiting("b")), "reserved for b"},
		{"the next one has no listener", append(round[:len(round):len(round)], listening(hooks, "b", "c"), later(settled)), "kept for b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			equal(t, "release", w.releases(), c.want)
			w.check()
		})
	}

	w := room(t, round...)
	res, err := w.release(w.fence())
	if err != nil || res.Recipient != nil || res.Offered || !strings.Contains(res.Hint, "the last 3 turns") {
		t.Errorf("%+v, %v", res, err)
	}
	if !w.state.AtRest() || w.offer() != (turn.Offer{}) {
		t.Errorf("the turn is not at rest: %+v", w.state)
	}
	for _, id := range []string{"a", "b", "c"} {
		if n := w.newsOf(id); !n.IsZero() {
			t.Errorf("%s is told %+v", id, n)
		}
	}
	if next := strings.Join(w.state.Outlook(w.facts()), "; "); !strings.Contains(next, "nobody is woken for this one") || !strings.Contains(next, `"tt wait" gets the turn`) {
		t.Errorf("why says %s", next)
	}
	equal(t, "who asks", w.tries("b"), "your_turn sequence")
	w.later(short)
	equal(t, "its release", w.releases(), "kept for c")

	w = room(t, round...)
	equal(t, "an assignment", w.assigns("b"), "reserved for b")
	if n := w.newsOf("b"); n.Offer == 0 || n.Plain || !n.Urgent() {
		t.Errorf("b is told %+v of an assignment", n)
	}
	w = room(t, append(steps{person("a")}, round...)...)
	equal(t, "the release of a person", w.releases(), "kept for b")
	if n := w.newsOf("b"); n.Plain || !n.Urgent() {
		t.Errorf("b is told %+v of a person's release", n)
	}
	w = room(t, begins(released("kept for b"))...)
	if n := w.newsOf("b"); !n.Plain || n.Urgent() {
		t.Errorf("b is told %+v of an agent's release", n)
	}
	w = room(t, round...)
	events, _, err := turn.Release(w.state, w.facts(), turn.ReleaseRequest{Fence: w.fence(), Changed: []event.Event{{Type: turn.TreeChanged, Payload: []byte(`{"span":"turn","files":1}`)}}})
	w.commit(events, err)
	equal(t, "a turn that has changed something", w.next(nil), "kept for b")
	w = room(t, append(round, released("open"), changed(w.state.Turn, "a"))...)
	equal(t, "short turns, when a change is known later", w.state.ShortTurns, int64(0))
	w = room(t, begins(released("kept for b"), wokenFor("b", short), left("b"))...)
	if w.state.ShortTurns != 0 {
		t.Errorf("%d short turns after the holder has left", w.state.ShortTurns)
	}
}

func (w *world) newsOf(id string) (n turn.News) {
	n.AddOffer(w.state, w.facts(), id, 0)
	return n
}

// TestRestComes: agents that do what they are woken for, and have no use for the turn, are
// woken no more often than there are members, whatever they are.
func TestRestComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		ids := []string{"a", "b", "c", "d", "e"}[:rapid.IntRange(2, 5).Draw(t, "members")]
		members(ids...)(w)
		held("a")(w)
		w.later(settled)
		for _, id := range ids {
			listening(rapid.SampledFrom([]turn.Hearing{ready, busy}).Draw(t, id), id)(w)
		}
		w.releases()
		wakes := 0
		for ; !w.state.AtRest(); wakes++ {
			if wakes > len(ids) {
				t.Fatalf("%d agents were woken %d times", len(ids), wakes)
			}
			wokenFor(w.state.Pending.Preferred, rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute - ms}).Draw(t, "lasts"))(w)
			w.releases()
		}
		if wakes != len(ids) {
			t.Fatalf("rest after %d wakes of %d agents", wakes, len(ids))
		}
		w.check()
	})
}

// TestReleaseToTheReady: who could begin at once goes before one that is at work.
func TestReleaseToTheReady(t *testing.T) {
	abc := steps{members("a", "b", "c"), held("a"), later(settled), listening(busy, "b")}
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"nobody else hears", abc, "kept for b"},
		{"the other one is busy, too", append(abc, listening(busy, "c")), "kept for b"},
		{"the other one is idle", append(abc, listening(ready, "c")), "kept for c"},
		{"the other one waits", append(abc, waiting("c")), "reserved for c"},
		{"both wait", append(abc, waiting("b", "c")), "reserved for b"},
		{"the other one does not answer", append(abc, listening(unheard, "c")), "kept for b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal(t, "release", room(t, c.steps...).releases(), c.want)
		})
	}
}

// TestOutlookOfAnotherHost: what the guardian of a holder on another host does is not told, since nobody sees it.
func TestOutlookOfAnotherHost(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	f := w.facts()
	if next := w.state.Outlook(f)[0]; !strings.Contains(next, "its guardian renews the lease") {
		t.Error(next)
	}
	f.Host = "here"
	if next := w.state.Outlook(f)[0]; strings.Contains(next, "renews") || !strings.Contains(next, "as far as this host knows") {
		t.Error(next)
	}
}
