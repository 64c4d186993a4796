package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func askCancel(ctx context.Context, c *call) (tools.Result, error) {
	id, reason, err := tools.ParseCancel(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	return c.settle(ctx, id, tools.WarnAlreadyCancelled, func(s *topic.State) ([]event.Event, error) {
		return s.Cancel(c.agent, id, reason)
	})
}

func questionMarkAnswered(ctx context.Context, c *call) (tools.Result, error) {
	id, err := tools.ParseQuestionID(c.args)
	if err != nil {
		return nil, err
	}
	return c.settle(ctx, id, tools.WarnAlreadyAnswered, func(s *topic.State) ([]event.Event, error) {
		return s.MarkAnswered(c.agent, id)
	})
}

// settle settles the question with [questions.Settle]. If that changes nothing, the
// result has a warning with the code already.
func (c *call) settle(ctx context.Context, questionID, already string,
	decide func(*topic.State) ([]event.Event, error)) (tools.Result, error) {
	r, err := c.Topic(c.topicID)
	if err != nil {
		return nil, err
	}
	s, changed, err := questions.Settle(ctx, r, questionID, decide)
	if err != nil {
		return nil, c.onOtherTopic(ctx, err, questionID)
	}
	result := tools.NewSettledResult(s, questionID)
	if !changed {
		result.Warn(tools.Already(already, "question_id", questionID))
	}
	return result, nil
}
