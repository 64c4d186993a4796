package topic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// A decision that finds its request carried out already returns no events and no
// error: closing what is closed, or cancelling what is cancelled.

// Close closes the topic for new questions. Anybody may close it; by is "" for a
// session that has no name on the topic.
func (s *State) Close(by, reason string) ([]event.Event, error) {
	switch s.Status {
	case Open:
		return []event.Event{{Type: EventClosed, From: by, Reason: reason}}, nil
	case Closed:
		return nil, nil
	}
	return nil, NotFound("topic_id", s.TopicID)
}

// Ask stores a question of the agent and returns its id, which newID makes
// unless it has one. A question of that id which is there already stays as it is.
func (s *State) Ask(agent string, r AskRequest, newID func() string, l Limits) ([]event.Event, string, error) {
	if q := s.Question(r.ID); q != nil && q.AskedBy == agent {
		return nil, q.ID, nil
	}
	switch n := s.Counts().Pending; {
	case !s.Exists():
		return nil, "", NotFound("topic_id", s.TopicID)
	case s.Status == Closed && !r.Reopens:
		return nil, "", code.New(TopicClosed, "topic %s is closed", s.TopicID).
			WithHint("questions already asked can still be answered; ask on another topic")
	case n >= l.OpenQuestions:
		return nil, "", code.New(TopicFull, "topic %s has %d pending questions, which is the maximum", s.TopicID, n).
			WithHint("cancel or mark answered the questions that are done with")
	case r.To == agent:
		return nil, "", Invalid("to", "names yourself: nobody answers a question of its own")
	}
	id := r.ID
	for id == "" || s.Question(id) != nil {
		id = newID()
	}
	return []event.Event{{Type: EventAsked, From: agent, To: r.To, Payload: payload(&askedPayload{id, r.Question, r.Other})}}, id, nil
}

// Cancel withdraws a pending question of the agent's own, whether it has answers
// or not.
func (s *State) Cancel(agent, questionID, reason string) ([]event.Event, error) {
	return s.settleOwn(agent, questionID, Cancelled, "cancelled", event.Event{Type: EventCancelled, Reason: reason})
}

// MarkAnswered closes a pending question of the agent's own, whether it has
// answers or not.
func (s *State) MarkAnswered(agent, questionID string) ([]event.Event, error) {
	return s.settleOwn(agent, questionID, Answered, "marked answered", event.Event{Type: EventMarked})
}

func (s *State) settleOwn(agent, questionID, status, done string, e event.Event) ([]event.Event, error) {
	q, err := s.FindQuestion(questionID)
	switch {
	case err != nil:
		return nil, err
	case q.AskedBy != agent:
		return nil, code.New(ForbiddenNotAsker, "question %s was asked by %s, and you are %s here", q.ID, q.AskedBy, agent).
			WithHint("only its asker cancels a question or marks it answered")
	case q.Status == status:
		return nil, nil
	case q.Status != Pending:
		return nil, Invalid("question_id", "names a question that is %s already, which cannot be %s", q.Status, done)
	}
	e.From, e.Payload = agent, payload(&questionPayload{q.ID})
	return []event.Event{e}, nil
}

// FindQuestion is Question with a refusal if the state has no such question. Only the
// caller can find out whether another topic has it.
func (s *State) FindQuestion(id string) (*Question, error) {
	if !s.Exists() {
		return nil, NotFound("topic_id", s.TopicID)
	}
	if q := s.Question(id); q != nil {
		return q, nil
	}
	return nil, code.New(QuestionNotFound, "topic has no question %q", Clip(id))
}

