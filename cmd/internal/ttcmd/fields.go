package ttcmd

import (
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/wire"
)

// The JSON forms of the files and results that nearly every command reads or prints.
// They are written by package wire, because the first use of encoding/json takes a
// fifth of a millisecond, a tenth of such a command. Rare results use encoding/json.

func (r *stateResult) Fields(c *wire.Codec) {
	c.Object("room", &r.Room)
	wire.List(c, "members", &r.Members)
	r.lastKnown.fields(c)
}

func (r *joinResult) Fields(c *wire.Codec) {
	c.Text("agent_id", &r.AgentID)
	c.Text("room_id", &r.RoomID)
	c.Text("workspace_root", &r.WorkspaceRoot)
	c.OptText("warning", &r.Warning)
	c.Text("turn", &r.Turn)
	if r.Verbose {
		wire.List(c, "members", &r.Members)
	} else {
		short := make([]shortMember, len(r.Members))
		for i := range r.Members {
			short[i] = shortMember{r.Members[i].AgentID, r.Members[i].Status}
		}
		wire.List(c, "members", &short)
	}
	c.OptObject("unread", &r.Unread, r.Unread == turn.Unread{})
	c.Text("next", &r.Next)
	if r.Verbose {
		c.Text("canonical_path", &r.CanonicalPath)
		c.Text("requested_path", &r.RequestedPath)
		c.Bool("joined_existing_room", &r.JoinedExisting)
		c.Object("policy", &r.Policy)
		c.Object("room", &r.Room)
		c.Int("cursor_event_seq", &r.Cursor)
		c.Object("handoff_template", &r.Template)
	}
}

// A shortMember is a member in the result of join.
type shortMember struct{ AgentID, Status string }

func (m *shortMember) Fields(c *wire.Codec) {
	c.Text("agent_id", &m.AgentID)
	c.Text("status", &m.Status)
}

func (r *eventsResult) Fields(c *wire.Codec) {
	wire.List(c, "events", &r.Events)
	c.Int("cursor_event_seq", &r.Cursor)
}

func (r *briefResult) Fields(c *wire.Codec) {
	wire.List(c, "events", &r.Events)
	c.Int("cursor_event_seq", &r.Cursor)
}

func (e *briefEvent) Fields(c *wire.Codec) {
	c.Int("event_seq", &e.Seq)
	c.Text("event_type", &e.Type)
	c.OptText("from", &e.From)
	c.OptText("to", &e.To)
	c.OptText("text", &e.Text)
}

func (r *notesResult) Fields(c *wire.Codec) { wire.List(c, "notes", &r.Notes) }
