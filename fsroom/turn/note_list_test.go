package turn_test

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
)

// Lists of notes are read from the events of the room.
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
	var history talk.NoteHistory
	for i := range w.events {
		history.Add(&w.events[i])
	}
	for _, tt := range []struct {
		query talk.NoteQuery
		want  string
	}{
		{talk.NoteQuery{Limit: 9}, "one three"},
		{talk.NoteQuery{Limit: 9, All: true}, "one two* three"},
		{talk.NoteQuery{Limit: 2, All: true}, "one two*"},
		{talk.NoteQuery{Limit: 1, After: ids[0]}, "three"},
		{talk.NoteQuery{Limit: 9, After: ids[1]}, "three"},
		{talk.NoteQuery{Limit: 9, After: ids[2], All: true}, ""},
		{talk.NoteQuery{Limit: 9, After: ids[0][:len(ids[0])-1]}, "three"},
	} {
		notes, err := history.List(w.state.Notes, tt.query)
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
	if _, err := history.List(w.state.Notes, talk.NoteQuery{Limit: 9, After: "none"}); err == nil {
		t.Error("a list after a note that does not exist")
	}
}
