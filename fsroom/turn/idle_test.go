package turn_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

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

// A holder that was granted the turn while its model was idle has the whole time, as one that was just heard of has.
func TestIdleCountsFromTheGrant(t *testing.T) {
	w := room(t, members("a", "b"))
	w.does["a"] = turn.Activity{What: turn.ActivityIdle, Began: w.now(), Since: event.NewTime(w.wall), At: event.NewTime(w.wall)}
	later(time.Hour)(w)
	held("a")(w)
	w.presence("a").Seen = w.wall.Add(-time.Hour)
	equal(t, "at the grant", w.state.IdleFor(w.facts()), 15*time.Minute)
	later(15 * time.Minute)(w)
	equal(t, "after it", w.state.IdleFor(w.facts()), 0)
}
