package turn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// listening says how agents hear of news: listening(turn.Hearing{How: "exec"}, "b").
func listening(h turn.Hearing, ids ...string) step {
	return func(w *world) {
		for _, id := range ids {
			w.hears[id] = h
		}
	}
}

func inbox(ids ...string) step {
	return each(ids, func(p *present) { p.Waiting, p.Inbox = true, true })
}

var (
	ready   = turn.Hearing{How: "exec", Hooks: true}
	busy    = turn.Hearing{How: "exec", Hooks: true, Busy: true}
	unheard = turn.Hearing{How: "exec", Hooks: true, Unheard: true}
	hooks   = turn.Hearing{Hooks: true}
)

// TestReach: how a member is reached, when it hears of a message to it and of one to the
// room, and whether the sender gets a hint.
func TestReach(t *testing.T) {
	ab := members("a", "b")
	for _, c := range []struct {
		name   string
		steps  steps
		reach  string
		direct string
		room   string
	}{
		{"nothing", steps{ab}, turn.ReachNone, "nobody!", "nobody!"},
		{"waits", steps{ab, waiting("b")}, turn.ReachWaiting, "next_prompt!", "next_prompt!"},
		{"waits for its inbox", steps{ab, inbox("b")}, turn.ReachWaiting, "waiting", "waiting"},
		{"waits and listens", steps{ab, waiting("b"), listening(busy, "b")}, turn.ReachWaiting, "next_prompt!", "next_prompt!"},
		{"listens", steps{ab, listening(ready, "b")}, turn.ReachReady, "listening", "next_prompt!"},
		{"its model works", steps{ab, listening(busy, "b")}, turn.ReachBusy, "next_tool_call", "next_tool_call"},
		{"does not answer", steps{ab, listening(unheard, "b")}, turn.ReachUnheard, "nobody!", "nobody!"},
		{"hooks only", steps{ab, listening(hooks, "b")}, turn.ReachNextPrompt, "next_prompt!", "next_prompt!"},
		{"is stopped", steps{ab, listening(ready, "b"), stopped("b")}, turn.ReachNextPrompt, "next_prompt!", "next_prompt!"},
		{"gone", steps{ab, listening(ready, "b"), gone("b")}, turn.ReachNone, "nobody!", "nobody!"},
		{"an observer", steps{members("a"), observers("b"), listening(ready, "b")}, turn.ReachReady, "listening", "next_prompt!"},
		{"left", steps{ab, listening(ready, "b"), left("b")}, turn.ReachNone, "nobody!", "nobody!"},
		{"the soonest of several", steps{members("a", "b", "c"), listening(busy, "c")}, turn.ReachNone, "nobody!", "next_tool_call"},
		{"not the author", steps{ab, listening(ready, "a")}, turn.ReachNone, "nobody!", "nobody!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			w.later(6 * time.Minute) // nobody is at work any more
			equal(t, "reach", w.state.Reach(w.facts(), "b"), c.reach)
			for to, want := range map[string]string{"b": c.direct, "": c.room} {
				got, hint := w.state.Delivery(w.facts(), &event.Event{Type: turn.MessageSent, From: "a", To: to})
				if hint != "" {
					got += "!"
				}
				equal(t, "delivery to "+to, got, want)
			}
		})
	}
	w := room(t, ab, listening(ready, "b"))
	urgent := event.Event{Type: turn.MessageSent, From: "a", Payload: []byte(`{"body":"x","delivery_hint":"interrupt"}`)}
	got, _ := w.state.Delivery(w.facts(), &urgent)
	equal(t, "an urgent message to the room", got, "listening")
	_, hint := room(t, ab, later(time.Hour)).state.Delivery(w.facts(), &event.Event{Type: turn.MessageSent, From: "a", To: "b"})
	if strings.Contains(hint, "%") {
		t.Error(hint)
	}
}

// TestNextCommand: an agent that nothing tells hears with its next command, if it has run
// one lately or holds the turn and lives; there is no advice then. Persons are not told to
// ask a person.
func TestNextCommand(t *testing.T) {
	send := func(w *world, from, to string) (delivery, hint string) {
		return w.state.Delivery(w.facts(), &event.Event{Type: turn.MessageSent, From: from, To: to})
	}
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"just seen", steps{members("a", "b")}, "next_command"},
		{"five minutes ago", steps{members("a", "b"), later(5 * time.Minute)}, "next_command"},
		{"longer ago", steps{members("a", "b"), later(5*time.Minute + time.Second)}, "nobody!"},
		{"holds the turn, alive", steps{members("a", "b"), held("b"), alive("b"), later(time.Hour)}, "next_command"},
		{"holds the turn, nothing known", steps{members("a", "b"), held("b"), later(time.Hour)}, "nobody!"},
		{"alive, without the turn", steps{members("a", "b"), alive("b"), later(time.Hour)}, "nobody!"},
		{"its process has ended", steps{members("a", "b"), dropped("b")}, "nobody!"},
		{"to the room", steps{members("a", "b")}, "next_command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, hint := send(room(t, c.steps...), "a", "b")
			if hint != "" {
				got += "!"
			}
			equal(t, "delivery", got, c.want)
		})
	}
	w := room(t, members("a", "human:alex", "b"), later(time.Hour))
	if _, hint := send(w, "human:alex", "b"); strings.Contains(hint, "person") {
		t.Errorf("a person is told: %s", hint)
	}
	if _, hint := send(w, "a", "human:alex"); strings.Contains(hint, "wake") {
		t.Errorf("of a person: %s", hint)
	}
}

