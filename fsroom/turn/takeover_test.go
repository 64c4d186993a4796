package turn_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

func TestTake(t *testing.T) {
	assignedToB := steps{members("a", "b", "c"), held("a"), assigned("b")}
	for _, c := range []struct {
		name     string
		steps    steps
		who      string
		want     string
		operator string // the same on behalf of an operator
	}{
		{"closed", steps{}, "a", "room_closed", "room_closed"},
		{"a stranger", steps{members("a")}, "b", "not_joined", "not_joined"},
		{"120 a free room", steps{members("a")}, "a", "your_turn open_claim", "your_turn open_claim"},
		{"my own turn", steps{members("a"), held("a")}, "a", "your_turn already_owner", "your_turn already_owner"},
		{"my own turn, lease run out", steps{members("a"), held("a"), later(leased)}, "a", "your_turn already_owner", "your_turn already_owner"},
		{"my own turn, gone by my looks", steps{members("a"), held("a"), gone("a")}, "a", "your_turn already_owner", "your_turn already_owner"},
		{"reserved for me", assignedToB, "b", "your_turn direct_pass", "your_turn direct_pass"},
		{"reserved for me, past the claim time", append(assignedToB, later(claimed)), "b", "your_turn direct_pass", "your_turn direct_pass"},

		{"117 a live owner", steps{members("a", "b"), held("a")}, "b", "takeover_not_available", "your_turn operator_override"},
		{"118 a reservation in its time", assignedToB, "c", "takeover_not_available", "your_turn operator_override"},
		{"the author, a reservation in its time", assignedToB, "a", "takeover_not_available", "your_turn operator_override"},
		{"a handoff kept for another one", steps{members("a", "b", "c"), held("a"), later(grace), released("kept for b")}, "c", "takeover_not_available", "your_turn sequence"},
		{"my own handoff, another one there", steps{members("a", "b"), held("a"), later(grace), released("kept for b")}, "a", "takeover_not_available", "your_turn sequence"},
		{"my own handoff after its graces", steps{members("a", "b"), held("a"), later(grace), released("kept for b"), later(graces)}, "a", "your_turn sequence", "your_turn sequence"},

		{"109 the lease, -1 ms", steps{members("a", "b"), held("a"), later(leased - ms)}, "b", "takeover_not_available", "your_turn operator_override"},
		{"109 the lease, 0 ms", steps{members("a", "b"), held("a"), later(leased)}, "b", "your_turn owner_timeout", "your_turn owner_timeout"},
		{"109 the lease, +1 ms", steps{members("a", "b"), held("a"), later(leased + ms)}, "b", "your_turn owner_timeout", "your_turn owner_timeout"},
		{"110 renewed after it ran out", steps{members("a", "b"), held("a"), later(leased), heartbeat}, "b", "takeover_not_available", "your_turn operator_override"},
		{"the owner gone", steps{members("a", "b"), held("a"), gone("a")}, "b", "your_turn owner_gone", "your_turn owner_gone"},
		{"the owner's session ended, silent for 10 min", steps{members("a", "b"), held("a"), dropped("a"), later(10 * time.Minute)}, "b", "takeover_not_available", "your_turn operator_override"},
		{"111 the owner's session ended, silent for longer", steps{members("a", "b"), held("a"), dropped("a"), later(10*time.Minute + ms)}, "b", "your_turn owner_gone", "your_turn owner_gone"},
		{"112 the owner's session ended, but it was heard of", steps{members("a", "b"), held("a"), dropped("a"), later(10 * time.Minute), seen("a"), later(ms)}, "b", "takeover_not_available", "your_turn operator_override"},
		{"the author from a gone owner", steps{members("a", "b", "c"), held("a", "b"), gone("b")}, "a", "your_turn owner_gone", "your_turn owner_gone"},

		{"105 the claim time", append(assignedToB, later(claimed)), "c", "your_turn claim_timeout", "your_turn claim_timeout"},
		{"105 the claim time, the author", append(assignedToB, later(claimed)), "a", "takeover_ineligible", "your_turn operator_override"},
		{"105 the claim time, the author, the third gone", append(assignedToB, later(claimed), gone("c")), "a", "your_turn claim_timeout", "your_turn claim_timeout"},
		{"105 the claim time, the author, the third silent", append(assignedToB, later(silent)), "a", "your_turn claim_timeout", "your_turn claim_timeout"},
		{"105 the claim time, the author, the third waiting", append(assignedToB, waiting("c"), later(silent)), "a", "takeover_ineligible", "your_turn operator_override"},
		{"106 the claim time, the author, nobody else", steps{members("a", "b"), held("a"), assigned("b"), later(claimed)}, "a", "your_turn claim_timeout", "your_turn claim_timeout"},
		{"the recipient gone", append(assignedToB, gone("b")), "c", "your_turn recipient_gone", "your_turn recipient_gone"},
		{"the recipient gone, the author", append(assignedToB, gone("b")), "a", "takeover_ineligible", "your_turn operator_override"},
		{"the recipient gone, the author, nobody else", steps{members("a", "b"), held("a"), assigned("b"), gone("b")}, "a", "your_turn recipient_gone", "your_turn recipient_gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal(t, "take", room(t, c.steps...).takes(c.who), c.want)
		})
		t.Run(c.name+", operator", func(t *testing.T) {
			equal(t, "take", room(t, c.steps...).orders(c.who), c.operator)
		})
	}
}

