package mailbox

import (
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/wire"
)

// Fields implements [wire.Fields]. What the answer to a wait says of the room is left out
// there.
func (in *Inbox) Fields(c *wire.Codec) {
	c.Text("agent_id", &in.AgentID)
	if !in.within {
		c.Text("room_id", &in.RoomID)
		c.Text("canonical_path", &in.CanonicalPath)
		c.Object("turn", &in.Turn)
	}
	wire.List(c, "questions", &in.Questions)
	wire.List(c, "answers", &in.Answers)
	wire.List(c, "messages", &in.Messages)
	wire.List(c, "notes", &in.Notes)
	wire.List(c, "jobs", &in.Jobs)
	wire.List(c, "asked", &in.Asked)
	if in.Needs != nil {
		wire.List(c, "needs", &in.Needs)
	}
	c.Object("counts", (*inboxCounts)(&in.Counts))
	c.Text("next_action", &in.Next)
}

// Fields implements [wire.Fields].
func (n *Need) Fields(c *wire.Codec) {
	c.Text("agent_id", &n.AgentID)
	c.Text("room_id", &n.RoomID)
	c.Text("canonical_path", &n.CanonicalPath)
	c.Text("what", &n.What)
	c.Time("since", &n.Since)
	c.OptText("detail", &n.Detail)
}

// inboxCounts are counts that are there when they are zero, too.
type inboxCounts turn.Unread

// Fields implements [wire.Fields].
func (n *inboxCounts) Fields(c *wire.Codec) {
	c.Int("questions", &n.Questions)
	c.Int("answers", &n.Answers)
	c.Int("messages", &n.Messages)
	c.Int("notes", &n.Notes)
	c.Int("pages", &n.Pages)
	c.Int("jobs", &n.Jobs)
}

// Fields implements [wire.Fields].
func (t *InboxTurn) Fields(c *wire.Codec) {
	c.Text("state", &t.State)
	c.Bool("for_you", &t.ForYou)
	c.Int("turn_id", &t.TurnID)
	c.OptText("owner", &t.Owner)
	c.OptText("reserved_for", &t.ReservedFor)
	wire.TimeIfAny(c, "lease_expires_at", &t.LeaseExpiresAt)
	wire.TimeIfAny(c, "claim_expires_at", &t.ClaimExpiresAt)
}

// Fields implements [wire.Fields]. What all questions of a list have in common, that they
// are open and owed by the agent, is left out.
func (q *InboxQuestion) Fields(c *wire.Codec) {
	if q.Shown {
		writeShown(c, "question_id", &q.ID, &q.From, q.Text)
		return
	}
	c.Text("question_id", &q.ID)
	c.Text("from_agent_id", &q.From)
	c.OptText("from_state", &q.FromState)
	c.OptText("to_agent_id", &q.To)
	c.Time("asked_at", &q.AskedAt)
	c.Text("question", &q.Text)
}

// Fields implements [wire.Fields].
func (n *InboxNote) Fields(c *wire.Codec) {
	if n.Shown {
		writeShown(c, "note_id", &n.ID, &n.Author, n.Body)
		return
	}
	n.NoteView.Fields(c)
}

// writeShown writes something that was shown before: what it is, who wrote it, and its
// first words.
func writeShown(c *wire.Codec, name string, id, from *string, text string) {
	c.Text(name, id)
	c.Text("from_agent_id", from)
	text = turn.Preview(text)
	c.Text("text", &text)
}

// Fields implements [wire.Fields].
func (a *InboxAnswer) Fields(c *wire.Codec) {
	c.Text("question_id", &a.QuestionID)
	c.Text("question", &a.Question)
	a.Answer.Fields(c)
}
