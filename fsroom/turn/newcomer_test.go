package turn_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestTakeAsNewcomer: who is no member may take what is free; only a person may
// take from somebody else. It joins with the grant, or not at all.
func TestTakeAsNewcomer(t *testing.T) {
	free := steps{members("a", "b")}
	owned := steps{members("a", "b"), held("a")}
	for _, c := range []struct {
		name            string
		steps           steps
		human, operator bool
		want            string // the events and the reason, or the code
	}{
		{"free", free, false, false, "member_joined claim open_claim"},
		{"a handoff is pending", append(owned, later(grace), released("kept for b"), later(grace)), false, false, "member_joined claim sequence"},
		{"free for others first", append(owned, later(grace), released("kept for b")), false, false, "not_joined"},
		{"free for others first, but a person asked", append(owned, later(grace), released("kept for b")), false, true, "member_joined claim sequence"},
		{"owned", owned, false, false, "not_joined"},
		{"owned, and a person asked", owned, false, true, "not_joined"},
		{"owned, a person", owned, true, true, "member_joined takeover operator_override"},
		{"owner gone", append(owned, gone("a")), false, false, "not_joined"},
		{"owner gone, a person", append(owned, gone("a")), true, true, "member_joined takeover owner_gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			r := turn.TakeRequest{Agent: "new", Lease: "L", Reason: "why", Human: c.human, Operator: c.operator}
			_, _, err := turn.Take(w.state, w.facts(), r)
			equal(t, "without a request to join", code.Of(err), code.NotJoined)
			r.Join = turn.JoinRequest{Agent: "new"}
			events, res, err := turn.Take(w.state, w.facts(), r)
			got := string(code.Of(err))
			if err == nil {
				got = events[0].Type + " " + events[1].Type + " " + res.Reason
			}
			equal(t, "outcome", got, c.want)
			w.commit(events, err)
			if err == nil {
				equal(t, "owner", w.state.Owner, "new")
			}
			w.check()
		})
	}
}

// TestOnlyThisTurn: a request about a turn that is not the current one is refused.
func TestOnlyThisTurn(t *testing.T) {
	w := room(t, members("a", "b"), held("a"))
	for n, want := range map[int64]code.Code{0: code.TurnMismatch, 1: "", 2: code.TurnMismatch} {
		_, _, err := turn.Take(w.state, w.facts(), turn.TakeRequest{Agent: "b", Lease: "L", Reason: "why", Operator: true, Turn: &n})
		equal(t, words("take", n), code.Of(err), want)
		_, _, err = turn.Kick(w.state, w.facts(), turn.KickRequest{Agent: "b", Target: "a", Force: true, Turn: &n})
		equal(t, words("kick", n), code.Of(err), want)
		if want != "" {
			equal(t, "owner", detail(t, err, "current_owner"), any("a"))
			equal(t, "turn", detail(t, err, "current_turn_id"), any(int64(1)))
		}
	}
}

// TestEnter: a room that has outlived its idle time ends before it is opened again.
func TestEnter(t *testing.T) {
	idle := 7 * 24 * time.Hour
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		want  string
	}{
		{"a new room", steps{}, "a", "room_opened member_joined"},
		{"another member", steps{members("a")}, "b", "member_joined"},
		{"a member", steps{members("a")}, "a", ""},
		{"an idle room", steps{members("a"), later(idle)}, "b", "close / room_opened member_joined"},
		{"not yet idle", steps{members("a"), later(idle - ms)}, "b", "member_joined"},
	} {
		w, got := room(t, c.steps...), ""
		for again := true; again; {
			var events []event.Event
			events, again = turn.Enter(w.state, w.facts(), turn.JoinRequest{Agent: c.who, CanonicalPath: path, Policy: w.policy})
			for i, e := range events {
				if got += e.Type; i < len(events)-1 {
					got += " "
				}
			}
			if again {
				got += " / "
			}
			w.commit(events, nil)
		}
		equal(t, c.name, got, c.want)
	}
}

// TestEnded: a room counts as ended when it is closed or has been idle for too long.
func TestEnded(t *testing.T) {
	idle := 7 * 24 * time.Hour
	for _, c := range []struct {
		name  string
		steps steps
		want  bool
	}{
		{"never opened", steps{}, true},
		{"closed", steps{members("a"), left("a")}, true},
		{"open", steps{members("a")}, false},
		{"idle", steps{members("a"), later(idle)}, true},
		{"not quite", steps{members("a"), later(idle - ms)}, false},
		{"a living member", steps{members("a"), alive("a"), later(idle)}, false},
	} {
		w := room(t, c.steps...)
		asked := false
		equal(t, c.name, w.state.Ended(w.wall, func() turn.Facts { asked = true; return w.facts() }), c.want)
		equal(t, c.name+", facts gathered", asked, w.state.Quiet(w.wall))
	}
}

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
