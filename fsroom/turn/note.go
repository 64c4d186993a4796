package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// MaxNote is the size of the longest note body after trimming, in bytes.
const MaxNote = 16384

// previewRunes is the length of the longest preview.
const previewRunes = 120

// How urgent a note is. A note with the severity page should be read at once.
const (
	SeverityInfo = "info"
	SeverityPage = "page"
)

// A Note is a note without its body, which is in the journal, in the event at Seq.
type Note struct {
	ID        string     `json:"note_id"`
	Seq       int64      `json:"event_seq"`
	Turn      int64      `json:"turn_id,omitempty"` // 0: about the room, not one turn
	Author    string     `json:"author_agent_id"`
	Target    string     `json:"target_agent_id,omitempty"`
	Severity  string     `json:"severity"`
	CreatedAt event.Time `json:"created_at"`
}

// NotePayload is the payload of a note_added event.
type NotePayload struct {
	ID       string `json:"note_id"`
	Severity string `json:"severity"`
	Target   string `json:"target_agent_id,omitempty"`
	Turn     int64  `json:"note_turn_id,omitempty"`
	Preview  string `json:"body_preview"`
	Body     string `json:"body"`
}

// ResolvedPayload is the payload of a note_resolved event.
type ResolvedPayload struct {
	ID         string `json:"note_id"`
	ReplacedBy string `json:"replaced_by,omitempty"` // the note that was added in its place, "" if none was
}

// A NoteRequest adds a note.
type NoteRequest struct {
	Agent, ID, Body, Target, Severity string
	Turn                              int64 // the turn that the note is about
	HasTurn                           bool  // Turn was given
}

// CheckNote returns the body without white space around it, or refuses it.
func CheckNote(body string) (string, error) {
	body = strings.TrimSpace(body)
	return body, CheckText("note", body, "bytes", len(body), MaxNote, code.BodyTooLarge, "put the text into a file of the workspace and point at it")
}

