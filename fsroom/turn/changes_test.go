package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// changed records what a turn has changed.
func changed(turnID int64, agent string) step {
	return func(w *world) {
		c := turn.TreeChange{Turn: turnID, Span: turn.SpanTurn, Agent: agent}
		w.commit(turn.RecordChange(w.state, c, []byte(fmt.Sprintf(`{"span":"turn","turn_id":%d,"files":1}`, turnID))), nil)
	}
}

// TestChangesAreRecordedOnce: two processes may bring the same news.
func TestChangesAreRecordedOnce(t *testing.T) {
	w := room(t, members("a", "b"), held("a"), released("reserved for b"), changed(1, "a"))
	again := turn.TreeChange{Turn: 1, Span: turn.SpanTurn, Agent: "a"}
	equal(t, "again", len(turn.RecordChange(w.state, again, []byte(`{"span":"turn"}`))), 0)
	again.Span = turn.SpanOutside
	equal(t, "outside", len(turn.RecordChange(w.state, again, []byte(`{"span":"outside"}`))), 1)
	again.Span = "undo"
	equal(t, "an undo", len(turn.RecordChange(w.state, again, []byte(`{"span":"undo"}`))), 1)
	equal(t, "too much", len(turn.RecordChange(w.state, again, make([]byte, turn.MaxChangePayload+1))), 0)
	equal(t, "a room that has ended", len(turn.RecordChange(turn.New(roomID), again, []byte(`{}`))), 0)
}

// TestALateChange: it names its turn in the payload, for the turn_id of events never goes back.
func TestALateChange(t *testing.T) {
	w := room(t, members("a", "b"), held("a"), released("reserved for b"), held("b"), changed(1, "a"))
	last := w.events[len(w.events)-1]
	equal(t, "turn of the event", last.Turn, int64(2))
	equal(t, "turn of the change", w.state.Changes[0].Turn, int64(1))
	for _, e := range turn.LogEntries(w.events) {
		equal(t, fmt.Sprintf("%s %d has changes", e.Kind, e.TurnID), e.Changes != nil, e.Kind == "turn" && e.TurnID == 1)
	}
}

// TestChangesSince: what comes with a turn begins after the last one of the agent.
func TestChangesSince(t *testing.T) {
	w := room(t, members("a", "b"), held("a"), released("reserved for b"), changed(1, "a"), later(grace), held("b"), released("kept for a"), changed(2, "b"))
	turns := func(agent string) string {
		list, more := w.state.ChangesSince(agent)
		var ids []string
		for _, c := range list {
			ids = append(ids, fmt.Sprint(c.Turn))
		}
		return strings.Join(ids, " ") + fmt.Sprint("+", more)
	}
	equal(t, "a", turns("a"), "2+0")
	equal(t, "b", turns("b"), "+0")
	equal(t, "a newcomer", turns("c"), "1 2+0")
	for i := range 40 {
		w.state.Changes = append(w.state.Changes, turn.TreeChange{Turn: int64(3 + i), Agent: "b", Span: turn.SpanTurn})
	}
	equal(t, "many", turns("a"), "35 36 37 38 39 40 41 42+33")
	w.state.Changes = w.state.Changes[:2]
}

// TestToldChange: what an agent is told of a turn has one shape, also where nothing changed.
func TestToldChange(t *testing.T) {
	const nothing = `{"span":"turn","turn_id":2,"agent_id":"a","from":"s4","to":"s5","from_tree":"1","to_tree":"1","tree_id":"w",%s"files":0,"added":0,"removed":0}`
	for what, want := range map[string]string{
		fmt.Sprintf(nothing, `"host":"h",`):                                                     fmt.Sprintf(nothing, ""),
		`{"span":"turn","turn_id":2,"agent_id":"a","from":"s4","host":"h","files":1,"added":0}`: `{"span":"turn","turn_id":2,"agent_id":"a","from":"s4","files":1,"added":0}`,
		`{"span":"turn","unknown":"disk_full","host":"h","head":null}`:                          `{"span":"turn","unknown":"disk_full"}`,
		`{"span":"turn","files":1,"to_tree":"` + strings.Repeat("0123456789", 4) + `"}`:         `{"span":"turn","files":1,"to_tree":"012345678901"}`,
		"": "", "[]": "[]", `{"span":`: `{"span":`, "{}": "{}",
	} {
		equal(t, what, string(turn.ToldChange([]byte(what))), want)
	}
}

// TestChangesEndNoWait: they wake nobody, and no stream for one agent has them.
func TestChangesEndNoWait(t *testing.T) {
	w := room(t, members("a", "b"), held("a"), released("reserved for b"))
	before := w.state.Clone()
	changed(1, "a")(w)
	equal(t, "notified", len(turn.WhoToNotify(before, w.state)), 0)
	e := &w.events[len(w.events)-1]
	equal(t, "concerns b", turn.Concerns(e, "b"), false)
	equal(t, "news for b", turn.ClassOf(e, "b"), "")
	equal(t, "listeners", len(turn.Listeners(before, w.state, []event.Event{*e})), 0)
}

// TestLogOfChanges: they belong to the entry of their turn, wherever they stand.
func TestLogOfChanges(t *testing.T) {
	grant := event.Event{Type: turn.Claim, Turn: 1, To: "a", Payload: []byte(`{}`)}
	end := event.Event{Type: turn.Released, Turn: 1, From: "a"}
	what := event.Event{Type: turn.TreeChanged, Turn: 1, From: "a", Payload: []byte(`{"span":"turn"}`)}
	outside := event.Event{Type: turn.TreeChanged, Turn: 1, Payload: []byte(`{"span":"outside"}`)}
	undo := event.Event{Type: turn.TreeChanged, Turn: 1, From: "a", Payload: []byte(`{"span":"undo"}`)}
	for name, events := range map[string][]event.Event{
		"with the release": {grant, end, what}, "before it": {grant, what, end}, "late": {grant, end, {Type: turn.MemberJoined, From: "b"}, what},
	} {
		entries := turn.LogEntries(events)
		equal(t, name, string(entries[0].Changes), `{"span":"turn"}`)
	}
	var kinds []string
	for _, e := range turn.LogEntries([]event.Event{what, grant, end, outside, undo}) {
		kinds = append(kinds, e.Kind)
	}
	equal(t, "kinds", strings.Join(kinds, " "), "tree turn outside tree")
}
