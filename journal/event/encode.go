package event

import "github.com/talking-stick/tt/journal/wire"

// Append appends e to b as one line with its newline. The line is JSON and UTF-8
// whatever e contains: bytes that are not UTF-8 become U+FFFD, and a Handoff or Payload
// loses the white space between its tokens, or is written as a string if it is not
// JSON. Nothing is escaped for HTML. The line reads back as e if Seq is positive, Type
// is set and CreatedAt lies in the years 0 to 9999.
func (e *Event) Append(b []byte) []byte { return append(wire.Append(b, e), '\n') }

// Fields lists the fields of a line and of an event in results. Lines are read by a
// [Decoder], which is faster.
func (e *Event) Fields(c *wire.Codec) {
	c.Int("event_seq", &e.Seq)
	c.Text("event_id", &e.ID)
	c.Text("room_id", &e.RoomID)
	c.Int("turn_id", &e.Turn)
	c.Text("event_type", &e.Type)
	c.OptText("from_agent_id", &e.From)
	c.OptText("to_agent_id", &e.To)
	c.OptRaw("handoff", &e.Handoff)
	c.OptText("reason", &e.Reason)
	c.OptRaw("payload", &e.Payload)
	c.Time("created_at", &e.CreatedAt)
	c.OptBool("more", &e.More)
}
