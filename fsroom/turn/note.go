package turn

import (
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
	ID        string
	Seq       int64
	Turn      int64 // 0: about the room, not one turn
	Author    string
	Target    string
	Severity  string
	CreatedAt event.Time
}

// NotePayload is the payload of a note_added event. Previous is the event before it
// that added or resolved a note in this life, 0 for none. So the notes can be found
// without reading the events in between, see [ListNotes].
type NotePayload struct {
	ID       string
	Severity string
	Target   string
	Turn     int64
	Preview  string
	Body     string
	Previous int64
}

// ResolvedPayload is the payload of a note_resolved event.
type ResolvedPayload struct {
	ID       string
	Previous int64
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

// ResolveNote resolves an open note, named by its id or by at least the first four
// characters of it, and returns the whole id. Without an open note of that name it
// calls wasNote, which reports whether a note with exactly this id was resolved
// before: to resolve such a note again is no error and returns no events.
func ResolveNote(s *State, agent, id string, wasNote func(id string) bool) ([]event.Event, string, error) {
	if !s.Open {
		return nil, "", closedRoom(s)
	}
	if s.Member(agent) == nil {
		return nil, "", NotJoined(s, agent)
	}
	var found []string
	for _, n := range s.Notes {
		if n.ID == id || (len(id) >= 4 && strings.HasPrefix(n.ID, id)) {
			found = append(found, n.ID)
		}
	}
	switch {
	case len(found) == 1:
		p := ResolvedPayload{ID: found[0], Previous: s.LastNote}
		return []event.Event{{Type: NoteResolved, Turn: s.Turn, From: agent, Payload: payload(&p)}}, found[0], nil
	case len(found) > 1:
		return nil, "", code.New(code.UnknownTarget, "%q begins more than one note id", id).With("candidates", found)
	case wasNote(id):
		return nil, id, nil
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
