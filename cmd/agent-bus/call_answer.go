package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func pendingList(ctx context.Context, c *call) (tools.Result, error) {
	id, err := tools.ParseTopicID(c.args)
	if err != nil {
		return nil, err
	}
	agent, err := c.session.agent(id)
	if err != nil {
		return nil, err
	}
	request, err := tools.ParsePending(c.args)
	if err != nil {
		return nil, err
	}
	r, err := c.Topic(id)
	if err != nil {
		return nil, err
	}
	err = c.until(ctx, r, request.WaitSeconds, func(s *topic.State) bool { return s.OfferSettled(agent) })
	if err != nil {
		return nil, err
	}
	return offered(ctx, r, agent, request)
}

func offered(ctx context.Context, r *topics.Room, agent string, request tools.PendingRequest) (tools.Result, error) {
	snap, err := r.View()
	if err != nil {
		return nil, err
	}
	lookup, done, err := topics.OpenLookup(ctx, r)
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := tools.PendingList(snap.State, agent, request, lookup)
	if err != nil {
		return nil, err // not result: a nil pointer in an interface is not nil
	}
	return result, nil
}

func answer(ctx context.Context, c *call) (tools.Result, error) {
	id, err := tools.ParseTopicID(c.args)
	if err != nil {
		return nil, err
	}
	agent, err := c.session.agent(id)
	if err != nil {
		return nil, err
	}
	responses, warnings, err := tools.ParseResponses(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	r, err := c.Topic(id)
	if err != nil {
		return nil, err
	}
	var tally topic.Tally
	snap, _, err := r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		events, tally, err = s.Answer(agent, responses, topics.NewAnswerID)
		return events, err
	})
	if err != nil {
		return nil, err
	}
	known := snap.State
	for i, skip := range tally.Skipped {
		if skip.Reason != topic.SkipNotOnTopic {
			continue
		}
		// The answers are stored: that a reason cannot be told must not fail the call.
		if all, err := topics.WithQuestion(ctx, r, known, skip.QuestionID); err == nil {
			known, tally.Skipped[i] = all, all.Skip(skip.QuestionID)
		}
	}
	return warned(tools.NewSavedResult(snap.State, tally), warnings), nil
}
