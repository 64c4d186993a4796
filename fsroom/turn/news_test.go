package turn_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestListeners: the listeners that a change notifies, and of what.
func TestListeners(t *testing.T) {
	abc := steps{members("a", "b", "c"), held("a"), later(time.Minute)}
	free := append(abc, waiting("b"), released("reserved for b"))
	send := func(to string, interrupt bool) step {
		return func(w *world) {
			events, err := turn.Send(w.state, w.facts(), turn.MessageRequest{Agent: "a", To: to, Body: "x", Interrupt: interrupt})
			w.commit(events, err)
		}
	}
	addNote := func(target string) step {
		return func(w *world) {
			if _, err := w.addNote(turn.NoteRequest{Agent: "a", Body: "x", Target: target, Severity: talk.SeverityPage}); err != nil {
				w.t.Fatalf("note: %v", err)
			}
		}
	}
	closed := func(w *world) {
		if _, err := w.close(turn.CloseRequest{Agent: "human:x", Reason: "done", Human: true}); err != nil {
			w.t.Fatalf("close: %v", err)
		}
	}
	for _, c := range []struct {
		name  string
		steps steps
		do    step
		want  string
	}{
		{"a release reserves for b", append(abc, waiting("b")), released("reserved for b"), "b:turn"},
		{"a release prefers b", abc, released("kept for b"), "b:turn"},
		{"a release passes over b", append(abc, listening(ready, "c")), released("kept for c"), "c:turn"},
		{"an assignment", abc, assigned("c"), "c:turn"},
		{"nobody is next", steps{members("a"), held("a")}, released("open"), ""},
		{"a claim", free, held("b"), ""},
		{"a takeover", abc, taken("b"), "a:lost"},
		{"a takeover of a reservation", free, taken("c"), "b:lost"},
		{"b is kicked", abc, kicked("a", "b"), "b:lost"},
		{"the owner is kicked", abc, kicked("b", "a"), "a:lost"},
		{"b leaves", abc, left("b"), ""},
		{"the end", abc, closed, "a:lost b:lost c:lost"},
		{"the last member leaves", steps{members("a"), observers("h")}, left("a"), "a:lost h:lost"},
		{"a message", abc, send("b", false), "b:message"},
		{"an urgent one", abc, send("b", true), "b:message"},
		{"a message to an observer", append(abc, observers("h")), send("h", false), "h:message"},
		{"a message to all", abc, send(turn.Everyone, false), ""},
		{"an urgent one to all", abc, send(turn.Everyone, true), "b:message c:message"},
		{"a note for b", abc, addNote("b"), "b:message"},
		{"a note for all", abc, addNote(""), ""},
		{"a join", abc, members("d"), ""},
		{"a policy", abc, policy(func(p *turn.Policy) { p.ClaimTTL++ }), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := room(t, slices.Clone(c.steps)...)
			before, first := w.state, len(w.events)
			c.do(w)
			events := w.events[first:]
			var got []string
			for _, id := range turn.Listeners(before, w.state, events) {
				class := turn.ClassTurn
				if i := slices.IndexFunc(events, func(e event.Event) bool { return turn.ClassOf(&e, id) != "" }); i >= 0 {
					class = turn.ClassOf(&events[i], id)
				}
				got = append(got, id+":"+class)
			}
			slices.Sort(got)
			equal(t, "notified", strings.Join(got, " "), c.want)
		})
	}
}

// TestUrgentNews: the end of a job is nothing that others write too often.
func TestUrgentNews(t *testing.T) {
	equal(t, "a job", turn.News{Words: talk.Unread{Jobs: 1}}.Urgent(), true)
	equal(t, "a message", turn.News{Words: talk.Unread{Messages: 1}}.Urgent(), false)
	equal(t, "a released turn", turn.News{Offer: 1, Plain: true}.Urgent(), false)
}
