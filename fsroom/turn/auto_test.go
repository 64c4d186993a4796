package turn_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// endsAuto: a hook ends the turn of its owner, which has or has not changed something.
func endsAuto(unchanged bool) step {
	return func(w *world) {
		events, _, err := turn.Release(w.state, w.facts(), turn.ReleaseRequest{Fence: w.fence(), Handoff: []byte(`{"status":"auto","next_action":"none","auto":true}`), Auto: true, Unchanged: unchanged})
		w.commit(events, err)
	}
}

func wants(ids ...string) step { return each(ids, func(p *present) { p.Wants = true }) }

// TestAutoRelease: a turn that a hook ends goes to nobody who does not want it, and one that
// changed nothing hands on the handoff that came with it.
func TestAutoRelease(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps steps
		by    string
		want  string
		from  string // the author of the handoff
	}{
		{"nobody wants it", steps{members("a", "b"), held("a"), later(time.Hour), endsAuto(false)}, "b", "your_turn sequence", "a"},
		{"its author again, at once", steps{members("a", "b"), held("a"), later(time.Hour), endsAuto(false)}, "a", "your_turn sequence", "a"},
		{"nothing changed", steps{members("a", "b"), held("a"), later(time.Hour), endsAuto(true)}, "b", "your_turn open_claim", ""},
		{"and its author again", steps{members("a", "b"), held("a"), later(time.Hour), endsAuto(true)}, "a", "your_turn open_claim", ""},
		{"one wants it", steps{members("a", "b", "c"), held("a"), later(time.Hour), wants("c"), endsAuto(true)}, "c", "your_turn open_claim", ""},
		{"it is reserved for that one", steps{members("a", "b", "c"), held("a"), later(time.Hour), wants("c"), endsAuto(true)}, "b", "not_yet ", ""},
		{"two want it and one listens", steps{members("a", "b", "c"), held("a"), later(time.Hour), wants("b", "c"), listening(ready, "c"), endsAuto(true)}, "c", "your_turn open_claim", ""},
		{"the handoff before is handed on", steps{members("a", "b", "c"), held("a"), later(time.Hour), released("kept for b"), held("b"), endsAuto(true)}, "c", "your_turn sequence", "a"},
		{"also to who wants it", steps{members("a", "b", "c"), held("a"), later(time.Hour), released("kept for b"), held("b"), wants("c"), endsAuto(true)}, "c", "your_turn sequence", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			for _, m := range w.state.Members {
				if n := w.newsOf(m.AgentID); n.Offer != 0 && !w.presence(m.AgentID).Wants {
					t.Errorf("%s is told %+v", m.AgentID, n)
				}
			}
			if w.presence(c.by).Wants && !w.newsOf(c.by).Urgent() {
				t.Errorf("%s, which was told that it is called, may be left out", c.by)
			}
			res, err := w.tryWith(turn.TryRequest{Agent: c.by, Lease: w.newID("lease")})
			if got := res.Status + " " + res.Reason; err != nil || got != c.want || res.From != c.from || (res.HandoffSeq != 0) != (c.from != "") {
				t.Errorf("%s from %q (event %d), %v; want %s from %q", got, res.From, res.HandoffSeq, err, c.want, c.from)
			}
			w.check()
		})
	}
}

// A hook takes a turn that is reserved for one that cannot be reached, but not for the author of its handoff, unless that was a
// hook and nobody wants the turn any more.
func TestAutoTakesFromUnreachable(t *testing.T) {
	for _, c := range []struct {
		by, want string
		gone     bool
		ends     step
		hears    turn.Hearing // of b
	}{
		{"a", "takeover_ineligible", false, endsAuto(false), turn.Hearing{}}, {"c", "", false, endsAuto(false), turn.Hearing{}},
		{"a", "", true, endsAuto(false), turn.Hearing{}}, {"a", "takeover_ineligible", true, released("reserved for b"), turn.Hearing{}},
		{"c", "", false, endsAuto(false), turn.Hearing{Hooks: true}}, {"c", "", false, endsAuto(false), turn.Hearing{How: "x", Unheard: true}},
		{"c", "takeover_not_available", false, endsAuto(false), ready},
	} {
		w := room(t, members("a", "b", "c"), held("a"), later(time.Hour), wants("b"), c.ends)
		w.hears["b"] = c.hears
		if w.state.ReservedFor != "b" {
			t.Fatalf("reserved for %q", w.state.ReservedFor)
		}
		w.presence("b").Wants = !c.gone
		_, _, err := turn.Take(w.state, w.facts(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: c.by, Lease: w.newID("lease"), Auto: true}, Reason: "auto: b cannot be reached"})
		if got := string(code.Of(err)); (got == "") != (c.want == "") {
			t.Errorf("%s: %v", c.by, err)
		}
	}
}

// TestHolderIsNotCalled: whose lease has run out is not called for its own turn, but another window of its session is, as
// are others that want it.
func TestHolderIsNotCalled(t *testing.T) {
	w := room(t, members("a", "b"), held("a"), later(100*time.Hour), wants("a", "b"))
	otherWindow := w.facts()
	otherWindow.Window = 7
	if w.state.Calls(w.facts(), "a") || !w.state.Calls(otherWindow, "a") || !w.state.Calls(w.facts(), "b") {
		t.Error("it is called, or who wants the turn is not")
	}
}

// TestAutoHandoff: the handoff of a turn that a hook ends has facts only, and what is not
// surely unchanged counts as changed.
func TestAutoHandoff(t *testing.T) {
	for payload, want := range map[string]string{
		``:                             `{"status":"auto: what has changed was not recorded","next_action":"see tt diff","auto":true} false`,
		`{"files":0,"unknown":"late"}`: `{"status":"auto: what has changed was not recorded","next_action":"see tt diff","auto":true} false`,
		`{"files":0}`:                  `{"status":"auto: nothing changed","next_action":"none","auto":true} true`,
		`{"files":0,"unsure":["a"]}`:   `{"status":"auto: changed 1 file","next_action":"see tt diff","artifacts":[{"path":"a"}],"auto":true} false`,
		`{"files":1,"paths":[{"path":"a"}],"unsure":["a","b"]}`:                         `{"status":"auto: changed 2 files","next_action":"see tt diff","artifacts":[{"path":"a"},{"path":"b"}],"auto":true} false`,
		`{"files":0,"head":{"commits":0}}`:                                              `{"status":"auto: changed 0 files, 0 commits","next_action":"see tt diff","auto":true} false`,
		`{"files":2,"paths":[{"path":"a"},{"path":"b"}],"head":{"commits":1,"to":"x"}}`: `{"status":"auto: changed 2 files, 1 commit","next_action":"see tt diff","artifacts":[{"path":"a"},{"path":"b"}],"auto":true} false`,
	} {
		var events []event.Event
		if payload != "" {
			events = append(events, event.Event{Type: turn.TreeChanged, Payload: []byte(payload)})
		}
		handoff, unchanged := turn.AutoHandoff(events, "")
		equal(t, payload, words(string(handoff), unchanged), want)
		if _, err := turn.CheckHandoff(handoff); err != nil {
			t.Errorf("%s: %v", payload, err)
		}
	}
}
