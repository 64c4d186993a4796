package event

import (
	"encoding/json"
	"fmt"

	"github.com/talking-stick/tt/journal/wire"
)

// The types of events that are of every kind of room. They tell of events that are lost.
const (
	// JournalDamaged is the first event after lost ones, whose numbers are not used again: the
	// only event whose number need not follow that of the line before it. Its payload is a [Loss].
	JournalDamaged = "journal_damaged"
	// Damaged is in the place of one event that could not be read. It tells the turn at most.
	Damaged = "damaged"
)

// Lost are events that a journal had and has no more, by their numbers.
type Lost struct {
	From int64 `json:"lost_from"`
	To   int64 `json:"lost_to"`
}

// Has reports whether the event with the number is lost. Nothing is lost if l is nil.
func (l *Lost) Has(seq int64) bool { return l != nil && l.From <= seq && seq <= l.To }

// Words says which events are lost: "event 7 is lost", "events 5 to 7 are lost".
func (l Lost) Words() string {
	if l.From == l.To {
		return fmt.Sprintf("event %d is lost", l.From)
	}
	return fmt.Sprintf("events %d to %d are lost", l.From, l.To)
}

// LostOf returns what a [JournalDamaged] event says is lost.
func LostOf(e *Event) Lost {
	var p Loss
	_ = wire.Decode(e.Payload, &p)
	return p.Lost
}

// A Loss is the payload of a [JournalDamaged] event.
type Loss struct {
	Lost
	State json.RawMessage `json:"state,omitempty"` // of the room after the last lost event, as state.json had it
}

// Leaps reports whether e may follow a line with the number seq that is not the one before its own.
func (e *Event) Leaps(seq int64) bool { return e.Type == JournalDamaged && e.Seq > seq }
