package turn_test

import (
	"slices"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"pgregory.net/rapid"
)

// TestObserverTurns: a turn never comes to an observer by itself, and nobody waits for it.
func TestObserverTurns(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps steps
		do    func(*world) string
		want  string
	}{
		{"the turn passes it by", steps{members("a", "b"), held("a", "b"), observers("h"), waiting("h")}, (*world).releases, "reserved for a"},
		{"not even alone with the holder", steps{members("a"), held("a"), observers("h"), waiting("h")}, (*world).releases, "open"},
		{"nor as next", steps{members("a"), held("a"), observers("h")}, func(w *world) string { return w.assigns(turn.TargetNext) }, "unknown_member"},
		{"by name", steps{members("a"), held("a"), observers("h")}, func(w *world) string { return w.assigns("h") }, "reserved for h"},
		{"the author goes on at once", steps{members("a"), held("a"), observers("h"), released("open")},
			func(w *world) string { return w.tries("a") }, "your_turn sequence"},
		{"the author takes back what it did not claim", steps{members("a"), held("a"), observers("h", "i"), assigned("h"), later(claimed)},
			func(w *world) string { return w.takes("a") }, "your_turn claim_timeout"},
		{"it takes a free turn", steps{members("a"), observers("h")}, func(w *world) string { return w.takes("h") }, "your_turn open_claim"},
		{"it takes over as others do", steps{members("a"), held("a"), observers("h"), gone("a")}, func(w *world) string { return w.takes("h") }, "your_turn owner_gone"},
		{"it releases to members", steps{members("a"), held("a"), observers("h"), taken("h")}, (*world).releases, "reserved for a"},
		{"a member again", steps{members("a", "b"), held("a", "b"), observers("h"), members("h")}, (*world).releases, "reserved for h"},
		{"an observer who held and comes back", steps{members("a", "b"), observers("h"), held("h"), assigned("a"), held("a"), members("h")}, (*world).releases, "reserved for b"},
		{"a member does not become one", steps{members("a", "b"), held("a"), observers("b")}, (*world).releases, "reserved for b"},
		{"nobody who takes turns is there", steps{observers("h")}, func(w *world) string { return w.state.Status(w.facts()) }, turn.StateDormant},
	} {
		t.Run(c.name, func(t *testing.T) { equal(t, "answer", c.do(room(t, c.steps...)), c.want) })
	}
}

// TestObserverKeepsNoRoom: the room ends without the last member that takes turns, unless
// an observer has the stick.
func TestObserverKeepsNoRoom(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		want  string
	}{
		{"the last member", steps{members("a"), observers("h", "i")}, "a", "room_ended 0"},
		{"the last but one", steps{members("a", "b"), observers("h")}, "a", "left 2"},
		{"an observer", steps{members("a"), observers("h")}, "h", "left 1"},
		{"an observer among observers", steps{observers("h", "i")}, "h", "room_ended 0"},
		{"while an observer holds", steps{members("a"), held("a"), observers("h"), taken("h")}, "a", "left 1"},
		{"the holder, with observers only", steps{members("a"), held("a"), observers("h")}, "a", "room_ended 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal(t, "leave", parting(room(t, c.steps...).leave(c.who)), c.want)
		})
	}
	const ttl = 8 * 24 * time.Hour
	for _, c := range []struct {
		name  string
		steps steps
		want  bool
	}{
		{"a member is alive", steps{members("a"), alive("a"), later(ttl)}, false},
		{"an observer is alive", steps{members("a"), observers("h"), alive("h"), waiting("h"), later(ttl), seen("h")}, true},
		{"an observer holds", steps{members("a"), observers("h"), taken("h"), later(ttl), heartbeat}, false},
	} {
		w := room(t, c.steps...)
		equal(t, c.name, w.state.Idle(w.facts()), c.want)
	}
}

// TestObserversChangeNothing: whatever members do among themselves, they get the same
// answers with observers in the room as without.
func TestObserversChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain, watched := newWorld(t), newWorld(t)
		ids := []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "members")]
		for _, w := range []*world{plain, watched} {
			members(ids...)(w)
		}
		observers("h", "i")(watched)
		both := func(what string, do func(*world) string) {
			if one, other := do(plain), do(watched); one != other {
				t.Fatalf("%s: %q without observers and %q with them", what, one, other)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"try": func(t *rapid.T) {
				id := rapid.SampledFrom(ids).Draw(t, "who")
				both("try", func(w *world) string { return w.tries(id) })
			},
			"take": func(t *rapid.T) {
				id := rapid.SampledFrom(ids).Draw(t, "who")
				both("take", func(w *world) string { return w.takes(id) })
			},
			"release": func(t *rapid.T) {
				if plain.state.Owner == "" {
					t.Skip()
				}
				both("release", (*world).releases)
			},
			"assign": func(t *rapid.T) {
				if plain.state.Owner == "" {
					t.Skip()
				}
				to := rapid.SampledFrom(append(slices.Clone(ids), turn.TargetNext)).Draw(t, "to")
				both("assign", func(w *world) string { return w.assigns(to) })
			},
			"time": func(t *rapid.T) {
				d := rapid.SampledFrom([]time.Duration{ms, grace, graces, claimed, leased, silent}).Draw(t, "time")
				plain.later(d)
				watched.later(d)
			},
			"fate": func(t *rapid.T) {
				id, gone := rapid.SampledFrom(ids).Draw(t, "who"), rapid.Bool().Draw(t, "gone")
				for _, w := range []*world{plain, watched} {
					p := w.presence(id)
					if p.Process, p.Waiting = turn.Alive, !gone; gone {
						p.Process = turn.Gone
					}
				}
			},
			"an observer is seen": func(t *rapid.T) {
				watched.presence("h").Waiting = rapid.Bool().Draw(t, "waits")
				watched.seen("i")
			},
			"": func(t *rapid.T) {
				both("status", func(w *world) string {
					if s := w.state.Status(w.facts()); s != turn.StateReserved {
						return s
					}
					return "reserved for " + w.state.ReservedFor
				})
			},
		})
		watched.check()
	})
}

// TestJoining: who acts without having joined becomes a member in the same change, or not
// at all if the act is refused.
func TestJoining(t *testing.T) {
	person := turn.JoinRequest{Agent: "human:x", Observer: true}
	send := func(w *world, to string) ([]event.Event, error) {
		return turn.Joining(w.state, w.facts(), person, func(s *turn.State) ([]event.Event, error) {
			return turn.Send(s, w.facts(), turn.MessageRequest{Agent: "human:x", To: to, Body: "hello"})
		})
	}
	w := room(t, members("a"))
	_, err := send(w, "nobody")
	equal(t, "refused", codeOf(err), "unknown_recipient")
	w.commit(send(w, "a"))
	m := w.state.Member("human:x")
	if m == nil || !m.Observer || w.events[len(w.events)-1].Type != turn.MessageSent {
		t.Fatalf("%+v", w.state)
	}
	equal(t, "last message", w.state.Member("a").LastMail, w.state.Seq)
	events, err := send(w, turn.Everyone)
	equal(t, "events of a second one", words(len(events), err), "1 <nil>")
	left("a")(w)
	_, err = send(w, "a")
	equal(t, "in a room that has ended", codeOf(err), "room_closed")
}
