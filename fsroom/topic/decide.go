package topic

import (
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// Close ends the topic for new questions. Whoever may; by is "" for a session
// without a name here. On a closed topic it changes nothing and warns.
func (s *State) Close(by, reason string) ([]event.Event, []Warning, error) {
	switch s.Status {
	case Open:
		return []event.Event{{Type: EventClosed, From: by, Reason: reason}}, nil, nil
	case Closed:
		return nil, notRepeated(WarnAlreadyClosed, "topic_id", s.TopicID), nil
	}
	return nil, nil, NotFound("topic_id", s.TopicID)
}

// Ask queues a question of the agent and returns its id, made by newID.
func (s *State) Ask(agent string, r AskRequest, newID func() string, l Limits) ([]event.Event, string, error) {
	if err := s.mayAsk(l); err != nil {
		return nil, "", err
	}
	if r.To == agent {
		return nil, "", Invalid("to", "names yourself: nobody answers a question of its own")
	}
	id := newID()
	for s.Question(id) != nil {
		id = newID()
	}
	return []event.Event{{Type: EventAsked, From: agent, To: r.To, Payload: payload(askedPayload{QuestionID: id, Text: r.Question})}}, id, nil
}

func (s *State) mayAsk(l Limits) error {
	switch s.Status {
	case "":
		return NotFound("topic_id", s.TopicID)
	case Closed:
		return code.New(TopicClosed, "topic %s is closed", s.TopicID).
			WithHint("questions already asked can still be answered; ask on another topic")
	}
	if n := s.Counts().Pending; n >= l.OpenQuestions {
		return code.New(TopicFull, "topic %s has %d pending questions, which is the maximum", s.TopicID, n).
			WithHint("cancel or mark answered the questions that are done with")
	}
	return nil
}

// Cancel withdraws a pending question of the agent's own, also one with
// answers. Cancelled already, it changes nothing and warns.
func (s *State) Cancel(agent, questionID, reason string) ([]event.Event, []Warning, error) {
	q, err := s.own(agent, questionID)
	if err != nil {
		return nil, nil, err
	}
	switch q.Status {
	case Answered:
		return nil, nil, ended(q, "cancelled")
	case Cancelled:
		return nil, notRepeated(WarnAlreadyCancelled, "question_id", q.ID), nil
	}
	return []event.Event{{Type: EventCancelled, From: agent, Reason: reason, Payload: payload(questionPayload{q.ID})}}, nil, nil
}

// MarkAnswered closes a pending question of the agent's own, whether it has
// answers or not. Closed already, it changes nothing and warns.
func (s *State) MarkAnswered(agent, questionID string) ([]event.Event, []Warning, error) {
	q, err := s.own(agent, questionID)
	if err != nil {
		return nil, nil, err
	}
	switch q.Status {
	case Cancelled:
		return nil, nil, ended(q, "marked answered")
	case Answered:
		return nil, notRepeated(WarnAlreadyAnswered, "question_id", q.ID), nil
	}
	return []event.Event{{Type: EventMarked, From: agent, Payload: payload(questionPayload{q.ID})}}, nil, nil
}

func ended(q *Question, wanted string) error {
	return Invalid("question_id", "names a question that is %s already, which cannot be %s", q.Status, wanted)
}

// find returns a question of the topic. A question that is not here may be on
// another topic, which only the caller can find out; see [Mismatch].
func (s *State) find(questionID string) (*Question, error) {
	if !s.Exists() {
		return nil, NotFound("topic_id", s.TopicID)
	}
	if q := s.Question(questionID); q != nil {
		return q, nil
	}
	return nil, questionNotFound(questionID)
}

// own returns a question that the agent asked.
func (s *State) own(agent, questionID string) (*Question, error) {
	q, err := s.find(questionID)
	if err != nil {
		return nil, err
	}
	if q.AskedBy != agent {
		return nil, code.New(ForbiddenNotAsker, "question %s was asked by %s, and you are %s here", q.ID, q.AskedBy, agent).
			WithHint("only its asker cancels a question or marks it answered")
	}
	return q, nil
}

// CheckRejoin refuses that a session which is previous here becomes next while
// questions that it asked in this session are pending: it would be offered its
// own.
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
	return Invalid("agent_name", "cannot change from %q to %q while questions that you asked in this session are pending: %s", previous, next, strings.Join(open, ", ")).
		WithHint("keep the name, or first cancel them or mark them answered").With(DetailOpen, open)
}
