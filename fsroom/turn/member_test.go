package turn_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

func TestJoin(t *testing.T) {
	w := room(t)
	w.policy.ClaimTTL = 7000
	events := w.joinAs("a", "Ada", false)
	equal(t, "events", types(events), "room_opened member_joined")
	equal(t, "again", types(w.join("a")), "")
	w.later(time.Minute)
	equal(t, "the second", types(w.join("b")), "member_joined")

	s := w.state
	equal(t, "path", s.CanonicalPath+" in "+s.WorkspaceRoot, path+" in /work")
	equal(t, "policy", s.Policy, w.policy)
	equal(t, "counters", words(s.Seq, s.Turn), "3 0")
	a, b := s.Member("a"), s.Member("b")
	equal(t, "a", words(a.DisplayName, a.SessionKind, a.Ordinal, a.JoinedAt), "Ada harness_cli 0 2026-01-02T03:04:05.000Z")
	equal(t, "b", words(b.Ordinal, b.JoinedAt), "1 2026-01-02T03:05:05.000Z")
	if s.Member("c") != nil {
		t.Error("c is a member")
	}
}

func types(events []event.Event) string {
	var names []string
	for _, e := range events {
		names = append(names, e.Type)
	}
	return strings.Join(names, " ")
}

// parting reads as "left 2", "room_ended 0", or the code of a refusal.
func parting(res turn.LeaveResult, err error) string {
	if err != nil {
		return string(code.Of(err))
	}
	return words(res.Status, res.RemainingMembers)
}

func TestLeave(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps steps
		who   string
		want  string
		state string
	}{
		{"never opened", steps{}, "a", "room_closed", "closed"},
		{"a stranger", steps{members("a")}, "b", "not_joined", "idle"},
		{"48 the last one", steps{members("a")}, "a", "room_ended 0", "closed"},
		{"49 the last one, owning", steps{members("a"), held("a")}, "a", "room_ended 0", "closed"},
		{"one of two", steps{members("a", "b")}, "a", "left 1", "idle"},
		{"the owner", steps{members("a", "b"), held("a")}, "a", "left 1", "idle"},
		{"not the owner", steps{members("a", "b"), held("a")}, "b", "left 1", "owned"},
		{"50 the recipient", steps{members("a", "b"), held("a"), assigned("b")}, "b", "left 1", "idle"},
		{"the author", steps{members("a", "b"), held("a"), assigned("b")}, "a", "left 1", "reserved"},
		{"51 the others long silent", steps{members("a", "b", "c"), later(silent)}, "a", "room_ended 0", "closed"},
		{"51 the other one silent, -1 ms", steps{members("a", "b"), later(silent - ms)}, "a", "left 1", "idle"},
		{"the other one gone", steps{members("a", "b"), gone("b")}, "a", "room_ended 0", "closed"},
		{"the other one long silent but owning", steps{members("a", "b"), held("b"), later(silent), heartbeat}, "a", "left 1", "owned"},
		{"the other one long silent but waiting", steps{members("a", "b"), waiting("b"), later(silent)}, "a", "left 1", "idle"},
		{"the other one gone but owning", steps{members("a", "b"), held("b"), gone("b")}, "a", "room_ended 0", "closed"},
		{"twice", steps{members("a", "b"), left("a")}, "a", "not_joined", "idle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			turnID := w.state.Turn
			equal(t, "leave", parting(w.leave(c.who)), c.want)
			equal(t, "state", w.state.Status(w.facts()), c.state)
			equal(t, "turn", w.state.Turn, turnID)
			if strings.HasPrefix(c.want, "left") && (w.state.Member(c.who) != nil || w.state.Owner == c.who || w.state.ReservedFor == c.who) {
				t.Errorf("%s is still there", c.who)
			}
		})
	}
}

