package mailbox

import (
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// Shape implements [wire.Shaped]. What the answer to a wait says of the room is left out there.
func (in *Inbox) Shape() any {
	type plain Inbox
	p := plain(*in)
	if in.within {
		p.RoomID, p.CanonicalPath, p.Turn = "", "", InboxTurn{}
	}
	return &p
}

// Counts are those of what was not shown to the agent, by kind.
type Counts struct {
	Questions int64 `json:"questions"`
	Answers   int64 `json:"answers"`
	Messages  int64 `json:"messages"`
	Notes     int64 `json:"notes"`
	Pages     int64 `json:"pages"`
	Jobs      int64 `json:"jobs"`
}

// Shape implements [wire.Shaped]. What all questions of a list have in common, that they
// are open and owed by the agent, is left out.
func (q *InboxQuestion) Shape() any {
	if q.Shown {
		return &shown{Question: q.ID, From: q.From, Text: turn.Preview(q.Text)}
	}
	return &struct {
		ID        string     `json:"question_id"`
		From      string     `json:"from_agent_id"`
		FromState string     `json:"from_state,omitempty"`
		To        string     `json:"to_agent_id,omitempty"`
		AskedAt   event.Time `json:"asked_at"`
		Text      string     `json:"question"`
	}{q.ID, q.From, q.FromState, q.To, q.AskedAt, q.Text}
}

// Shape implements [wire.Shaped].
func (n *InboxNote) Shape() any {
	if n.Shown {
		return &shown{Note: n.ID, From: n.Author, Text: turn.Preview(n.Body)}
	}
	return &n.NoteView
}

// A shown is something that was shown before: what it is, who wrote it, and its first words.
type shown struct {
	Question string `json:"question_id,omitempty"`
	Note     string `json:"note_id,omitempty"`
	From     string `json:"from_agent_id"`
	Text     string `json:"text"`
}

// Shape implements [wire.Shaped].
func (a *InboxAnswer) Shape() any {
	return &struct {
		QuestionID string `json:"question_id"`
		Question   string `json:"question"`
		topic.ShownAnswer
	}{a.QuestionID, a.Question, a.Answer.Shown()}
}
