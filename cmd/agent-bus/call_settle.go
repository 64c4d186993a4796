package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func askCancel(ctx context.Context, c *call) (tools.Result, error) {
	q, err := c.ownQuestion()
	if err != nil {
		return nil, err
	}
	reason, err := tools.ParseReason(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	s, changed, err := c.settle(ctx, q, func(s *topic.State) ([]event.Event, error) {
		return s.Cancel(q.agent, q.id, reason)
	})
	if err != nil {
		return nil, err
	}
	result := tools.NewCancelResult(s, q.id)
	if !changed {
		result.Warn(tools.Already(tools.WarnAlreadyCancelled, "question_id", q.id))
	}
	return result, nil
}

func questionMarkAnswered(ctx context.Context, c *call) (tools.Result, error) {
	q, err := c.ownQuestion()
	if err != nil {
		return nil, err
	}
	s, changed, err := c.settle(ctx, q, func(s *topic.State) ([]event.Event, error) {
		return s.MarkAnswered(q.agent, q.id)
	})
	if err != nil {
		return nil, err
	}
	result := tools.NewMarkResult(s, q.id)
	if !changed {
		result.Warn(tools.Already(tools.WarnAlreadyAnswered, "question_id", q.id))
	}
	return result, nil
}

// An ownQuestion is a question that its asker settles.
type ownQuestion struct{ topicID, agent, id string }

func (c *call) ownQuestion() (q ownQuestion, err error) {
	if q.topicID, err = tools.ParseTopicID(c.args); err != nil {
		return q, err
	}
	if q.agent, err = c.session.agent(q.topicID); err != nil {
		return q, err
	}
	q.id, err = tools.ParseQuestionID(c.args)
	return q, err
}

func (c *call) settle(ctx context.Context, q ownQuestion, decide settlement) (s *topic.State, changed bool, err error) {
	r, err := c.topic(q.topicID)
	if err != nil {
		return nil, false, err
	}
	if s, changed, err = settle(ctx, r, q.id, decide); err != nil {
		return nil, false, c.elsewhere(ctx, err, q.topicID, q.id)
	}
	return s, changed, nil
}

// A settlement decides how a question is settled. It returns no events if the
// question was settled that way before.
type settlement func(*topic.State) ([]event.Event, error)

// settle settles the question and returns the topic as it is then, and whether
// that changed anything. If the state has forgotten the question, the topic
// returned is read from the journal.
func settle(ctx context.Context, r *room, questionID string, decide settlement) (s *topic.State, changed bool, err error) {
	var forgotten bool
	snap, _, err := r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		if forgotten = s.Forgets() && s.Question(questionID) == nil; forgotten {
			return nil, nil
		}
		events, err = decide(s)
		changed = len(events) > 0
		return events, err
	})
	if err != nil {
		return nil, false, err
	}
	if !forgotten {
		return snap.State, changed, nil
	}
	// A question that is found now is settled already, so its events would be none.
	if s, err = knowing(ctx, r, snap.State, questionID); err == nil {
		_, err = decide(s)
	}
	return s, false, err
}
