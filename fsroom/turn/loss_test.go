package turn_test

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
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

// TestLoss: a refusal says how the agent lost its turn or its membership, and the state alone knows.
func TestLoss(t *testing.T) {
	ab := members("a", "b")
	const itself = "it ended turn 1 itself (event 5)"
	for _, c := range []struct {
		name  string
		steps steps
		want  string // "": nothing is added
	}{
		{"never held", steps{ab}, ""},
		{"released", steps{ab, held("a"), released("reserved for b")}, itself},
		{"assigned, and others had turns since", steps{ab, held("a"), assigned("b"), held("b"), released("reserved for a")}, itself},
		{"taken over", steps{ab, held("a"), taken("b")}, "b took turn 1 over (event 5)"},
		{"taken over, and held again", steps{ab, held("a"), taken("b"), released("reserved for a"), held("a"), assigned("b")}, "it ended turn 3 itself (event 8)"},
		{"did not come in time", steps{ab, held("b"), assigned("a"), taken("b")}, ""},
		{"removed from its turn, and back", steps{ab, held("a"), kicked("b", "a"), members("a")}, "b removed it in turn 1 (event 5)"},
		{"removed without a turn, and back", steps{ab, kicked("b", "a"), members("a")}, ""},
		{"released, left, and back", steps{ab, held("a"), released("reserved for b"), left("a"), members("a")}, itself},
		{"of a life that ended", steps{members("a"), held("a"), left("a"), members("a")}, ""},
		{"removed", steps{ab, kicked("b", "a")}, "b removed it (event 4): why not"},
		{"removed from its turn", steps{ab, held("a"), kicked("b", "a")}, "b removed it (event 5): why not"},
		{"left", steps{ab, held("a"), left("a")}, ""},
	} {
		w := room(t, c.steps...)
		err := error(turn.NotJoined(w.state, "a"))
		if w.state.Member("a") != nil {
			err = turn.NoActiveLease(w.state, w.facts(), "a")
		}
		_, got, _ := strings.Cut(err.(*code.Error).Message, "; ")
		equal(t, c.name, got, c.want)
	}
}

// TestTakenOver: who lost its turn is told by whom.
func TestTakenOver(t *testing.T) {
	w := room(t, members("a", "b"), held("a"), taken("b"))
	if _, got := w.state.TakenOver("a"); !strings.HasPrefix(got, "Your turn 1 was taken over at ") || !strings.Contains(got, " by b (") {
		t.Errorf("%q", got)
	}
	seq, words := w.state.TakenOver("b")
	equal(t, "the other one", words, "")
	equal(t, "its event", seq, int64(0))
}
