package event

import "github.com/talking-stick/tt/journal/wire"

// Fields lists the event as results show it. A line of the journal has the same
// fields and is written by [Event.Append].
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
