package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func askCancel(ctx context.Context, c *call) (tools.Result, error) {
	id, err := tools.ParseQuestionID(c.args)
	if err != nil {
		return nil, err
	}
	reason, err := tools.ParseReason(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	s, warnings, err := c.settle(ctx, id, tools.WarnAlreadyCancelled, func(s *topic.State) ([]event.Event, error) {
		return s.Cancel(c.agent, id, reason)
	})
	if err != nil {
		return nil, err
	}
	return warned(tools.NewCancelResult(s, id), warnings...), nil
}

func questionMarkAnswered(ctx context.Context, c *call) (tools.Result, error) {
	id, err := tools.ParseQuestionID(c.args)
	if err != nil {
		return nil, err
	}
	s, warnings, err := c.settle(ctx, id, tools.WarnAlreadyAnswered, func(s *topic.State) ([]event.Event, error) {
		return s.MarkAnswered(c.agent, id)
	})
	if err != nil {
		return nil, err
	}
	return warned(tools.NewMarkResult(s, id), warnings...), nil
}

// settle is [topics.Settle] with a warning with the code already if nothing changed.
func (c *call) settle(ctx context.Context, questionID, already string, decide func(*topic.State) ([]event.Event, error)) (*topic.State, []tools.Warning, error) {
	r, err := c.Topic(c.topicID)
	if err != nil {
		return nil, nil, err
	}
	s, changed, err := topics.Settle(ctx, r, questionID, decide)
	if err != nil {
		return nil, nil, c.onOtherTopic(ctx, err, questionID)
	}
	if changed {
		return s, nil, nil
	}
	return s, []tools.Warning{tools.Already(already, "question_id", questionID)}, nil
}
