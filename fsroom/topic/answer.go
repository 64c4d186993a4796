package topic

import (
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

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
