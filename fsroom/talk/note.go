package talk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

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

// Kind is [KindNote] or [KindPage].
func (n *Note) Kind() string {
	if n.Severity == SeverityPage {
		return KindPage
	}
	return KindNote
}

// IsNamed reports whether id is the note's, or at least the first four characters of it.
func (n *Note) IsNamed(id string) bool {
	return n.ID == id || len(id) >= 4 && strings.HasPrefix(n.ID, id)
}

// Word returns the note with its body as a word.
func (n *Note) Word(body string) Word {
	return Word{Kind: n.Kind(), ID: n.ID, Seq: n.Seq, From: n.Author, To: n.Target, Text: body, Urgent: n.Kind() == KindPage}
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

// Note returns the note that a note_added event with this payload adds.
func (p *NotePayload) Note(e *event.Event) Note {
	return Note{ID: p.ID, Seq: e.Seq, Turn: p.Turn, Author: e.From, Target: p.Target, Severity: p.Severity, CreatedAt: e.CreatedAt}
}

// ResolvedPayload is the payload of a note_resolved event.
type ResolvedPayload struct {
	ID         string `json:"note_id"`
	ReplacedBy string `json:"replaced_by,omitempty"` // the note that was added in its place, "" if none was
}

// isFor reports whether the note is for the agent: by another agent, and for all or for it.
func (n *Note) isFor(agent string) bool {
	return n.Author != agent && (n.Target == "" || n.Target == agent)
}

// NotesFor returns the open notes for the agent, without their bodies. Those that it was not
// shown come first, of these the pages, and of each the oldest. fresh is how many it was not shown.
func NotesFor(open []Note, agent string, seen *Seen) (notes []Note, fresh int) {
	rank := func(n *Note) (r int) {
		if seen.Has(n.Kind(), n.Seq) {
			r = 2
		}
		if n.Kind() != KindPage {
			r++
		}
		return r
	}
	for _, n := range open {
		if n.isFor(agent) {
			notes = append(notes, n)
		}
	}
	slices.SortStableFunc(notes, func(a, b Note) int { return cmp.Compare(rank(&a), rank(&b)) })
	for fresh < len(notes) && rank(&notes[fresh]) < 2 {
		fresh++
	}
	return notes, fresh
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
	case e.Type == NoteAdded && Decode(e, &p) == nil:
		h.notes = append(h.notes, NoteView{Note: p.Note(e), Body: p.Body})
	case e.Type == NoteResolved && Decode(e, &r) == nil:
		if i := slices.IndexFunc(h.notes, func(n NoteView) bool { return n.ID == r.ID }); i >= 0 {
			n, at := &h.notes[i], e.CreatedAt
			n.ResolvedAt, n.ResolvedBy, n.ReplacedBy = &at, e.From, r.ReplacedBy
		}
	}
}

// All returns the notes, the oldest first. Of one that the journal has lost only what is known of the open ones is.
func (h *NoteHistory) All(open []Note) []NoteView {
	all := slices.DeleteFunc(slices.Clone(h.notes), func(n NoteView) bool { // that was resolved by a lost event
		return n.ResolvedAt == nil && !slices.ContainsFunc(open, func(o Note) bool { return o.ID == n.ID })
	})
	for _, o := range open {
		if !slices.ContainsFunc(all, func(n NoteView) bool { return n.ID == o.ID }) {
			all = append(all, NoteView{Note: o})
		}
	}
	slices.SortStableFunc(all, func(a, b NoteView) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}

// List returns the notes that q selects, the oldest first; the list is never nil without an error.
// An unknown note in After is refused with invalid_cursor.
func (h *NoteHistory) List(open []Note, q NoteQuery) ([]NoteView, error) {
	known := h.All(open)
	if q.After != "" {
		i := slices.IndexFunc(known, func(n NoteView) bool { return n.IsNamed(q.After) })
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
