package event

import (
	"bytes"
	"encoding/json"
)

// An Event is one line of a journal. The fields stand on the line in this order.
//
// Handoff and Payload are any JSON value: the journal keeps them and does not
// look into them. A JSON null is the same as nothing.
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
	More      bool            `json:"more,omitempty"` // further lines of the same change follow
}

// Clone returns a copy of e that shares no memory with it. Events handed out by
// [Decode] and [Decoder.Decode] borrow the bytes of Handoff and Payload from a buffer;
// whoever keeps such an event keeps a clone. The strings are always safe to keep.
func (e *Event) Clone() Event {
	c := *e
	c.Handoff = bytes.Clone(e.Handoff)
	c.Payload = bytes.Clone(e.Payload)
	return c
}
