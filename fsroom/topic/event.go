package topic

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/talking-stick/tt/journal/event"
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

// payload encodes one of the types above, which cannot fail. It does not escape
// <, > and &, so that people can search a journal for code.
func payload(v any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("topic: payload: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

func decode(e *event.Event, v any) error {
	if err := json.Unmarshal(e.Payload, v); err != nil {
		return fmt.Errorf("%s event %d: payload: %w", e.Type, e.Seq, err)
	}
	return nil
}

// A Lookup reads one event of the topic's journal by its event_seq.
type Lookup func(seq int64) (*event.Event, error)

// load reads the payload of the event, which must be of the type.
func (l Lookup) load(seq int64, eventType string, v any) (*event.Event, error) {
	e, err := l(seq)
	if err != nil {
		return nil, err
	}
	if e.Type != eventType {
		return nil, fmt.Errorf("event %d is a %s and no %s", seq, e.Type, eventType)
	}
	return e, decode(e, v)
}

// Reopen returns an event that creates the topic as the state has it. It replaces
// a damaged first event.
func Reopen(s *State) event.Event {
	return event.Event{Type: EventCreated, Payload: payload(&createdPayload{
		Format: Format, Name: s.Name, Ordinal: s.Ordinal, Metadata: s.Metadata,
	})}
}
