package topic

import "github.com/talking-stick/tt/journal/wire"

// This file lists the JSON fields of the state and of payloads, once for reading and
// writing. The names are part of the file format.

// Fields implements [wire.Fields].
func (s *State) Fields(c *wire.Codec) {
	c.Text("topic_id", &s.TopicID)
	c.Text("name", &s.Name)
	c.Text("status", &s.Status)
	c.Int("ordinal", &s.Ordinal)
	c.Time("created_at", &s.CreatedAt)
	wire.TimeIfAny(c, "closed_at", &s.ClosedAt)
	c.OptText("close_reason", &s.CloseReason)
	c.OptRaw("metadata", &s.Metadata)
	c.Int("last_event_seq", &s.Seq)
	wire.OptList(c, "questions", &s.Questions)
	c.Num("answered", &s.Answered)
	c.Num("cancelled", &s.Cancelled)
	c.Num("forgotten", &s.Forgotten)
}

// Fields implements [wire.Fields].
func (q *Question) Fields(c *wire.Codec) {
	c.Text("question_id", &q.ID)
	c.Text("asked_by", &q.AskedBy)
	c.OptText("to", &q.To)
	c.OptText("other_room", &q.Other)
	wire.TimeIfAny(c, "asked_at", &q.AskedAt)
	c.Text("status", &q.Status)
	c.Int("event_seq", &q.Seq)
	wire.OptList(c, "answers", &q.Answers)
	c.OptText("cancel_reason", &q.CancelReason)
	c.OptInt("settled_by", &q.SettledBy)
}

// Fields implements [wire.Fields].
func (a *AnswerRef) Fields(c *wire.Codec) {
	c.OptText("answered_by", &a.AnsweredBy)
	c.Int("event_seq", &a.Seq)
}

func (p *createdPayload) Fields(c *wire.Codec) {
	c.Num("format", &p.Format)
	c.Text("name", &p.Name)
	c.Int("ordinal", &p.Ordinal)
	c.OptRaw("metadata", &p.Metadata)
}

func (p *askedPayload) Fields(c *wire.Codec) {
	c.Text("question_id", &p.QuestionID)
	c.Text("question_text", &p.Text)
	c.OptText("other_room", &p.Other)
}

func (p *questionPayload) Fields(c *wire.Codec) { c.Text("question_id", &p.QuestionID) }

func (p *answerPayload) Fields(c *wire.Codec) {
	c.Text("answer_id", &p.AnswerID)
	c.Text("question_id", &p.QuestionID)
	c.Text("answer_markdown", &p.Markdown)
	c.Texts("repo_pointers", &p.Pointers)
	c.Texts("suggested_followups", &p.Followups)
}

// Fields implements [wire.Fields]: an answer as tt shows it.
func (a *Answer) Fields(c *wire.Codec) {
	c.Text("answer_id", &a.AnswerID)
	c.Text("answered_by", &a.AnsweredBy)
	c.Time("answered_at", &a.AnsweredAt)
	c.Text("answer_markdown", &a.Payload.Markdown)
	c.OptTexts("repo_pointers", &a.Payload.Pointers)
	c.OptTexts("suggested_followups", &a.Payload.Followups)
}

// MarshalJSON returns the form that state.json has.
func (s State) MarshalJSON() ([]byte, error) { return wire.Append(nil, &s), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *State) UnmarshalJSON(b []byte) error { return wire.Decode(b, s) }