// CheckRejoin refuses that a session changes its name on the topic from previous
// to next while questions that it asked under previous are pending: under the new
// name it would be offered its own questions. Previous is "" for a session that
// has not joined.
func (s *State) CheckRejoin(previous, next string, asked []string) error {
	if previous == "" || previous == next {
		return nil
	}
	var open []string
	for _, id := range asked {
		if q := s.Question(id); q != nil && q.Status == Pending {
			open = append(open, id)
		}
	}
	if open == nil {
		return nil
	}
	return Invalid("agent_name", "cannot change from %q to %q while questions that you asked in this session are pending: %s",
		previous, next, strings.Join(open, ", ")).
		WithHint("keep the name, or first cancel them or mark them answered").With(DetailOpen, open)
}

// A Tally lists the answers that one call has stored, and the responses that it has
// skipped because their question is not on the topic or no longer pending.
type Tally struct {
	AnswerIDs []string
	Skipped   []Skip
}

// A Skip is a response that was not stored, and why.
type Skip struct {
	QuestionID string `json:"question_id"`
	Reason     string `json:"reason"` // SkipNotOnTopic, Answered or Cancelled
}

// SkipNotOnTopic is the reason where the topic has no such question.
const SkipNotOnTopic = "not_on_topic"

// Answer stores the agent's responses, each to a different question. The whole
// batch is refused if it answers a pending question that the agent asked itself or
// has answered before; the error names all of these. The events are one change:
// all are stored or none.
func (s *State) Answer(agent string, responses []Response, newID func() string) ([]event.Event, Tally, error) {
	if !s.Exists() {
		return nil, Tally{}, NotFound("topic_id", s.TopicID)
	}
	if err := s.forbidden(agent, responses); err != nil {
		return nil, Tally{}, err
	}
	var events []event.Event
	var tally Tally
	for _, r := range responses {
		q := s.Question(r.QuestionID)
		if q == nil || q.Status != Pending {
			tally.Skipped = append(tally.Skipped, s.Skip(r.QuestionID))
			continue
		}
		id := newID()
		tally.AnswerIDs = append(tally.AnswerIDs, id)
		events = append(events, answerEvent(q, agent, id, r.Payload))
	}
	return events, tally, nil
}

func answerEvent(q *Question, agent, id string, p Payload) event.Event {
	return event.Event{
		Type: EventAnswer, From: agent, To: q.AskedBy,
		Payload: payload(&answerPayload{AnswerID: id, QuestionID: q.ID, Payload: p}),
	}
}

// Skip returns why a response to a question that is not pending is skipped. For a
// question that the state has forgotten, that is SkipNotOnTopic.
func (s *State) Skip(questionID string) Skip {
	if q := s.Question(questionID); q != nil {
		return Skip{q.ID, q.Status}
	}
	return Skip{Clip(questionID), SkipNotOnTopic}
}

func (s *State) forbidden(agent string, responses []Response) error {
	var own, again []string
	for _, r := range responses {
		q := s.Question(r.QuestionID)
		switch {
		case q == nil || q.Status != Pending:
		case q.AskedBy == agent:
			own = append(own, q.ID)
		case q.answeredBy(agent):
			again = append(again, q.ID)
		}
	}
	if own != nil {
		return code.New(ForbiddenSelfAnswer, "nothing was saved: you asked these questions yourself: %s", strings.Join(own, ", ")).
			WithHint("leave them out and send the others again").With(DetailForbidden, own)
	}
	if again != nil {
		return code.New(ForbiddenAlreadyAnswered, "nothing was saved: you have answered these questions before: %s", strings.Join(again, ", ")).
			WithHint("leave them out and send the others again").With(DetailAnswered, again)
	}
	return nil
}

// The values of [CreateRequest.Mode].
const (
	ModeReuse = "reuse" // the newest open topic of that name, or a new one
	ModeNew   = "new"   // always a new one
)

// What [Select] selects by status.
const (
	ListOpen   = "open"
	ListClosed = "closed"
	ListAll    = "all"
)

// A CreateRequest asks for a topic.
type CreateRequest struct {
	Name     string          // "": a name is made from the topic's id
	Metadata json.RawMessage // a compact JSON object; nil: none
	Mode     string          // ModeReuse or ModeNew
}

