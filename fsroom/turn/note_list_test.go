package turn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// Lists of notes are read along the chain of note events, and nothing else is read.
func TestListNotes(t *testing.T) {
	w := newWorld(t)
	w.join("a")
	var ids []string
	for _, body := range []string{"one", "two", "three"} {
		id, err := w.addNote(turn.NoteRequest{Agent: "a", Body: body})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		if err := w.send("a", "room", "between"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.resolve("a", ids[1]); err != nil {
		t.Fatal(err)
	}
	at := func(seq int64) (*event.Event, error) {
		e := &w.events[seq-1]
		if e.Type != turn.NoteAdded && e.Type != turn.NoteResolved {
			t.Errorf("event %d was read, which is %s", seq, e.Type)
		}
		return e, nil
	}
	for _, tt := range []struct {
		query turn.NoteQuery
		want  string
	}{
		{turn.NoteQuery{Limit: 9}, "one three"},
		{turn.NoteQuery{Limit: 9, All: true}, "one two* three"},
		{turn.NoteQuery{Limit: 2, All: true}, "one two*"},
		{turn.NoteQuery{Limit: 1, After: ids[0]}, "three"},
		{turn.NoteQuery{Limit: 9, After: ids[1]}, "three"},
		{turn.NoteQuery{Limit: 9, After: ids[2], All: true}, ""},
	} {
		notes, err := turn.ListNotes(w.state, tt.query, at)
		var got []string
		for _, n := range notes {
			if got = append(got, n.Body); n.ResolvedAt != nil && n.ResolvedBy == "a" {
				got[len(got)-1] += "*"
			}
		}
		if s := strings.Join(got, " "); err != nil || s != tt.want {
			t.Errorf("%+v: got %q, %v; want %q", tt.query, s, err, tt.want)
		}
	}
	if _, err := turn.ListNotes(w.state, turn.NoteQuery{Limit: 9, After: "none"}, at); err == nil {
		t.Error("a list after a note that does not exist")
	}
	has := func(id string) bool { return turn.HasNote(w.state, id, at) }
	if !slices.Equal([]bool{has(ids[1]), has(ids[2]), has("none")}, []bool{true, true, false}) {
		t.Error("HasNote does not know the notes of the room")
	}
}
