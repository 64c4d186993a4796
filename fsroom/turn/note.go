package turn

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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

// NotePayload is the payload of a note_added event. Previous is the event before it
// that added or resolved a note in this life, 0 for none. So the notes can be found
// without reading the events in between, see [ListNotes].
type NotePayload struct {
	ID       string `json:"note_id"`
	Severity string `json:"severity"`
	Target   string `json:"target_agent_id,omitempty"`
	Turn     int64  `json:"note_turn_id,omitempty"`
	Preview  string `json:"body_preview"`
	Body     string `json:"body"`
	Previous int64  `json:"previous_note_event_seq,omitempty"`
}

// ResolvedPayload is the payload of a note_resolved event.
type ResolvedPayload struct {
	ID         string `json:"note_id"`
	ReplacedBy string `json:"replaced_by,omitempty"` // the note that was added in its place, "" if none was
	Previous   int64  `json:"previous_note_event_seq,omitempty"`
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
	switch {
	case len(body) > MaxNote:
		return "", code.New(code.BodyTooLarge, "the note has %d bytes, at most %d are allowed", len(body), MaxNote).
			With("supplied", len(body)).WithHint("put the text into a file of the workspace and point at it")
	case !utf8.ValidString(body):
		return "", code.New(code.InvalidBody, "the note is not valid UTF-8")
	case body == "":
		return "", code.New(code.InvalidBody, "the note is empty")
	}
	return body, nil
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
	p := NotePayload{ID: r.ID, Severity: r.Severity, Turn: r.Turn, Preview: Preview(body), Body: body, Previous: s.LastNote}
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
// id of that. Without an open note of that name it calls resolution, which returns how a note was resolved,
// nil if it was not: such a note is refused.
func ReplaceNote(s *State, f Facts, r NoteRequest, id string, resolution func(id string) *ResolvedPayload) ([]event.Event, string, error) {
	added, err := AddNote(s, f, r)
	if err != nil {
		return nil, "", err
	}
	resolved, whole, err := resolveNote(s, r.Agent, id, ResolvedPayload{ReplacedBy: r.ID, Previous: s.Seq + 1})
	if err == nil {
		return append(added, resolved...), whole, nil
	}
	if code.Of(err) == code.UnknownTarget {
		if p := resolution(id); p != nil {
			e := code.New(code.NoteResolved, "note %s was resolved", p.ID).WithHint(hintListNotes).With("note_id", p.ID)
			if p.ReplacedBy != "" {
				e.Message = fmt.Sprintf("note %s was replaced by note %s", p.ID, p.ReplacedBy)
				e.With("replaced_by", p.ReplacedBy)
			}
			return nil, "", e
		}
	}
	return nil, "", err
}

// ResolveNote resolves an open note, named by its id or by at least the first four
// characters of it, and returns the whole id. Without an open note of that name it
// calls wasNote, which reports whether a note with exactly this id was resolved
// before: to resolve such a note again is no error and returns no events.
func ResolveNote(s *State, agent, id string, wasNote func(id string) bool) ([]event.Event, string, error) {
	events, whole, err := resolveNote(s, agent, id, ResolvedPayload{Previous: s.LastNote})
	if code.Of(err) == code.UnknownTarget && len(s.notesNamed(id)) == 0 && wasNote(id) {
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
	s.LastNote = e.Seq
	return nil
}

func (s *State) applyResolve(e *event.Event) error {
	var p ResolvedPayload
	if err := decode(e, &p); err != nil {
		return err
	}
	s.Notes = slices.DeleteFunc(s.Notes, func(n Note) bool { return n.ID == p.ID })
	s.LastNote = e.Seq
	return nil
}

// A NoteView is a note as lists show it.
type NoteView struct {
	Note
	Body       string      `json:"body"`
	ResolvedAt *event.Time `json:"resolved_at,omitzero"` // nil: the note is open
	ResolvedBy string      `json:"resolved_by_agent_id,omitempty"`
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

// Resolution returns how the note that is called id was resolved last, nil if it was not, or the events
// cannot be read. It follows the chain of note events from the last one.
func Resolution(s *State, id string, at func(seq int64) (*event.Event, error)) *ResolvedPayload {
	for seq := s.LastNote; seq != 0; {
		e, err := at(seq)
		if err != nil || e.Type != NoteAdded && e.Type != NoteResolved {
			return nil
		}
		var p ResolvedPayload
		if decode(e, &p) != nil {
			return nil
		}
		if e.Type == NoteResolved && isNamed(p.ID, id) {
			return &p
		}
		seq = p.Previous
	}
	return nil
}

// allNotes follows the chain of note events from the last one to the first. Where one of them is lost,
// only the open notes are known of those before.
func allNotes(s *State, at func(seq int64) (*event.Event, error)) ([]NoteView, error) {
	var notes []NoteView
	resolved := make(map[string]*event.Event)
	for seq := s.LastNote; seq != 0; {
		e, err := at(seq)
		if err != nil {
			return nil, err
		}
		if e.Type == event.Damaged {
			for _, n := range slices.Backward(s.Notes) {
				if n.Seq <= seq {
					notes = append(notes, NoteView{Note: n})
				}
			}
			break
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