func TestKick(t *testing.T) {
	const kicked1, active = "kicked 1", string(code.TargetActive)
	for _, c := range []struct {
		name       string
		steps      steps
		by, target string
		want       string
		forced     string
	}{
		{"136 myself", steps{members("a")}, "a", "a", "cannot_kick_self", "cannot_kick_self"},
		{"136 myself, a stranger", steps{members("a")}, "x", "x", "cannot_kick_self", "cannot_kick_self"},
		{"never opened", steps{}, "a", "b", "room_closed", "room_closed"},
		{"136 by a stranger", steps{members("a")}, "x", "a", "not_joined", "not_joined"},
		{"136 a stranger", steps{members("a")}, "a", "x", "unknown_target", "unknown_target"},
		{"132 an active one", steps{members("a", "b")}, "a", "b", active, kicked1},
		{"gone but heard of", steps{members("a", "b"), gone("b"), later(10 * time.Minute)}, "a", "b", active, kicked1},
		{"131 gone and silent", steps{members("a", "b"), gone("b"), later(10*time.Minute + ms)}, "a", "b", kicked1, kicked1},
		{"131 a session that ended", steps{members("a", "b"), dropped("b"), later(10*time.Minute + ms)}, "a", "b", kicked1, kicked1},
		{"gone and silent, but waiting", steps{members("a", "b"), gone("b"), waiting("b"), later(time.Hour)}, "a", "b", active, kicked1},
		{"silent, -1 ms", steps{members("a", "b"), later(silent - ms)}, "a", "b", active, kicked1},
		{"silent for long", steps{members("a", "b"), later(silent)}, "a", "b", kicked1, kicked1},
		{"silent for long, its process alive", steps{members("a", "b"), alive("b"), later(silent)}, "a", "b", kicked1, kicked1},
		{"silent for long, but waiting", steps{members("a", "b"), waiting("b"), later(silent)}, "a", "b", active, kicked1},
		{"long silent, but with a live lease", steps{members("a", "b"), held("b"), later(silent), heartbeat}, "a", "b", active, kicked1},
		{"gone and silent, but with a live lease", steps{members("a", "b"), held("b"), gone("b"), later(10*time.Minute + ms)}, "a", "b", active, kicked1},
		{"long silent, and its lease has run out", steps{members("a", "b"), held("b"), later(silent)}, "a", "b", kicked1, kicked1},
		{"135 nobody active left", steps{members("a", "b"), gone("a")}, "a", "b", active, "room_ended 0"},
	} {
		for force, want := range map[bool]string{false: c.want, true: c.forced} {
			t.Run(fmt.Sprint(c.name, ", force ", force), func(t *testing.T) {
				w := room(t, c.steps...)
				equal(t, "kick", parting(w.kick(c.by, c.target, force)), want)
				equal(t, "gone", w.state.Member(c.target) == nil, strings.HasPrefix(want, "kicked") || strings.HasPrefix(want, "room") || c.want == "unknown_target" || c.by == "x" && c.target == "x")
			})
		}
	}
}

// TestKickedRoles: a kick ends what the target had, and tells.
func TestKickedRoles(t *testing.T) {
	w := room(t, members("a", "b", "c"), held("c", "b"))
	handoff := w.state.Grant.Handoff.Seq
	res, err := w.kick("a", "b", true)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "134 owner", words(res.KickedAgentID, *res.TargetWasOwner, *res.TargetWasReserved), "b true false")
	equal(t, "134 room", w.state.Status(w.facts())+w.state.Owner, turn.StateIdle)
	e := w.events[len(w.events)-1]
	equal(t, "131 event", words(e.Type, e.From, e.To, e.Reason), "kick a b why not")
	equal(t, "its handoff", w.state.Pending.Seq, handoff)

	w = room(t, members("a", "b", "c"), held("a"), assigned("b"))
	res, _ = w.kick("c", "b", true)
	equal(t, "recipient", words(*res.TargetWasOwner, *res.TargetWasReserved), "false true")
	equal(t, "its handoff", w.state.Pending.Seq, w.state.Seq-1)

	w = room(t, members("a", "b", "c"), held("a"))
	_, err = w.kick("a", "cc", false)
	equal(t, "to", detail(t, err, "to_agent_id"), any("cc"))
	equal(t, "hint", err.(*code.Error).Hint, "did you mean c?")
}

