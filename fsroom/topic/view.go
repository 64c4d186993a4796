package topic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// Offered returns the questions that are offered to the agent, oldest first. The
// pointers are valid until the next Apply.
func (s *State) Offered(agent string) []*Question {
	return s.selectQuestions(func(q *Question) bool { return q.OfferedTo(agent) })
}

// Own returns the pending questions that the agent asked, oldest first. The
// pointers are valid until the next Apply.
func (s *State) Own(agent string) []*Question {
	return s.selectQuestions(func(q *Question) bool { return q.Status == Pending && q.AskedBy == agent })
}

func (s *State) selectQuestions(selected func(*Question) bool) []*Question {
	var questions []*Question
	for i := range s.Questions {
		if q := &s.Questions[i]; selected(q) {
			questions = append(questions, q)
		}
	}
	return questions
}

// OfferSettled reports whether an agent that waits for a question to answer need
// not wait any longer: one is offered, or the topic takes no new questions.
func (s *State) OfferSettled(agent string) bool {
	return s.Status != Open || slices.ContainsFunc(s.Questions, func(q Question) bool { return q.OfferedTo(agent) })
}

// AskSettled reports whether an asker that waits for so many answers need not wait
// any longer: it has them, the question is settled, or the topic is closed.
func (s *State) AskSettled(questionID string, answers int) bool {
	q := s.Question(questionID)
	return q == nil || s.Status != Open || q.Status != Pending || len(q.Answers) >= answers
}

// A PendingQuestion is a pending question with its text.
type PendingQuestion struct {
	QuestionID   string     `json:"question_id"`
	Text         string     `json:"question_text"`
	AskedAt      event.Time `json:"asked_at,omitzero"`
	AskedBy      string     `json:"asked_by"`
	To           string     `json:"to_agent_id,omitempty"` // "" for anybody
	AnswersCount int        `json:"answers_count"`
}

// Pending returns a pending question with its text.
func (l Lookup) Pending(q *Question) (PendingQuestion, error) {
	text, at, err := l.Question(q)
	return PendingQuestion{QuestionID: q.ID, Text: cmp.Or(text, LostText), AskedAt: at, AskedBy: q.AskedBy, To: q.To,
		AnswersCount: len(q.Answers)}, err
}

// LostText is in the place of a text that the journal has lost, and LostName in that of a name.
const LostText, LostName = "(the text is lost: see tt doctor)", "(lost)"

// Question returns the text of a question, "" for one that is lost, and when it was asked.
func (l Lookup) Question(q *Question) (text string, askedAt event.Time, err error) {
	var p askedPayload
	e, err := l.load(q.Seq, EventAsked, &p)
	if err != nil {
		return "", event.Time{}, err
	}
	if askedAt = e.CreatedAt; q.AskedAt != nil {
		askedAt = *q.AskedAt
	}
	return p.Text, askedAt, nil
}

// An Answer is one answer as the bus shows it.
type Answer struct {
	AnswerID   string     `json:"answer_id,omitempty"` // "": it is lost
	AnsweredBy string     `json:"answered_by"`
	AnsweredAt event.Time `json:"answered_at,omitzero"`
	Payload    Payload    `json:"payload"`
}

// A ShownAnswer is an answer as tt shows it.
type ShownAnswer struct {
	AnswerID   string     `json:"answer_id,omitempty"` // "": it is lost
	AnsweredBy string     `json:"answered_by"`
	AnsweredAt event.Time `json:"answered_at,omitzero"`
	Markdown   string     `json:"answer_markdown"`
	Pointers   []string   `json:"repo_pointers,omitempty"`
	Followups  []string   `json:"suggested_followups,omitempty"`
}

// Payload returns what the answer says.
func (a *ShownAnswer) Payload() Payload { return Payload{a.Markdown, a.Pointers, a.Followups} }

// Shown returns the answer as tt shows it.
func (a *Answer) Shown() ShownAnswer {
	return ShownAnswer{a.AnswerID, a.AnsweredBy, a.AnsweredAt, a.Payload.Markdown, a.Payload.Pointers, a.Payload.Followups}
}

// Answer returns one answer to a question. Its lists are never nil.
func (l Lookup) Answer(ref AnswerRef) (Answer, error) {
	var p answerPayload
	e, err := l.load(ref.Seq, EventAnswer, &p)
	if err != nil {
		return Answer{}, err
	}
	p.Markdown, p.Pointers, p.Followups = cmp.Or(p.Markdown, LostText), append([]string{}, p.Pointers...), append([]string{}, p.Followups...)
	return Answer{AnswerID: p.AnswerID, AnsweredBy: cmp.Or(e.From, ref.AnsweredBy, LostName), AnsweredAt: e.CreatedAt, Payload: p.Payload}, nil
}

// Answers returns all answers to a question, oldest first, never nil.
func (l Lookup) Answers(q *Question) ([]ShownAnswer, error) {
	answers := []ShownAnswer{}
	for _, ref := range q.Answers {
		a, err := l.Answer(ref)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a.Shown())
	}
	return answers, nil
}

// Names returns the agents that have asked a question that the state has, or answered one,
// in no order.
func (s *State) Names() (names []string) {
	for i := range s.Questions {
		names = append(names, s.Questions[i].AskedBy)
		for _, a := range s.Questions[i].Answers {
			names = append(names, a.AnsweredBy)
		}
	}
	return names
}

// An Info is a topic as lists show it. Every member is always there; it is null
// where there is nothing.
type Info struct {
	TopicID     string          `json:"topic_id"`
	Name        string          `json:"name"`
	Status      string          `json:"status"`
	CreatedAt   event.Time      `json:"created_at"`
	ClosedAt    *event.Time     `json:"closed_at"`
	CloseReason *string         `json:"close_reason"`
	Metadata    json.RawMessage `json:"metadata"`

	Counts Counts `json:"counts"`
}

