package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func askCancel(ctx context.Context, c *call) (tools.Result, error) {
	reason := c.args.Reason(c.limits)
	return c.settle(ctx, tools.WarnAlreadyCancelled, func(s *topic.State, id string) ([]event.Event, error) {
		return s.Cancel(c.agent, id, reason)
	})
}

func questionMarkAnswered(ctx context.Context, c *call) (tools.Result, error) {
	return c.settle(ctx, tools.WarnAlreadyAnswered, func(s *topic.State, id string) ([]event.Event, error) {
		return s.MarkAnswered(c.agent, id)
	})
}

// settle settles the question of the arguments with [questions.Settle]. If that changes
// nothing, the result has a warning with the code already.
func (c *call) settle(ctx context.Context, already string, decide func(*topic.State, string) ([]event.Event, error)) (tools.Result, error) {
	id := c.args.Required("question_id")
	if err := c.args.Err(); err != nil {
		return nil, err
	}
	s, changed, err := questions.Settle(ctx, c.topic, id, func(s *topic.State) ([]event.Event, error) { return decide(s, id) })
	if err != nil {
		return nil, c.onOtherTopic(ctx, err, id)
	}
	result := tools.NewSettledResult(s, id)
	if !changed {
		result.Warn(tools.Already(already, "question_id", id))
	}
	return result, nil
}
