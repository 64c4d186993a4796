package mirror

import (
	"bytes"
	"errors"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

// A marker says how far a mirror has got. It is written after the journal, without a sync:
// a marker that is behind costs a repetition, and one that is ahead of the journal shows
// that lines were lost, which are then fetched again.
type marker struct {
	Revision int64      `json:"revision"`  // of the last change in the mirror
	Offset   int64      `json:"offset"`    // the end of the mirror's journal after it; 0 between two lives
	Seq      int64      `json:"event_seq"` // of its last event
	EventID  string     `json:"event_id,omitempty"`
	Changes  int64      `json:"changes"`     // how many the mirror has, since the engine's first
	At       event.Time `json:"at,omitzero"` // when the last change, or a later note, was made
	// The last note that was fetched, its revision, and when the engine got it.
	Note         string     `json:"note,omitempty"`
	NoteRevision int64      `json:"note_revision,omitempty"`
	NoteAt       event.Time `json:"note_at,omitzero"`
}

// A tail is what the engine has from a marker on.
type tail struct {
	at      time.Time // when the engine was asked
	took    time.Duration
	from    marker
	entries []engine.Entry  // changes and notes; the first is the change at the marker
	last    engine.Revision // of what was read
	chain   chain
	stale   *marker // that of the mirror, at which the engine has another change; nil: from is that
}

// add adds an entry, unless it is to be skipped.
func (t *tail) add(e engine.Entry) error {
	if t.last = e.Revision; e.Lines == nil || int64(e.Revision) <= t.from.Revision || t.chain.follows(e) {
		t.entries = append(t.entries, e)
	}
	return nil
}

// news reports whether the tail has a change or a note that the mirror had not.
func (t *tail) news() bool {
	last := false // whether its last note is one
	for _, e := range t.entries {
		switch {
		case e.Lines == nil:
			last = t.from.lacks(e)
		case int64(e.Revision) > t.from.Revision:
			return true
		}
	}
	return last
}

// lastNote returns a marker that has only the last note of the tail.
func (t *tail) lastNote() *marker {
	m := t.from
	for _, e := range t.entries {
		m.noted(e)
	}
	return &m
}

// lacks reports whether a note is one that the mirror did not have. A store that was copied back
// gives new notes revisions that it has given before.
func (m *marker) lacks(e engine.Entry) bool {
	return int64(e.Revision) > m.NoteRevision || event.NewTime(e.At).After(m.NoteAt.Time)
}

// noted adds a note to the marker, if it is one that the mirror did not have.
func (m *marker) noted(e engine.Entry) {
	if e.Lines == nil && m.lacks(e) {
		m.Note, m.NoteRevision, m.NoteAt = string(e.Note), int64(e.Revision), event.NewTime(e.At)
		m.At = m.NoteAt
	}
}

// follows reports whether what the engine has is what the mirror has, and more: a mirror that went
// on since it was fetched may have done so with a store that has lost it since.
func (t *tail) follows(m marker) bool {
	for _, e := range t.entries {
		if int64(e.Revision) == m.Revision && e.Lines != nil {
			return lastEventID(e.Lines) == m.EventID
		}
	}
	return m.Revision <= t.from.Revision || m.Revision > int64(t.last)
}

// linesLost reports whether a mirror that ends at the position has lost lines.
func (m *marker) linesLost(end journal.Position) bool {
	return end.Seq < m.Seq || end.Seq == m.Seq && end.Offset != m.Offset
}

// lastEventID returns the id of the last event of a change.
func lastEventID(lines []byte) string {
	events, err := decodeChange(lines)
	if err != nil || len(events) == 0 {
		return ""
	}
	return events[len(events)-1].ID
}

// decodeChange returns the events of the lines of a change.
func decodeChange(lines []byte) (events []event.Event, err error) {
	for line := range bytes.Lines(lines) {
		e, err := event.Decode(line)
		if err != nil {
			return nil, err
		}
		events = append(events, e.Clone())
	}
	if len(events) == 0 {
		return nil, errors.New("a change without events")
	}
	return events, nil
}
