package turn_test

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestLogEntries: a turn is one entry, whatever ends it, and stands where it began.
func TestLogEntries(t *testing.T) {
	opened := event.Event{Type: turn.RoomOpened, From: "a"}
	grant := event.Event{Type: turn.Claim, To: "a", Turn: 1}
	message := event.Event{Type: turn.MessageSent, From: "b", Payload: []byte(`{"body":"hello","delivery_hint":"interrupt"}`)}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"nothing", nil, ""},
		{"in progress", []event.Event{opened, grant}, "room turn:a"},
		{"released", []event.Event{grant, message, {Type: turn.Released, From: "a"}}, "turn:a:release message:hello:interrupt"},
		{"passed", []event.Event{grant, {Type: turn.Passed, From: "a", To: "b"}}, "turn:a:pass:to b"},
		{"taken over", []event.Event{grant, {Type: turn.Takeover, From: "a", To: "b"}}, "turn:a:takeover:to b turn:b:from a"},
		{"its owner left", []event.Event{grant, {Type: turn.MemberLeft, From: "a"}}, "turn:a:member_left member"},
		{"another left", []event.Event{grant, {Type: turn.MemberLeft, From: "b"}}, "turn:a member"},
		{"its owner was removed", []event.Event{grant, {Type: turn.Kicked, From: "b", To: "a"}}, "turn:a:kick:to a member"},
		{"the room ended", []event.Event{grant, {Type: turn.Closed}}, "turn:a:close room"},
		{"its grant is not there", []event.Event{{Type: turn.Released, From: "a"}, message}, "message:hello:interrupt"},
		{"notes", []event.Event{
			{Type: turn.NoteAdded, Payload: []byte(`{"note_id":"n","severity":"page","body":"look"}`)}, {Type: turn.NoteResolved},
		}, "note:look:page note_resolved"},
		{"unreadable, and unknown", []event.Event{{Type: turn.MessageSent, Payload: []byte(`7`)}, {Type: "new"}, {Type: turn.PolicyChanged}}, "message room policy"},
	} {
		var got []string
		for _, e := range turn.LogEntries(tt.events) {
			parts := []string{e.Kind}
			if e.Kind == "turn" {
				parts = append(parts, e.Agent)
			}
			for _, part := range []string{e.Text, e.Hint, e.Severity, e.EndedBy} {
				if part != "" {
					parts = append(parts, part)
				}
			}
			if e.PassedTo != "" {
				parts = append(parts, "to "+e.PassedTo)
			}
			if e.TakenFrom != "" {
				parts = append(parts, "from "+e.TakenFrom)
			}
			if (e.EndedBy != "") != (e.EndedAt != nil) {
				t.Errorf("%s: ended by %q at %v", tt.name, e.EndedBy, e.EndedAt)
			}
			got = append(got, strings.Join(parts, ":"))
		}
		equal(t, tt.name, strings.Join(got, " "), tt.want)
	}
}
