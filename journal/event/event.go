package event

import (
	"bytes"
	"encoding/json"
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
// an event from [Decode] or [Decoder.Decode] alias the buffer of the line. A caller
// that keeps the event longer than the buffer keeps a clone. The strings never alias
// the buffer.
func (e *Event) Clone() Event {
	c := *e
	c.Handoff = bytes.Clone(e.Handoff)
	c.Payload = bytes.Clone(e.Payload)
	return c
}
