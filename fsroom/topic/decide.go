package topic

import (
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
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
	if err := s.mayAsk(l); err != nil {
		return nil, "", err
	}
	if r.To == agent {
		return nil, "", Invalid("to", "names yourself: nobody answers a question of its own")
	}
	id := r.ID
	for id == "" || s.Question(id) != nil {
		id = newID()
	}
	return []event.Event{{Type: EventAsked, From: agent, To: r.To, Payload: payload(&askedPayload{id, r.Question, r.Other})}}, id, nil
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
	q, err := s.own(agent, questionID)
	switch {
	case err != nil || q.Status == status:
		return nil, err
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

// own returns a question that the agent asked.
func (s *State) own(agent, questionID string) (*Question, error) {
	q, err := s.FindQuestion(questionID)
	if err != nil {
		return nil, err
	}
	if q.AskedBy != agent {
		return nil, code.New(ForbiddenNotAsker, "question %s was asked by %s, and you are %s here", q.ID, q.AskedBy, agent).
			WithHint("only its asker cancels a question or marks it answered")
	}
	return q, nil
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
