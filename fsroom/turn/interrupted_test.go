package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
)

// TestInterruptions: the turns that were taken over one from the other since the last release.
func TestInterruptions(t *testing.T) {
	take := func(id string) step {
		return func(w *world) {
			events, _, err := turn.Take(w.state, w.facts(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: id, Lease: w.newID("lease")}, Reason: "r", Operator: true})
			w.commit(events, err)
		}
	}
	begin := steps{members("a", "b", "c"), held("a")}
	for _, c := range []struct {
		name  string
		steps steps
		want  string
	}{
		{"none", begin, ""},
		{"one", append(begin[:2:2], take("b")), "1 a"},
		{"two", append(begin[:2:2], take("b"), take("c")), "2 b, 1 a"},
		{"four", append(begin[:2:2], take("b"), take("c"), take("a"), take("b")), "4 a, 3 c, 2 b"},
		{"a reservation", append(begin[:2:2], released("reserved for b"), take("c")), ""},
		{"after a release", append(begin[:2:2], take("b"), released("reserved for c"), held("c")), ""},
		{"of one that was reserved", append(begin[:2:2], released("reserved for b"), take("c"), take("a")), "2 c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			var l turn.LogBook
			for i := range w.events {
				l.Add(&w.events[i])
			}
			var got []string
			for _, i := range l.Interruptions() {
				got = append(got, fmt.Sprint(i.Turn, " ", i.Agent))
			}
			equal(t, "interrupted", strings.Join(got, ", "), c.want)
		})
	}

	// Where several hosts share the room, the grant is answered before its event can be read.
	w, l := room(t, begin...), turn.LogBook{}
	for i := range w.events {
		l.Add(&w.events[i])
	}
	l.TakenOver(w.state, w.facts())
	equal(t, "before its event", len(l.Interruptions()), 1)
	equal(t, "reason", l.Interruptions()[0].Reason, turn.ReasonOperator)
}
