package topic

import (
	"encoding/json"
	"fmt"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

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

func decode(e *event.Event, v any) error {
	if err := wire.Decode(e.Payload, v); err != nil {
		return fmt.Errorf("%s event %d: payload: %w", e.Type, e.Seq, err)
	}
	return nil
}

// A Lookup reads one event of the topic's journal by its event_seq.
type Lookup func(seq int64) (*event.Event, error)

// load reads the payload of the event, which must be of the type. One that is lost has none.
func (l Lookup) load(seq int64, eventType string, v any) (*event.Event, error) {
	e, err := l(seq)
	if err != nil {
		return nil, err
	}
	if e.Type == event.Damaged {
		return e, nil
	}
	if e.Type != eventType {
		return nil, fmt.Errorf("event %d is a %s and no %s", seq, e.Type, eventType)
	}
	return e, decode(e, v)
}

// Words returns the question that an event is about, and the text of a question or of an
// answer, or the name of the topic that was made; "" for other events.
func Words(e *event.Event) (questionID, text string) {
	switch e.Type {
	case EventCreated:
		var p createdPayload
		_ = decode(e, &p)
		return "", p.Name
	case EventAsked:
		var p askedPayload
		_ = decode(e, &p)
		return p.QuestionID, p.Text
	case EventAnswer:
		var p answerPayload
		_ = decode(e, &p)
		return p.QuestionID, p.Markdown
	}
	var p questionPayload
	_ = decode(e, &p)
	return p.QuestionID, ""
}

// Reopen returns an event that creates the topic as the state has it. It replaces
// a damaged first event.
func Reopen(s *State) event.Event {
	return event.Event{Type: EventCreated, Payload: payload(&createdPayload{
		Format: Format, Name: s.Name, Ordinal: s.Ordinal, Metadata: s.Metadata,
	})}
}

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