// An AskRequest is a question.
type AskRequest struct {
	Question string
	To       string // an agent, [talk.AnyPerson], or "" for anybody
	ID       string // of the same question in another room; "": it gets a new one
	Other    string // see [Question]
	Reopens  bool   // a closed topic is opened again
}

// A Response is an agent's answer to one question.
type Response struct {
	QuestionID string
	Payload    Payload
}

// A Payload is what an answer says.
type Payload struct {
	Markdown  string   `json:"answer_markdown"`
	Pointers  []string `json:"repo_pointers"`       // where to look; never nil
	Followups []string `json:"suggested_followups"` // what to ask next; never nil
}

// Limits bound what agents may send. Characters are Unicode code points.
type Limits struct {
	QuestionChars int // of a question
	AnswerChars   int // of an answer's Markdown
	Batch         int // responses in one answer
	OpenQuestions int // pending questions on one topic
	MetadataBytes int // of a topic's metadata as compact JSON
	ReasonChars   int // of a reason to close or cancel
}

// DefaultLimits returns the limits that hold unless others are set.
func DefaultLimits() Limits {
	return Limits{QuestionChars: talk.MaxQuestion, AnswerChars: talk.MaxAnswer,
		Batch: 50, OpenQuestions: 10_000, MetadataBytes: 64 << 10, ReasonChars: 1000}
}

// Limits that cannot be set.
const (
	MaxAgentNameChars = 64
	MaxTopicNameChars = 200
	MaxPointers       = 10   // pointers kept of an answer
	MaxPointerChars   = 4096 // of one pointer
	MaxFollowups      = 5    // follow-ups kept of an answer
	MaxFollowupChars  = 8000 // of one follow-up

	// MaxTextChars is the highest value for QuestionChars and AnswerChars: with
	// every character escaped, an answer of that length must still fit into one
	// line of the journal together with its pointers and follow-ups.
	MaxTextChars = 500_000
)

// The codes of the rules' refusals.
const (
	TopicNotFound            code.Code = "TOPIC_NOT_FOUND"
	TopicClosed              code.Code = "TOPIC_CLOSED"
	TopicFull                code.Code = "TOPIC_FULL" // no room for another pending question
	QuestionNotFound         code.Code = "QUESTION_NOT_FOUND"
	InvalidArgument          code.Code = "INVALID_ARGUMENT"
	ForbiddenSelfAnswer      code.Code = "FORBIDDEN_SELF_ANSWER"
	ForbiddenAlreadyAnswered code.Code = "FORBIDDEN_ALREADY_ANSWERED"
	ForbiddenNotAsker        code.Code = "FORBIDDEN_NOT_ASKER"
)

// The details of refusals.
const (
	DetailForbidden = "forbidden_question_ids"        // a list of strings, as the next two
	DetailAnswered  = "already_answered_question_ids" //
	DetailOpen      = "open_question_ids"
	DetailArgument  = "argument" // of InvalidArgument: the argument's name
)

// Invalid returns the refusal of one argument. The message is the argument's
// name and what is wrong with it: "wait_seconds must be an integer".
func Invalid(argument, format string, args ...any) *code.Error {
	return code.New(InvalidArgument, "%s %s", argument, fmt.Sprintf(format, args...)).With(DetailArgument, argument)
}

// NotFound returns the refusal that no topic has the value as its selector,
// which is "topic_id" or "name".
func NotFound(selector, value string) *code.Error {
	return code.New(TopicNotFound, "no topic has the %s %q", selector, Clip(value))
}

// Clip shortens a text from outside for use in a message.
func Clip(s string) string { return ClipTo(s, 60) }

// ClipTo shortens a text to so many characters.
func ClipTo(s string, longest int) string {
	n := 0
	for i := range s {
		if n++; n > longest {
			return s[:i] + "…"
		}
	}
	return s
}
