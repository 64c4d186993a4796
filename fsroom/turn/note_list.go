package turn

import (
	"slices"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// A NoteView is a note as lists show it.
type NoteView struct {
	Note
	Body       string
	ResolvedAt *event.Time // nil: the note is open
	ResolvedBy string
}

// A NoteQuery selects notes of a room's life.
type NoteQuery struct {
	All   bool   // resolved notes as well
	After string // only notes added after the one with this id; "": no such limit
	Limit int    // the length of the longest list
}

// ListNotes returns the notes that q selects, the oldest first; the list is never nil
// without an error. It reads events with at, which returns the event with the given
// event_seq, and returns the errors of at as they are. An unknown note in After is
// refused with invalid_cursor. The open notes are in the state. Each event about a
// note names the one before, so no other events are read.
func ListNotes(s *State, q NoteQuery, at func(seq int64) (*event.Event, error)) ([]NoteView, error) {
	var known []NoteView
	for _, n := range s.Notes {
		known = append(known, NoteView{Note: n})
	}
	if q.All || q.After != "" {
		var err error
		if known, err = allNotes(s, at); err != nil {
			return nil, err
		}
	}
	if q.After != "" {
		i := slices.IndexFunc(known, func(n NoteView) bool { return n.ID == q.After })
		if i < 0 {
			return nil, code.New(code.InvalidCursor, "there is no note %q", q.After).With("after_note_id", q.After)
		}
		known = known[i+1:]
	}
	list := make([]NoteView, 0)
	for _, n := range known {
		if len(list) == q.Limit {
			break
		}
		if n.ResolvedAt != nil && !q.All {
			continue
		}
		if n.Body == "" {
			p, err := noteAt(n.Seq, at)
			if err != nil {
				return nil, err
			}
			n.Body = p.Body
		}
		list = append(list, n)
	}
	return list, nil
}

// HasNote reports whether a note with the id was added in the room's life. It is false
// if the events cannot be read.
func HasNote(s *State, id string, at func(seq int64) (*event.Event, error)) bool {
	all, err := allNotes(s, at)
	return err == nil && slices.ContainsFunc(all, func(n NoteView) bool { return n.ID == id })
}

// allNotes follows the chain of note events from the last one to the first.
func allNotes(s *State, at func(seq int64) (*event.Event, error)) ([]NoteView, error) {
	var notes []NoteView
	resolved := make(map[string]*event.Event)
	for seq := s.LastNote; seq != 0; {
		e, err := at(seq)
		if err != nil {
			return nil, err
		}
		var p NotePayload
		if err := decode(e, &p); err != nil {
			return nil, err
		}
		if seq = p.Previous; e.Type == NoteResolved {
			resolved[p.ID] = e
			continue
		}
		n := NoteView{Note: p.note(e), Body: p.Body}
		if r := resolved[p.ID]; r != nil {
			n.ResolvedAt, n.ResolvedBy = &r.CreatedAt, r.From
		}
		notes = append(notes, n)
	}
	slices.Reverse(notes)
	return notes, nil
}

// noteAt returns the payload of the note_added event at seq.
func noteAt(seq int64, at func(seq int64) (*event.Event, error)) (NotePayload, error) {
	var p NotePayload
	e, err := at(seq)
	if err == nil {
		err = decode(e, &p)
	}
	return p, err
}

// note returns the note that a note_added event with this payload adds.
func (p *NotePayload) note(e *event.Event) Note {
	return Note{ID: p.ID, Seq: e.Seq, Turn: p.Turn, Author: e.From, Target: p.Target, Severity: p.Severity, CreatedAt: e.CreatedAt}
}