// TestReservedForNobodyWhoHears: of a turn that is reserved for a member that nothing tells,
// it is said how a person gets it before the time is over.
func TestReservedForNobodyWhoHears(t *testing.T) {
	for _, c := range []struct {
		h    turn.Hearing
		want bool
	}{{turn.Hearing{}, true}, {unheard, true}, {ready, false}, {busy, false}, {hooks, false}} {
		w := room(t, members("a", "b"), listening(c.h, "b"), held("a"), assigned("b"))
		next := strings.Join(w.state.Outlook(w.facts()), "\n")
		if strings.Contains(next, "tt take --operator-requested") != c.want {
			t.Errorf("%+v: %s", c.h, next)
		}
	}
}

// TestOfferedToOneThatHasEnded: it is said who is told next by itself.
func TestOfferedToOneThatHasEnded(t *testing.T) {
	w := room(t, members("a", "b", "c"), held("a"), later(settled), listening(ready, "b", "c"), released("kept for b"))
	next := func() string { return strings.Join(w.state.Outlook(w.facts()), "; ") }
	if said := next(); !strings.Contains(said, "only b may claim the turn") {
		t.Error(said)
	}
	listening(unheard, "b")(w)
	if said := next(); !strings.Contains(said, "c is told that it is offered to it: it is told at once") {
		t.Error(said)
	}
	listening(unheard, "c")(w)
	if said := next(); strings.Contains(said, "c is told") {
		t.Error(said)
	}
}

// TestWords: where the stick is, for one who asks.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		steps  steps
		me, is string
	}{
		{steps{members("a")}, "a", "free, yours to take"},
		{steps{members("a", "b"), held("a")}, "b", "held by a for 1s"},
		{steps{members("a", "b"), held("a"), later(12 * time.Second)}, "b", "held by a for 12s"},
		{steps{members("a", "b"), held("a"), later(12 * time.Second)}, "a", "yours, held for 12s"},
		{steps{members("a", "b"), held("a"), later(time.Hour)}, "b", "held by a, whose lease ran out at 03:49:05 UTC: it may be taken over"},
		{steps{members("a", "b"), held("a"), gone("a")}, "b", "held by a, which is gone: it may be taken over"},
		{steps{members("a", "b"), held("a"), assigned("b")}, "b", "reserved for you, yours to take"},
		{steps{members("a", "b"), held("a"), assigned("b")}, "a", "reserved for b until 03:24:05 UTC, then takeover"},
		{steps{members("a", "b"), held("a"), assigned("b"), later(time.Hour)}, "a", "reserved for b, which did not come by 03:24:05 UTC: it may be taken over"},
		{steps{members("a", "b"), held("a"), assigned("b"), gone("b")}, "a", "reserved for b, which is gone: it may be taken over"},
		{steps{members("a", "b", "c"), held("a"), assigned("b")}, "c", "reserved for b until 03:24:05 UTC, then takeover"},
		{steps{members("a", "b", "c"), held("a"), assigned("b")}, "a", "reserved for b until 03:24:05 UTC, then takeover by another member"},
		{steps{members("human:a", "b", "c"), held("human:a"), assigned("b")}, "human:a", "reserved for b until 03:24:05 UTC, then takeover"},
		{steps{members("a", "b", "c"), held("a"), assigned("b"), gone("b")}, "a", "reserved for b, which is gone: it may be taken over by another member"},
		{steps{members("a", "b"), held("a"), later(time.Minute), func(w *world) { w.releases() }}, "a", "offered to b until 03:05:15 UTC; yours to take again from 03:06:05 UTC"},
		{steps{members("a", "b"), held("a"), later(time.Minute), func(w *world) { w.releases() }}, "b", "offered to you until 03:05:15 UTC, yours to take"},
		{steps{members("a", "b"), held("a"), later(time.Minute), func(w *world) { w.releases() }, later(20 * time.Second)}, "a", "free, for whoever else waits; yours to take again from 03:06:05 UTC"},
		{steps{members("a", "b"), held("a"), later(time.Minute), func(w *world) { w.releases() }, later(2 * time.Minute)}, "a", "free, yours to take"},
		{steps{members("a"), left("a")}, "a", "the room has ended"},
	} {
		w := room(t, c.steps...)
		equal(t, "words", w.state.Words(w.facts(), c.me), c.is)
	}
}
