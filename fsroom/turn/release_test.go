package turn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

func TestFairness(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"alone", steps{members("a"), held("a")}, "open"},
		{"76 the only other one", steps{members("a", "b"), held("a")}, "reserved for b"},
		{"77 who never held it", steps{members("one", "three", "two"), held("one", "two")}, "reserved for three"},
		{"nobody held it: behind the releaser", steps{members("a", "b", "c"), held("b")}, "reserved for c"},
		{"nobody held it: going round", steps{members("a", "b", "c"), held("c")}, "reserved for a"},
		{"nobody held it: behind a releaser in the middle of gaps",
			steps{members("a", "b", "c", "d", "e"), left("b"), left("d"), held("c")}, "reserved for e"},
		{"nobody held it: going round gaps",
			steps{members("a", "b", "c", "d", "e"), left("a"), left("c"), held("e")}, "reserved for b"},
		{"never held comes before the order of joining", steps{members("a", "b", "c"), held("b", "a")}, "reserved for c"},
		{"all held it: longest ago", steps{members("a", "b", "c"), held("c", "a", "b")}, "reserved for c"},
		{"all held it: longest ago, going round", steps{members("a", "b", "c"), held("b", "a", "c")}, "reserved for b"},
		{"a takeover counts as holding", steps{members("a", "b", "c"), held("a"), taken("b"), assigned("a"), held("a")}, "reserved for c"},
		{"a takeover counts as holding, later", steps{members("a", "b", "c"), held("b", "c"), taken("b"), assigned("a"), held("a")}, "reserved for c"},
		{"a reservation that was not claimed does not count", steps{members("a", "b", "c"), held("a"), assigned("b"), taken("c")}, "reserved for b"},
		{"who left and came back has held it", steps{members("a", "b", "d"), held("b", "d"), left("b"), members("b")}, "reserved for a"},
		{"who was kicked and came back has held it", steps{members("a", "b", "c"), held("c", "b", "a"), kicked("a", "b"), members("b")}, "reserved for c"},
		{"not one that is gone", steps{members("a", "b", "c"), held("a"), gone("b")}, "reserved for c"},
		{"not one whose processes have ended", steps{members("a", "b", "c"), held("a"), dropped("b")}, "reserved for c"},
		{"not one whose processes have ended, although it never held it", steps{members("a", "b", "c"), held("c", "a"), dropped("b")}, "reserved for c"},
		{"one whose processes have ended, but that waits", steps{members("a", "b", "c"), held("a"), dropped("b"), waiting("b")}, "reserved for b"},
		{"one whose session may live on, if there is nobody else", steps{members("a", "b"), held("a"), dropped("b")}, "reserved for b"},
		{"not one that is long silent", steps{members("a", "b", "c"), held("a"), later(silent), seen("c")}, "kept for c"},
		{"nobody else is active", steps{members("a", "b"), held("a"), gone("b")}, "open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal(t, "release", room(t, c.steps...).releases(), c.want)
		})
	}
}

// TestRound: three agents that always wait take turns, whoever begins.
func TestRound(t *testing.T) {
	for _, first := range []string{"a", "b", "c"} {
		w := room(t, members("a", "b", "c"), waiting("a", "b", "c"), held(first))
		next := map[string]string{"a": "b", "b": "c", "c": "a"}
		for range 9 {
			owner := w.state.Owner
			w.later(time.Minute)
			equal(t, "release", w.releases(), "reserved for "+next[owner])
			held(next[owner])(w)
		}
	}
}

