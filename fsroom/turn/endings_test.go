package turn_test

import (
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestEndsTurn: the events that end a turn are those after which it has no owner,
// or another one.
func TestEndsTurn(t *testing.T) {
	for _, c := range []struct {
		name string
		end  step
	}{
		{"released", released("reserved for b")}, {"assigned", assigned("b")}, {"taken", taken("b")}, {"left", left("a")},
		{"kicked", kicked("b", "a")}, {"another one left", left("b")}, {"another one kicked", kicked("a", "b")},
		{"a message", func(w *world) { _ = w.send("b", "a", "hello") }}, {"joined", members("c")},
	} {
		w := room(t, members("a", "b"), held("a"))
		n, turnID := len(w.onDisk()), w.state.Turn
		c.end(w)
		ended := false
		for _, e := range w.onDisk()[n:] {
			ended = ended || turn.EndsTurn(&e, "a")
		}
		equal(t, c.name, ended, w.state.Owner != "a" || w.state.Turn != turnID)
	}
}

// TestEndings: how an agent last lost its turn and its membership.
func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name       string
		steps      steps
		turn, left string
	}{
		{"nothing", steps{members("a", "b"), held("a")}, "", ""},
		{"released", steps{members("a", "b"), held("a"), released("reserved for b")}, "release", ""},
		{"assigned, and others had turns since", steps{members("a", "b"), held("a"), assigned("b"), held("b"), released("reserved for a")}, "pass", ""},
		{"has another turn", steps{members("a", "b"), held("a"), assigned("b"), held("b"), assigned("a"), held("a")}, "", ""},
		{"taken over", steps{members("a", "b"), held("a"), taken("b")}, "takeover", ""},
		{"took it back", steps{members("a", "b"), held("a"), taken("b"), taken("a")}, "", ""},
		{"kicked", steps{members("a", "b"), held("a"), kicked("b", "a")}, "kick", "kick"},
		{"kicked out of its turn, and came back", steps{members("a", "b"), held("a"), kicked("b", "a"), members("a")}, "kick", ""},
		{"left", steps{members("a", "b"), left("a")}, "", "member_left"},
		{"kicked, and came back", steps{members("a", "b"), kicked("b", "a"), members("a")}, "", ""},
		{"of a life that ended", steps{members("a"), held("a"), left("a"), members("a")}, "", ""},
	} {
		w, endings := room(t, c.steps...), turn.Endings{Agent: "a"}
		for _, e := range w.onDisk() {
			endings.Fold(&e)
		}
		equal(t, c.name+": turn", endings.Turn.Type, c.turn)
		equal(t, c.name+": membership", endings.Membership.Type, c.left)
	}
}

// TestExplain: a refusal says that the agent was removed, or released its turn itself.
func TestExplain(t *testing.T) {
	kick := event.Event{Type: turn.Kicked, Seq: 7, From: "b", To: "a"}
	left := event.Event{Type: turn.MemberLeft, Seq: 7, From: "a"}
	released := event.Event{Type: turn.Released, Seq: 5, Turn: 2, From: "a"}
	takeover := event.Event{Type: turn.Takeover, Seq: 5, Turn: 3, From: "a", To: "b"}
	late := takeover
	late.Payload = []byte(`{"kind":"claim_timeout"}`)
	const itself = "refused; it ended turn 2 itself (event 5)"
	for _, c := range []struct {
		name    string
		code    code.Code
		endings turn.Endings
		want    string
	}{
		{"nothing ended", code.NoActiveLease, turn.Endings{}, "refused"},
		{"released", code.NoActiveLease, turn.Endings{Turn: released}, itself},
		{"passed", code.StaleLease, turn.Endings{Turn: event.Event{Type: turn.Passed, Seq: 5, Turn: 2}}, itself},
		{"taken over", code.StaleLease, turn.Endings{Turn: takeover}, "refused; b took turn 2 over (event 5)"},
		{"did not come in time", code.TurnMismatch, turn.Endings{Turn: late}, "refused"},
		{"released, and left", code.NotJoined, turn.Endings{Turn: released, Membership: left}, "refused"},
		{"removed", code.NotJoined, turn.Endings{Turn: released, Membership: kick}, "refused; b removed it (event 7)"},
		{"removed from its turn, and back", code.NoActiveLease, turn.Endings{Turn: kick}, "refused; b removed it in turn 0 (event 7)"},
		{"removed from its turn", code.TurnMismatch, turn.Endings{Membership: kick}, "refused; b removed it (event 7)"},
	} {
		refusal := code.New(c.code, "refused")
		c.endings.Explain(refusal)
		equal(t, c.name, refusal.Message, c.want)
		equal(t, c.name+": details", len(refusal.Details) > 0, c.want != "refused")
	}
}