// TestTakeover looks at everything a takeover says and changes.
func TestTakeover(t *testing.T) {
	w := room(t, members("a", "b", "c"), held("a", "b"), later(leased))
	handoff, old := w.state.Grant.Handoff.Seq, w.fence()
	res, err := w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "c"}, Reason: "b fell asleep"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "result", mustJSON(&res), mustJSON(&turn.WaitResult{
		Status: turn.YourTurn, RoomID: roomID, TurnID: 3, LeaseID: res.LeaseID, Revoked: "b", Reason: turn.ReasonOwnerTimeout, LastHandoff: handoff,
	}))
	e := w.events[len(w.events)-1]
	equal(t, "event", e.Type+" "+e.From+" "+e.To+": "+e.Reason, "takeover b c: b fell asleep")
	equal(t, "event's turn", e.Turn, 3)
	_, err = w.release(old)
	equal(t, "109 the old owner", code.Of(err), code.TurnMismatch)
	equal(t, "owner", w.state.Owner, "c")
}

// TestTakeoverKeepsTheHandoff: a handoff goes from owner to owner until one of
// them writes the next.
func TestTakeoverKeepsTheHandoff(t *testing.T) {
	w := room(t, members("a", "b", "c"), held("a"), assigned("b"))
	handoff := w.state.Seq
	for i, who := range []string{"c", "a", "b"} {
		res, err := w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: who}, Reason: "mine", Operator: true})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "last handoff", res.LastHandoff, handoff)
		equal(t, "revoked", res.Revoked, []string{"b", "c", "a"}[i])
		again, _ := w.try(who)
		equal(t, "handoff given again", again.HandoffSeq, handoff)
	}
	left("b")(w)
	equal(t, "pending when the owner left", w.state.Pending.Seq, handoff)
	equal(t, "next", w.tries("c"), "your_turn direct_pass")
	kicked("a", "c")(w)
	equal(t, "pending when the owner was kicked", w.state.Pending.Seq, handoff)
	w.tries("a")
	w.releases()
	equal(t, "pending after a release", w.state.Pending.Seq, w.state.Seq)
}

func TestTakeoverOfNothing(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	res, err := w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b"}, Reason: "now", Operator: true})
	if err != nil || res.LastHandoff != 0 {
		t.Errorf("last handoff %d, %v in a room without any", res.LastHandoff, err)
	}
}

