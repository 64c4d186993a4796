package ttcmd

import (
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/wire"
)

// The JSON forms of what nearly every command reads or prints.

func (h *hold) Fields(c *wire.Codec) {
	c.Text("agent_id", &h.Agent)
	c.Int("turn_id", &h.Turn)
	c.Text("lease_id", &h.Lease)
	if h.Guardian == nil && !c.Writes() {
		h.Guardian = new(identity.Process)
	}
	c.OptObject("guardian", (*processFields)(h.Guardian), h.Guardian == nil)
	if !c.Writes() && *h.Guardian == (identity.Process{}) {
		h.Guardian = nil
	}
	c.OptObject("renewed", &h.Renewed, h.Renewed.IsZero())
	c.OptText("guardian_ended", &h.Ended)
	if !c.Writes() || !h.EndedAt.IsZero() {
		c.Time("guardian_ended_at", &h.EndedAt)
	}
}

type processFields identity.Process

func (p *processFields) Fields(c *wire.Codec) {
	c.OptText("host_id", &p.Host)
	c.OptText("boot_id", &p.Boot)
	c.Num("pid", &p.PID)
	start := int64(p.Start)
	c.Int("start", &start)
	p.Start = uint64(start)
	c.OptText("pid_namespace", &p.Namespace)
}

func (r *processRecord) Fields(c *wire.Codec) {
	list := make([]processFields, len(r.Processes))
	for i, p := range r.Processes {
		list[i] = processFields(p)
	}
	wire.List(c, "processes", &list)
	r.Processes = r.Processes[:0]
	for _, p := range list {
		r.Processes = append(r.Processes, identity.Process(p))
	}
	c.OptBool("session_outlives_process", &r.Lingers)
}

func (u *cursor) Fields(c *wire.Codec) {
	c.Time("joined_at", &u.JoinedAt)
	c.Int("event_seq", &u.Seq)
	c.Int("read", &u.Read)
}

func (r *stateResult) Fields(c *wire.Codec) {
	c.Object("room", &r.Room)
	wire.List(c, "members", &r.Members)
}

func (r *joinResult) Fields(c *wire.Codec) {
	c.Text("agent_id", &r.AgentID)
	c.Text("room_id", &r.RoomID)
	c.Text("canonical_path", &r.CanonicalPath)
	c.Text("requested_path", &r.RequestedPath)
	c.Text("workspace_root", &r.WorkspaceRoot)
	c.Bool("joined_existing_room", &r.JoinedExisting)
	c.OptText("warning", &r.Warning)
	c.Object("policy", &r.Policy)
	c.Object("room", &r.Room)
	wire.List(c, "members", &r.Members)
	c.Int("cursor_event_seq", &r.Cursor)
	c.Object("handoff_template", &r.Template)
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

func (r *sentResult) Fields(c *wire.Codec) {
	c.Int("event_seq", &r.EventSeq)
	c.Text("event_id", &r.EventID)
	c.Time("created_at", &r.CreatedAt)
	c.OptText("owner", &r.Owner)
	c.OptText("reserved_for", &r.ReservedFor)
}

func (r *notesResult) Fields(c *wire.Codec) { wire.List(c, "notes", &r.Notes) }