// TestLives: a room that ended and is used again goes on counting, without members.
func TestLives(t *testing.T) {
	w := room(t, members("a", "b"), held("a", "b"), kicked("a", "b"))
	w.addNote(turn.NoteRequest{Agent: "a", Body: "old"})
	w.send("a", turn.Everyone, "old")
	left("a")(w)
	s := w.state
	equal(t, "ended", words(s.Open, s.Live(), len(s.Members), len(s.Notes), s.Turn, s.CanonicalPath), "false false 0 0 2 "+path)
	seq := s.Seq
	w.policy.WaiterGrace = 1
	events := w.join("b")
	equal(t, "opened", events[0].Seq, seq+1)
	s = w.state
	equal(t, "policy", s.Policy.WaiterGrace, 1)
	equal(t, "member", words(s.Member("b").Ordinal, s.Member("b").LastHeld, s.Member("b").LastMail), "0 0 0")
	equal(t, "claim", w.tries("b"), "your_turn open_claim")
	equal(t, "turn", w.state.Turn, 3)

	last := w.events[seq-1]
	equal(t, "last event", last.Type, turn.Closed)
	counted := turn.New("other")
	counted.Continue(&last)
	// The room was moved: its lines have the name that it had.
	equal(t, "counted", words(counted.RoomID, counted.Seq, counted.Turn, counted.Live()), words("other", seq, 2, false))
}

func TestIdle(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for _, c := range []struct {
		name  string
		steps steps
		want  bool
	}{
		{"never opened", steps{later(week)}, false},
		{"52 -1 ms", steps{members("a"), later(week - ms)}, false},
		{"52 in time", steps{members("a"), later(week)}, true},
		{"52 everybody gone", steps{members("a", "b"), gone("a", "b"), later(week)}, true},
		{"53 one process alive", steps{members("a", "b"), gone("a"), alive("b"), later(week)}, false},
		{"one waits", steps{members("a", "b"), waiting("b"), later(week)}, false},
		{"one was heard of", steps{members("a", "b"), later(time.Minute), seen("b"), later(week - ms)}, false},
		{"something happened", steps{members("a", "b"), later(time.Minute), kicked("a", "b"), each([]string{"a"}, func(p *present) { p.Seen = time.Time{} }), later(week - ms)}, false},
		{"a lease is alive", steps{members("a"), held("a"), later(week), heartbeat}, false},
		{"a lease has run out", steps{members("a"), held("a"), later(week)}, true},
		{"switched off", steps{members("a"), policy(func(p *turn.Policy) { p.IdleRoomTTL = 0 }), later(100 * week)}, false},
		{"ended", steps{members("a"), left("a"), later(week)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, c.steps...)
			equal(t, "idle", w.state.Idle(w.facts()), c.want)
			events := turn.End(w.state, w.facts())
			equal(t, "ends", len(events) > 0, c.want)
			w.commit(events, nil)
			if c.want {
				equal(t, "state", w.state.Status(w.facts()), turn.StateClosed)
			}
		})
	}
}

func TestMemberViews(t *testing.T) {
	w := room(t, members("a=Ada", "b", "c", "d", "e"), gone("b"), alive("d"), later(time.Minute), held("e"), later(silent), seen("a"), waiting("d"), heartbeat)
	var got []string
	for _, v := range w.state.MemberViews(w.facts()) {
		got = append(got, words(v.AgentID, v.Ordinal, v.Status, v.Process, v.Waiting, v.LastSeenAt.Format("15:04:05"), v.Why))
	}
	equal(t, "members", "\n"+strings.Join(got, "\n"), `
a 0 active unknown false 07:05:05 
d 3 active alive true 03:04:05 
e 4 active unknown false 03:05:05 
b 1 inactive gone false 03:04:05 its process has ended
c 2 inactive unknown false 03:04:05 silent for longer than the presence time`)
	if v := turn.New(roomID).MemberViews(w.facts()); v == nil || len(v) != 0 {
		t.Errorf("members of a closed room: %#v", v)
	}
}
