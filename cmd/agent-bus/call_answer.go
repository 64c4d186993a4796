package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/topic"
)

func pendingList(ctx context.Context, c *call) (tools.Result, error) {
	request, err := tools.ParsePending(c.args)
	if err != nil {
		return nil, err
	}
	err = c.until(ctx, request.WaitSeconds, func(s *topic.State) bool { return s.OfferSettled(c.agent) })
	if err != nil {
		return nil, err
	}
	snap, err := c.topic.View()
	if err != nil {
		return nil, err
	}
	lookup, closeJournal, err := questions.OpenLookup(ctx, c.topic)
	if err != nil {
		return nil, err
	}
	defer closeJournal()
	return tools.PendingList(snap.State, c.agent, request, lookup)
}

func answer(ctx context.Context, c *call) (tools.Result, error) {
	responses, warnings, err := tools.ParseResponses(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	s, tally, err := questions.Answer(ctx, c.topic, c.agent, responses)
	if err != nil {
		return nil, err
	}
	return warned(tools.NewSavedResult(s, tally), warnings...), nil
}
