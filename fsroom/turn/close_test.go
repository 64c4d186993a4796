package turn_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

// TestClose: who may close a room, and with which lease.
func TestClose(t *testing.T) {
	type with = func(*world, *turn.CloseRequest)
	nothing := func(*world, *turn.CloseRequest) {}
	person := func(_ *world, r *turn.CloseRequest) { r.Human = true }
	good := func(w *world, r *turn.CloseRequest) { r.Fence = w.fences[0] }
	reason := func(text string) with { return func(_ *world, r *turn.CloseRequest) { r.Reason = text } }
	const ended = turn.StatusEnded
	ab := members("a", "b")
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		with  with
		want  string
	}{
		{"never opened", steps{}, "a", nothing, "room_closed"},
		{"never opened, a person", steps{}, "human:x", person, "room_closed"},
		{"ended", steps{members("a"), left("a")}, "a", nothing, "room_closed"},
		{"no reason", steps{ab}, "a", reason(""), "reason_required"},
		{"a blank reason", steps{ab}, "a", reason(" \n\t"), "reason_required"},
		{"a person without a reason", steps{ab}, "human:x", func(_ *world, r *turn.CloseRequest) { r.Human, r.Reason = true, "" }, "reason_required"},
		{"no reason and no room", steps{}, "a", reason(""), "reason_required"},
		{"a reason that is no text", steps{ab}, "a", reason("\xff"), "invalid_body"},
		{"a stranger", steps{ab}, "x", nothing, "not_joined"},
		{"a stranger, while another one holds", steps{ab, held("a")}, "x", nothing, "not_joined"},
		{"a former member", steps{ab, left("b")}, "b", nothing, "not_joined"},
		{"nobody ever held", steps{ab}, "b", nothing, ended},
		{"nobody holds, with a lease of old", steps{ab, held("a"), kicked("b", "a"), members("a")}, "a", good, ended},
		{"a handoff is pending", steps{ab, held("a"), later(time.Hour), released("kept for b")}, "a", nothing, ended},
		{"assigned, the recipient", steps{ab, held("a"), assigned("b")}, "b", nothing, "turn_mismatch"},
		{"assigned, the author", steps{ab, held("a"), assigned("b")}, "a", nothing, "turn_mismatch"},
		{"assigned, a person", steps{ab, held("a"), assigned("b")}, "human:x", person, ended},
		{"assigned, and not taken up in time", steps{ab, held("a"), assigned("b"), later(time.Hour)}, "a", nothing, ended},
		{"reserved by a release", steps{ab, held("a"), released("reserved for b")}, "a", nothing, ended},
		{"the holder", steps{ab, held("a")}, "a", good, ended},
		{"the holder, alone", steps{members("a"), held("a")}, "a", good, ended},
		{"the holder, its lease run out", steps{ab, held("a"), later(leased)}, "a", good, ended},
		{"the holder without a lease", steps{ab, held("a")}, "a", nothing, "no_active_lease"},
		{"the holder with another lease", steps{ab, held("a")}, "a", func(w *world, r *turn.CloseRequest) { good(w, r); r.Fence.Lease = "another" }, "stale_lease"},
		{"the holder with a turn of old", steps{ab, held("a")}, "a", func(w *world, r *turn.CloseRequest) { good(w, r); r.Fence.Turn = 0 }, "turn_mismatch"},
		{"another one holds", steps{ab, held("a")}, "b", nothing, "turn_mismatch"},
		{"another one holds, who is gone", steps{ab, held("a"), gone("a")}, "b", nothing, "turn_mismatch"},
		{"another one holds, whose lease ran out", steps{ab, held("a"), later(leased)}, "b", nothing, "turn_mismatch"},
		{"it was taken over", steps{ab, held("a"), taken("b")}, "a", good, "turn_mismatch"},
		{"a person, while another one holds", steps{ab, held("a")}, "human:x", person, ended},
		{"a person that is a member", steps{members("a", "human:x"), held("a")}, "human:x", person, ended},
		{"a person that holds, without a lease", steps{members("a", "human:x"), held("human:x")}, "human:x", person, ended},
		{"a person, nobody holds", steps{ab}, "human:x", person, ended},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			before, last, turnID := mustJSON(w.state), w.state.Seq, w.state.Turn
			r := turn.CloseRequest{Agent: c.who, Reason: "all is done"}
			c.with(w, &r)
			res, err := w.close(r)
			if c.want != ended {
				equal(t, "refusal", codeOf(err), c.want)
				equal(t, "room", mustJSON(w.state), before)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "result", mustJSON(res), mustJSON(turn.CloseResult{Status: turn.WaitClosed, RoomID: roomID, EventSeq: last + 1, Told: []string{}}))
			e := w.events[len(w.events)-1]
			equal(t, "event", words(e.Seq, e.Type, e.Turn, e.From, e.To, e.Reason), words(last+1, "close", turnID, c.who, "", "all is done"))
			equal(t, "after it", words(w.state.Status(w.facts()), w.state.Turn, len(w.state.Members)), words("closed", turnID, 0))
		})
	}
}

// TestCloseIsRefusedWithTheSituation: whoever may not close learns who holds the turn.
func TestCloseIsRefusedWithTheSituation(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	_, err := w.close(turn.CloseRequest{Agent: "b", Reason: "done"})
	equal(t, "owner", detail(t, err, "current_owner"), any("a"))
	equal(t, "turn", detail(t, err, "current_turn_id"), any(int64(1)))
	equal(t, "state", detail(t, err, "room_state"), any(turn.StateOwned))
	equal(t, "hint", err.(*code.Error).Hint != "", true)
}

// TestCloseSaysWhoIsTold: those that wait, but who closes.
func TestCloseSaysWhoIsTold(t *testing.T) {
	w := room(t, members("a", "b", "c"), held("a"), waiting("a", "c"))
	res, err := w.close(turn.CloseRequest{Agent: "a", Reason: "done", Fence: w.fences[0]})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "told", mustJSON(res.Told), `["c"]`)
}
