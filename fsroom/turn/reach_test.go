package turn_test

import (
	"strings"
	"testing"

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
	return each(ids, func(p *turn.Presence) { p.Waiting, p.Inbox = true, true })
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
		{"gone", steps{ab, listening(ready, "b"), gone("b")}, turn.ReachNone, "nobody!", "nobody!"},
		{"an observer", steps{members("a"), observers("b"), listening(ready, "b")}, turn.ReachReady, "listening", "next_prompt!"},
		{"left", steps{ab, listening(ready, "b"), left("b")}, turn.ReachNone, "nobody!", "nobody!"},
		{"the soonest of several", steps{members("a", "b", "c"), listening(busy, "c")}, turn.ReachNone, "nobody!", "next_tool_call"},
		{"not the author", steps{ab, listening(ready, "a")}, turn.ReachNone, "nobody!", "nobody!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
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
	_, hint := room(t, ab).state.Delivery(w.facts(), &event.Event{Type: turn.MessageSent, From: "a", To: "b"})
	if strings.Contains(hint, "%") {
		t.Error(hint)
	}
}
