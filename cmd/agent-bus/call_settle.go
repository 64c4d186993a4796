package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/topics"
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

func (c *call) settle(ctx context.Context, q ownQuestion, decide func(*topic.State) ([]event.Event, error)) (s *topic.State, changed bool, err error) {
	r, err := c.Topic(q.topicID)
	if err != nil {
		return nil, false, err
	}
	if s, changed, err = topics.Settle(ctx, r, q.id, decide); err != nil {
		return nil, false, c.elsewhere(ctx, err, q.topicID, q.id)
	}
	return s, changed, nil
}