func TestReasonRequired(t *testing.T) {
	for _, reason := range []string{"", " \t\n", "\u2003"} {
		for _, operator := range []bool{false, true} {
			w := room(t, members("a", "b"), held("a"), later(leased))
			_, err := w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b"}, Reason: reason, Operator: operator})
			equal(t, "119 code", code.Of(err), code.ReasonRequired)
		}
	}
	_, err := room(t).take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "stranger"}})
	equal(t, "code before everything else", code.Of(err), code.ReasonRequired)
}

// TestTakeoverRefused: the refusals say how things stand.
func TestTakeoverRefused(t *testing.T) {
	w := room(t, members("a", "b", "c"), held("a"))
	_, err := w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b"}, Reason: "now"})
	equal(t, "owner", detail(t, err, "current_owner"), any("a"))
	equal(t, "state", detail(t, err, "room_state"), any("owned"))
	equal(t, "turn", detail(t, err, "current_turn_id"), any(int64(1)))
	equal(t, "no reservation", detail(t, err, "reserved_for"), nil)
	w.assigns("b")
	w.later(claimed)
	_, err = w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "a"}, Reason: "now"})
	equal(t, "reserved for", detail(t, err, "reserved_for"), any("b"))
	equal(t, "state", detail(t, err, "room_state"), any("reserved"))
	events := len(w.events)
	w.seen("c")
	w.takes("a")
	equal(t, "events", len(w.events), events)
}

// TestSituation: refusals say in words who has the turn.
func TestSituation(t *testing.T) {
	three := members("a", "b", "c")
	for want, s := range map[string]steps{
		"the stick is held by a, lease until 03:49:05 UTC":  {three, held("a")},
		"the turn is reserved for b until 03:24:05 UTC":     {three, held("a"), assigned("b")},
		"the handoff is offered to b first":                 {three, held("a"), later(grace), released("kept for b")},
		"the handoff is offered to the other members first": {three, held("a"), later(grace), released("kept for b"), left("b")},
		"the stick is held by c, lease until 03:49:05 UTC":  {three, held("a"), taken("c")},
		"the stick is held by a, lease until 03:50:05 UTC":  {three, held("a"), later(time.Minute), heartbeat},
		"the stick is held by b, lease until 03:50:05 UTC":  {three, held("a"), later(time.Minute), assigned("b"), held("b")},
	} {
		w := room(t, s...)
		who := "a"
		if w.state.Owner == "a" {
			who = "c"
		}
		_, err := w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: who}, Reason: "now"})
		equal(t, "message", err.(*code.Error).Message, "there is nothing to take over: "+want)
	}
	w := room(t, three, held("a"))
	fence := w.fence()
	kicked("b", "a")(w)
	_, err := w.release(fence)
	equal(t, "message", err.(*code.Error).Message, "a no longer holds turn 1: nobody has the stick; b removed it (event 6): why not")
}

// TestTakeOfOwnTurnElsewhere: an agent that has its turn on another host takes it only where another agent might.
func TestTakeOfOwnTurnElsewhere(t *testing.T) {
	for end, want := range map[time.Duration]string{0: "agent_elsewhere", leased: "your_turn owner_timeout"} {
		w := room(t, members("a", "b"), held("a"), later(end))
		s, f := w.state.Clone(), w.facts()
		s.Grant.Host, f.Host = "far", "near"
		_, res, err := turn.Take(s, f, turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "a", Lease: "l"}, Reason: "x"})
		equal(t, end.String(), answer(res, err), want)
	}
}

// TestTakeAfterChange: what the turn that is taken over has changed is recorded before the takeover, as that of the turn.
func TestTakeAfterChange(t *testing.T) {
	w := room(t, members("a", "b"), held("a"), gone("a"))
	change := event.Event{Type: turn.TreeChanged, Payload: []byte(`{"span":"turn","files":1}`)}
	events, _, err := turn.Take(w.state, w.facts(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b", Lease: "l"}, Reason: "x", Changed: []event.Event{change}})
	if err != nil || len(events) != 2 || events[0].Type != turn.TreeChanged || events[1].Type != turn.Takeover {
		t.Errorf("%v, %v", events, err)
	}
}