// AddNote adds a note to the room. Without a severity the note is information.
func AddNote(s *State, f Facts, r NoteRequest) ([]event.Event, error) {
	body, err := CheckNote(r.Body)
	if err != nil {
		return nil, err
	}
	if !s.Open {
		return nil, closedRoom(s)
	}
	if r.HasTurn && (r.Turn < 1 || r.Turn > s.Turn) {
		return nil, code.New(code.InvalidTurnID, "there is no turn %d, the last one is %d", r.Turn, s.Turn).
			WithHint(hintNoteNoTurn).With("supplied", r.Turn).With("current_turn_id", s.Turn)
	}
	if s.Member(r.Agent) == nil {
		return nil, NotJoined(s, r.Agent)
	}
	p := NotePayload{ID: r.ID, Severity: r.Severity, Turn: r.Turn, Preview: Preview(body), Body: body}
	if p.Severity == "" {
		p.Severity = SeverityInfo
	}
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
func ReplaceNote(s *State, f Facts, r NoteRequest, id string, past func() []NoteView) ([]event.Event, string, error) {
	added, err := AddNote(s, f, r)
	if err != nil {
		return nil, "", err
	}
	resolved, whole, err := resolveNote(s, r.Agent, id, ResolvedPayload{ReplacedBy: r.ID})
	if code.Of(err) != code.UnknownTarget {
		return append(added, resolved...), whole, err
	}
	for _, n := range slices.Backward(past()) {
		if n.ResolvedAt == nil || !isNamed(n.ID, id) {
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
// calls past, as [ReplaceNote] does: to resolve a note with exactly this id again is no error
// and returns no events.
func ResolveNote(s *State, agent, id string, past func() []NoteView) ([]event.Event, string, error) {
	events, whole, err := resolveNote(s, agent, id, ResolvedPayload{})
	if code.Of(err) == code.UnknownTarget && len(s.notesNamed(id)) == 0 &&
		slices.ContainsFunc(past(), func(n NoteView) bool { return n.ID == id }) {
		return nil, id, nil
	}
	return events, whole, err
}

// notesNamed returns the ids of the open notes that are called id: by it, or by at least the first four
// characters of it.
func (s *State) notesNamed(id string) (found []string) {
	for _, n := range s.Notes {
		if isNamed(n.ID, id) {
			found = append(found, n.ID)
		}
	}
	return found
}

func isNamed(whole, id string) bool {
	return whole == id || len(id) >= 4 && strings.HasPrefix(whole, id)
}

// resolveNote is ResolveNote for an open note, by an event with the payload p.
func resolveNote(s *State, agent, id string, p ResolvedPayload) ([]event.Event, string, error) {
	if !s.Open {
		return nil, "", closedRoom(s)
	}
	if s.Member(agent) == nil {
		return nil, "", NotJoined(s, agent)
	}
	switch found := s.notesNamed(id); {
	case len(found) == 1:
		p.ID = found[0]
		return []event.Event{{Type: NoteResolved, Turn: s.Turn, From: agent, Payload: payload(&p)}}, found[0], nil
	case len(found) > 1:
		return nil, "", code.New(code.UnknownTarget, "%q begins more than one note id", id).With("candidates", found)
	}
	return nil, "", code.New(code.UnknownTarget, "there is no note %q", id).WithHint(hintListNotes).With("note_id", id)
}

// Preview returns the first line of a text, cut to 120 characters.
func Preview(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > previewRunes {
		return string(runes[:previewRunes-1]) + "…"
	}
	return line
}

// SeverityOf returns the severity of the note that the event adds, "" for any other
// event.
func SeverityOf(e *event.Event) string {
	var p NotePayload
	if e.Type != NoteAdded || decode(e, &p) != nil {
		return ""
	}
	return p.Severity
}

func (s *State) applyNote(e *event.Event) error {
	var p NotePayload
	if err := decode(e, &p); err != nil {
		return err
	}
	s.Notes = append(s.Notes, p.note(e))
	return nil
}

func (s *State) applyResolve(e *event.Event) error {
	var p ResolvedPayload
	if err := decode(e, &p); err != nil {
		return err
	}
	s.Notes = slices.DeleteFunc(s.Notes, func(n Note) bool { return n.ID == p.ID })
	return nil
}

// A NoteView is a note as lists show it.
type NoteView struct {
	Note
	Body       string      `json:"body"`
	ResolvedAt *event.Time `json:"resolved_at,omitzero"` // nil: the note is open
	ResolvedBy string      `json:"resolved_by_agent_id,omitempty"`
	ReplacedBy string      // see [ResolvedPayload]; not part of the JSON
}

// A NoteQuery selects notes of a room's life.
type NoteQuery struct {
	All   bool   // resolved notes as well
	After string // only notes added after the one with this id; "": no such limit
	Limit int    // the length of the longest list
}

// A NoteHistory collects the notes of a room from its events.
type NoteHistory struct{ notes []NoteView }

// Add takes the next event into account.
func (h *NoteHistory) Add(e *event.Event) {
	var p NotePayload
	var r ResolvedPayload
	switch {
	case e.Type == NoteAdded && decode(e, &p) == nil:
		h.notes = append(h.notes, NoteView{Note: p.note(e), Body: p.Body})
	case e.Type == NoteResolved && decode(e, &r) == nil:
		for i := range h.notes {
			if n := &h.notes[i]; n.ID == r.ID {
				at := e.CreatedAt
				n.ResolvedAt, n.ResolvedBy, n.ReplacedBy = &at, e.From, r.ReplacedBy
			}
		}
	}
}

// All returns the notes, the oldest first. Of one that the journal has lost only what s has is known.
func (h *NoteHistory) All(s *State) []NoteView {
	all := slices.DeleteFunc(slices.Clone(h.notes), func(n NoteView) bool { // that was resolved by a lost event
		return n.ResolvedAt == nil && !slices.ContainsFunc(s.Notes, func(open Note) bool { return open.ID == n.ID })
	})
	for _, open := range s.Notes {
		if !slices.ContainsFunc(all, func(n NoteView) bool { return n.ID == open.ID }) {
			all = append(all, NoteView{Note: open})
		}
	}
	slices.SortStableFunc(all, func(a, b NoteView) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}

// List returns the notes that q selects, the oldest first; the list is never nil without an error.
// An unknown note in After is refused with invalid_cursor.
func (h *NoteHistory) List(s *State, q NoteQuery) ([]NoteView, error) {
	known := h.All(s)
	if q.After != "" {
		i := slices.IndexFunc(known, func(n NoteView) bool { return n.ID == q.After })
		if i < 0 {
			return nil, code.New(code.InvalidCursor, "there is no note %q", q.After).With("after_note_id", q.After)
		}
		known = known[i+1:]
	}
	if !q.All {
		known = slices.DeleteFunc(known, func(n NoteView) bool { return n.ResolvedAt != nil })
	}
	return append([]NoteView{}, known[:min(len(known), q.Limit)]...), nil
}

// note returns the note that a note_added event with this payload adds.
func (p *NotePayload) note(e *event.Event) Note {
	return Note{ID: p.ID, Seq: e.Seq, Turn: p.Turn, Author: e.From, Target: p.Target, Severity: p.Severity, CreatedAt: e.CreatedAt}
}