// Info returns the topic as lists show it.
func (s *State) Info() Info {
	i := Info{
		TopicID: s.TopicID, Name: s.Name, Status: s.Status, CreatedAt: s.CreatedAt,
		ClosedAt: s.ClosedAt, Metadata: s.Metadata, Counts: s.Counts(),
	}
	if s.CloseReason != "" {
		i.CloseReason = &s.CloseReason
	}
	return i
}

// Create returns the events that make a topic with the id beside the existing
// ones. With [ModeReuse] it returns the newest open topic of that name instead, if
// there is one, and no events. The caller holds the lock under which topics are
// made, so that two callers do not make the same topic.
func Create(existing []*State, r CreateRequest, topicID string) (reused *State, events []event.Event) {
	if r.Name != "" && r.Mode != ModeNew {
		if found, err := Find(existing, r.Name, false); err == nil {
			return found, nil
		}
	}
	if r.Name == "" {
		r.Name = "topic-" + topicID
	}
	return nil, CreateNamed(existing, r.Name, r.Metadata)
}

// CreateNamed returns the events that make a topic with a name and metadata as in
// [CreateRequest]. Topics are numbered in the order of their creation, because two may be created
// within one millisecond.
func CreateNamed(existing []*State, name string, metadata json.RawMessage) []event.Event {
	last := int64(0)
	for _, s := range existing {
		last = max(last, s.Ordinal)
	}
	return []event.Event{{Type: EventCreated, Payload: payload(&createdPayload{Format: Format, Name: name, Ordinal: last + 1,
		Metadata: metadata})}}
}

// Find returns the newest open topic of exactly that name; if there is none and
// allowClosed is set, the newest closed one.
func Find(topics []*State, name string, allowClosed bool) (*State, error) {
	for _, s := range slices.Concat(Select(topics, ListOpen), Select(topics, ListClosed)) {
		switch {
		case strings.TrimSpace(s.Name) != name:
		case s.Status == Open || allowClosed:
			return s, nil
		default:
			return nil, code.New(TopicNotFound, "no open topic has the name %q: %s, which has it, is closed", Clip(name), s.TopicID).
				WithHint("take it with allow_closed=true, or make another one with topic_create")
		}
	}
	return nil, NotFound("name", name)
}

// Select returns the topics of the status, newest first, by their ordinals, because the clock may
// have been set back between two creations. Only topics of two data directories that were put into
// one can have the same ordinal. Status is one of [ListOpen], [ListClosed] and [ListAll].
func Select(topics []*State, status string) (selected []*State) {
	for _, s := range topics {
		if status == ListAll || s.Status == status {
			selected = append(selected, s)
		}
	}
	slices.SortFunc(selected, func(a, b *State) int {
		return cmp.Or(cmp.Compare(b.Ordinal, a.Ordinal), b.CreatedAt.Compare(a.CreatedAt.Time), cmp.Compare(a.TopicID, b.TopicID))
	})
	return selected
}

// The event types of a topic. from_agent_id is the agent_name of the agent that
// acted, if it had one.
const (
	EventCreated   = "topic_created"
	EventClosed    = "topic_closed"       // with the reason
	EventAsked     = "question_asked"     // to_agent_id is the agent it is for; none: anybody
	EventCancelled = "question_cancelled" // with the reason
	EventMarked    = "question_closed"    // marked answered
	EventAnswer    = "answer_saved"       // to_agent_id is the asker
)

// The payloads.
type (
	createdPayload struct {
		Format   int             `json:"format"`
		Name     string          `json:"name"`
		Ordinal  int64           `json:"ordinal"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}
	askedPayload struct {
		QuestionID string `json:"question_id"`
		Text       string `json:"question_text"`
		Other      string `json:"other_room,omitempty"`
	}
	questionPayload struct {
		QuestionID string `json:"question_id"`
	}
	answerPayload struct {
		AnswerID   string `json:"answer_id"`
		QuestionID string `json:"question_id"`
		Payload
	}
)

// payload encodes one of the types above.
func payload(v any) json.RawMessage { return wire.Append(nil, v) }

// A Lookup reads one event of the topic's journal by its event_seq.
type Lookup func(seq int64) (*event.Event, error)

// load reads the payload of the event, which must be of the type. One that is lost has none.
func (l Lookup) load(seq int64, eventType string, v any) (*event.Event, error) {
	e, err := l(seq)
	if err != nil || e.Type == event.Damaged {
		return e, err
	}
	if e.Type != eventType {
		return nil, fmt.Errorf("event %d is a %s and no %s", seq, e.Type, eventType)
	}
	return e, talk.Decode(e, v)
}

// Words returns the question that an event is about, and the text of a question or of an
// answer, or the name of the topic that was made; "" for other events.
func Words(e *event.Event) (questionID, text string) {
	switch e.Type {
	case EventCreated:
		var p createdPayload
		_ = talk.Decode(e, &p)
		return "", p.Name
	case EventAsked:
		var p askedPayload
		_ = talk.Decode(e, &p)
		return p.QuestionID, p.Text
	case EventAnswer:
		var p answerPayload
		_ = talk.Decode(e, &p)
		return p.QuestionID, p.Markdown
	}
	var p questionPayload
	_ = talk.Decode(e, &p)
	return p.QuestionID, ""
}

// Reopen returns an event that creates the topic as the state has it. It replaces
// a damaged first event.
func Reopen(s *State) event.Event {
	return event.Event{Type: EventCreated, Payload: payload(&createdPayload{
		Format: Format, Name: s.Name, Ordinal: s.Ordinal, Metadata: s.Metadata,
	})}
}
