package turn_test

import (
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

// TestTakeAsNewcomer: an agent that is not a member may take a free turn, and over what any member may take over;
// only a person may take it from an agent that works. It joins with the grant, or not at all.
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
		{"owner gone", append(owned, gone("a")), false, false, "member_joined takeover owner_gone"},
		{"owner gone, a person", append(owned, gone("a")), true, true, "member_joined takeover owner_gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			r := turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "new", Lease: "L"}, Reason: "why", Human: c.human, Operator: c.operator}
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
		_, _, err := turn.Take(w.state, w.facts(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: "b", Lease: "L"}, Reason: "why", Operator: true, Turn: &n})
		equal(t, words("take", n), code.Of(err), want)
		_, _, err = turn.Kick(w.state, w.facts(), turn.KickRequest{Agent: "b", Target: "a", Force: true, Turn: &n})
		equal(t, words("kick", n), code.Of(err), want)
		if want != "" {
			equal(t, "owner", detail(t, err, "current_owner"), any("a"))
			equal(t, "turn", detail(t, err, "current_turn_id"), any(int64(1)))
		}
	}
}