func TestAssign(t *testing.T) {
	three := steps{members("a", "codex:1=codex", "codex:2=codex", "claude:1=claude", "d"), held("a")}
	for _, c := range []struct {
		name   string
		steps  steps
		target string
		want   string
	}{
		{"by id", three, "codex:2", "reserved for codex:2"},
		{"by display name", three, "claude", "reserved for claude:1"},
		{"by an ambiguous name", three, "codex", "ambiguous_recipient"},
		{"by a name of which one is gone", append(three, gone("codex:1")), "codex", "reserved for codex:2"},
		{"90 next", three, turn.TargetNext, "reserved for codex:1"},
		{"next, though nobody is ready", append(three, later(time.Hour)), turn.TargetNext, "reserved for codex:1"},
		{"next, nobody else", steps{members("a"), held("a")}, turn.TargetNext, "unknown_member"},
		{"91 an unknown name", three, "gemini", "unknown_member"},
		{"no name", three, "", "unknown_member"},
		{"92 a stranger's id", three, "codex:3", "unknown_member"},
		{"92 one that is gone", append(three, gone("codex:1")), "codex:1", "unknown_member"},
		{"92 one that is long silent", append(three, later(silent)), "codex:1", "unknown_member"},
		{"a silent one by its display name", append(three, later(silent)), "claude", "unknown_member"},
		{"one that is long silent, but waits", append(three, waiting("codex:1"), later(silent)), "codex:1", "reserved for codex:1"},
		{"my own display name means the other one", steps{members("codex:1=codex", "codex:2=codex"), held("codex:1")}, "codex", "reserved for codex:2"},
		{"my own display name and nobody else's", steps{members("codex:1=codex", "d"), held("codex:1")}, "codex", "unknown_member"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			turnID, owner := w.state.Turn, w.state.Owner
			equal(t, "assign", w.assigns(c.target), c.want)
			equal(t, "turn", w.state.Turn, turnID)
			if w.state.ReservedFor == "" {
				equal(t, "owner", w.state.Owner, owner)
			}
		})
	}
}

// TestAssignToNobodyWhoHears: who wrote the handoff is told a way to have the turn again that is open to it.
func TestAssignToNobodyWhoHears(t *testing.T) {
	w := room(t, members("a", "b", "c"), held("a"))
	w.later(10 * time.Minute) // b has run no command since
	res, err := w.assign(w.fence(), "b")
	if err != nil || !strings.Contains(res.Hint, `and you if your user asks for it: "tt take --operator-requested --reason …"`) {
		t.Errorf("%q, %v", res.Hint, err)
	}
	w.later(time.Hour)
	if _, err := w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "a"}, Reason: "r"}); code.Of(err) != code.TakeoverIneligible {
		t.Errorf("without an operator: %v", err)
	}
	if _, err := w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "a"}, Reason: "r", Operator: true}); err != nil {
		t.Error(err)
	}
}

func TestAssignRefused(t *testing.T) {
	w := room(t, members("a", "codex:1=codex", "codex:2=codex"), held("a"))
	_, err := w.assign(w.fence(), "codex")
	equal(t, "candidates", mustJSON(detail(t, err, "candidates")), `["codex:1","codex:2"]`)
	_, err = w.assign(w.fence(), "gemini")
	equal(t, "92 to", detail(t, err, "to_agent_id"), any("gemini"))
	gone("codex:1")(w)
	_, err = w.assign(w.fence(), "codex:1")
	equal(t, "92 to", detail(t, err, "to_agent_id"), any("codex:1"))
}

// TestReleaseEvents: what release and assign write and answer.
func TestReleaseEvents(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	res, _ := w.release(w.fence())
	equal(t, "released", mustJSON(&res), `{"status":"released","room_id":"`+roomID+`","reserved_for":"b","event_seq":5,"recipient":{"agent_id":"b","reach":"none"}}`)
	e := w.events[4]
	equal(t, "event", e.Type+" "+e.From+" "+e.To+" "+string(e.Handoff), "release a b "+note)
	equal(t, "its turn", e.Turn, 1)

	held("b")(w)
	w.later(time.Minute)
	res, _ = w.release(w.fence())
	equal(t, "kept", mustJSON(&res), `{"status":"released","room_id":"`+roomID+`","offered_to":"a","event_seq":7,"recipient":{"agent_id":"a","reach":"none"}}`)
	equal(t, "nobody", w.events[6].To, "")

	held("a")(w)
	listening(ready, "b")(w)
	res, _ = w.assign(w.fence(), "b")
	equal(t, "passed", mustJSON(&res), `{"status":"passed","room_id":"`+roomID+`","reserved_for":"b","event_seq":9,"recipient":{"agent_id":"b","listening":"exec","reach":"ready"}}`)
	e = w.events[8]
	equal(t, "event", e.Type+" "+e.From+" "+e.To+" "+string(e.Handoff), "pass a b "+note)
	equal(t, "its turn", e.Turn, 3)
}

