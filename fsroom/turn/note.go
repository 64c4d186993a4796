package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// A NoteRequest adds a note.
type NoteRequest struct {
	Agent, ID, Body, Target, Severity string
	Turn                              int64 // the turn that the note is about
	HasTurn                           bool  // Turn was given
}

// AddNote adds a note to the room. Without a severity the note is information.
func AddNote(s *State, f Facts, r NoteRequest) ([]event.Event, error) {
	body := strings.TrimSpace(r.Body)
	if err := cmp.Or(talk.Check(talk.KindNote, body), s.checkMember(r.Agent)); err != nil {
		return nil, err
	}
	if r.HasTurn && (r.Turn < 1 || r.Turn > s.Turn) {
		return nil, code.New(code.InvalidTurnID, "there is no turn %d, the last one is %d", r.Turn, s.Turn).
			WithHint(hintNoteNoTurn).With("supplied", r.Turn).With("current_turn_id", s.Turn)
	}
	p := talk.NotePayload{ID: r.ID, Severity: cmp.Or(r.Severity, talk.SeverityInfo), Turn: r.Turn, Preview: talk.Preview(body), Body: body}
	if r.Target != "" {
		m, err := s.addressee(f, r.Agent, r.Target)
		if err != nil {
			return nil, err
		}
		p.Target = m.AgentID
	}
	return []event.Event{{Type: NoteAdded, Turn: s.Turn, From: r.Agent, To: p.Target, Payload: payload(&p)}}, nil
}

// ReplaceNote adds a note and resolves the one that it has what is left of, in one change. It returns the whole
// id of that. Without an open note of that name it calls past, which returns all notes of the room's life: one
// that was resolved is refused with what became of it.
func ReplaceNote(s *State, f Facts, r NoteRequest, id string, past func() []talk.NoteView) ([]event.Event, string, error) {
	added, err := AddNote(s, f, r)
	if err != nil {
		return nil, "", err
	}
	resolved, whole, err := resolveNote(s, r.Agent, id, talk.ResolvedPayload{ReplacedBy: r.ID})
	if code.Of(err) != code.UnknownTarget {
		return append(added, resolved...), whole, err
	}
	for _, n := range slices.Backward(past()) {
		if n.ResolvedAt == nil || !n.IsNamed(id) {
			continue
		}
		e := code.New(code.NoteResolved, "note %s was resolved", n.ID).WithHint(hintListNotes).With("note_id", n.ID)
		if n.ReplacedBy != "" {
			e.Message = fmt.Sprintf("note %s was replaced by note %s", n.ID, n.ReplacedBy)
			e.With("replaced_by", n.ReplacedBy)
		}
		return nil, "", e
	}
	return nil, "", err
}

// ResolveNote resolves an open note, named by its id or by at least the first four
// characters of it, and returns the whole id. Without an open note of that name it
// calls past, as [ReplaceNote] does: to resolve a note again is no error and returns no events.
func ResolveNote(s *State, agent, id string, past func() []talk.NoteView) ([]event.Event, string, error) {
	events, whole, err := resolveNote(s, agent, id, talk.ResolvedPayload{})
	if code.Of(err) == code.UnknownTarget && len(s.notesNamed(id)) == 0 {
		notes := past()
		if i := slices.IndexFunc(notes, func(n talk.NoteView) bool { return n.IsNamed(id) }); i >= 0 {
			return nil, notes[i].ID, nil
		}
	}
	return events, whole, err
}

// notesNamed returns the ids of the open notes that are called id: by it, or by at least the first four
// characters of it.
func (s *State) notesNamed(id string) (found []string) {
	for _, n := range s.Notes {
		if n.IsNamed(id) {
			found = append(found, n.ID)
		}
	}
	return found
}

// resolveNote is ResolveNote for an open note, by an event with the payload p.
func resolveNote(s *State, agent, id string, p talk.ResolvedPayload) ([]event.Event, string, error) {
	if err := s.checkMember(agent); err != nil {
		return nil, "", err
	}
	switch found := s.notesNamed(id); {
	case len(found) == 1:
		p.ID = found[0]
		return []event.Event{{Type: NoteResolved, Turn: s.Turn, From: agent, Payload: payload(&p)}}, found[0], nil
	case len(found) > 1:
		return nil, "", code.New(code.UnknownTarget, "%q begins more than one note id", id).With("candidates", found)
	}
	return nil, "", code.New(code.UnknownTarget, "there is no open note %q", id).WithHint(hintListNotes).With("note_id", id)
}
