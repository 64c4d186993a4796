// Package event defines an event and the line of JSON in which it is written.
//
// It knows no files: package journal keeps the lines. The pure rules in fsroom/turn
// and fsroom/topic decide in events and fold them, so they import this package and
// not the journal.
package event

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/talking-stick/tt/journal/wire"
)

// An Event is one line of a journal. The line has the fields in this order.
//
// Handoff and Payload are any JSON values, which the journal does not interpret. A
// JSON null is the same as no value.
type Event struct {
	Seq       int64           `json:"event_seq"`
	ID        string          `json:"event_id"`
	RoomID    string          `json:"room_id"`
	Turn      int64           `json:"turn_id"`
	Type      string          `json:"event_type"`
	From      string          `json:"from_agent_id,omitempty"`
	To        string          `json:"to_agent_id,omitempty"`
	Handoff   json.RawMessage `json:"handoff,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"`
	CreatedAt Time            `json:"created_at"`
	More      bool            `json:"more,omitempty"` // the next line belongs to the same change
}

// Clone returns a copy of e that shares no memory with it. The Handoff and Payload of
// a decoded event alias the buffer of the line. A caller that keeps the event longer than
// the buffer keeps a clone. The strings never alias the buffer.
func (e *Event) Clone() Event {
	c := *e
	c.Handoff = bytes.Clone(e.Handoff)
	c.Payload = bytes.Clone(e.Payload)
	return c
}

// Append appends e to b as one line with its newline. The line is JSON and UTF-8
// whatever e contains: bytes that are not UTF-8 become U+FFFD, and a Handoff or Payload
// loses the white space between its tokens, or is written as a string if it is not
// JSON. Nothing is escaped for HTML. The line reads back as e if Seq is positive, Type
// is set and CreatedAt lies in the years 0 to 9999.
func (e *Event) Append(b []byte) []byte { return append(wire.Append(b, e), '\n') }

// MarshalJSON returns the line of the event without the newline.
func (e *Event) MarshalJSON() ([]byte, error) { return wire.Append(nil, e), nil }

// Decode reads one line. Keys may come in any order and with any spacing, so it reads
// a journal that other tools have rewritten. Unknown keys are skipped, null means
// absent, and of a key given twice the last value that is not null counts. Decode refuses a value of the
// wrong type, an event_seq below 1, a missing event_type, anything after the object,
// and bytes that are not UTF-8.
//
// Handoff and Payload alias line, see [Event.Clone].
func Decode(line []byte) (e Event, err error) {
	if err := e.Decode(line); err != nil {
		return Event{}, err
	}
	return e, nil
}

// Decode is the function [Decode]. It overwrites e, also if it fails.
func (e *Event) Decode(line []byte) error {
	*e = Event{}
	if err := wire.Decode(line, e); err != nil {
		return err
	}
	if e.Seq < 1 {
		return errors.New("event_seq missing or below 1")
	}
	if e.Type == "" {
		return errors.New("event_type missing")
	}
	return nil
}