// TestFence: which agent may act on a turn, and what the others are answered.
func TestFence(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps steps
		fence func(turn.Fence) turn.Fence // made of the one that holds before the steps
		want  code.Code
		owner any
		state string
		turn  int64
	}{
		{"it holds", nil, nil, "", nil, "", 0},
		{"after the lease", steps{later(leased)}, nil, "", nil, "", 0},
		{"by a process that counts as gone", steps{gone("a")}, nil, "", nil, "", 0},
		{"86 another lease", nil, func(f turn.Fence) turn.Fence { f.Lease = "other"; return f }, code.StaleLease, "a", "owned", 1},
		{"no lease", nil, func(f turn.Fence) turn.Fence { f.Lease = ""; return f }, code.StaleLease, "a", "owned", 1},
		{"another agent with the lease", nil, func(f turn.Fence) turn.Fence { f.Agent = "b"; return f }, code.StaleLease, "a", "owned", 1},
		{"86 another turn", nil, func(f turn.Fence) turn.Fence { f.Turn--; return f }, code.TurnMismatch, "a", "owned", 1},
		{"a turn to come", nil, func(f turn.Fence) turn.Fence { f.Turn++; return f }, code.TurnMismatch, "a", "owned", 1},
		{"86 another turn and another lease", nil, func(f turn.Fence) turn.Fence { f.Turn--; f.Lease = "other"; return f }, code.TurnMismatch, "a", "owned", 1},
		{"a stranger", nil, func(f turn.Fence) turn.Fence { f.Agent = "x"; return f }, code.StaleLease, "a", "owned", 1},
		{"208 released already", steps{released("reserved for b")}, nil, code.StaleLease, nil, "reserved", 1},
		{"208 released already, for nobody", steps{later(grace), released("kept for b")}, nil, code.StaleLease, nil, "idle", 1},
		{"109 taken over", steps{later(leased), taken("b")}, nil, code.TurnMismatch, "b", "owned", 2},
		{"taken over, and that lease has run out too", steps{taken("b"), later(leased)}, nil, code.TurnMismatch, "b", "stale_owner", 2},
		{"taken over, and that owner is gone too", steps{taken("b"), gone("b")}, nil, code.TurnMismatch, "b", "owner_gone", 2},
		{"kicked", steps{kicked("b", "a")}, nil, code.StaleLease, nil, "idle", 1},
		{"the room has ended", steps{left("b"), left("a")}, nil, code.RoomClosed, nil, "", 0},
		{"a new life", steps{left("b"), left("a"), members("a")}, nil, code.StaleLease, nil, "idle", 1},
		{"a new life and its owner", steps{left("b"), left("a"), members("a"), held("a")}, nil, code.TurnMismatch, "a", "owned", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, members("a", "b"), held("a"))
			fence := w.fence()
			for _, s := range c.steps {
				s(w)
			}
			if c.fence != nil {
				fence = c.fence(fence)
			}
			before := len(w.events)
			_, errRelease := w.release(fence)
			if c.want == "" {
				equal(t, "release", errRelease, nil)
				return
			}
			_, errAssign := w.assign(fence, "nobody at all")
			for _, err := range []error{errRelease, errAssign} {
				equal(t, "code", code.Of(err), c.want)
				if c.state != "" {
					equal(t, "current_owner", detail(t, err, "current_owner"), c.owner)
					equal(t, "current_turn_id", detail(t, err, "current_turn_id"), any(c.turn))
					equal(t, "room_state", detail(t, err, "room_state"), any(c.state))
				}
			}
			equal(t, "events", len(w.events), before)
		})
	}
}
