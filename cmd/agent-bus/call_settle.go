package main

import (
	"context"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func askCancel(ctx context.Context, c *call) (topic.Result, error) {
	q, err := c.ownQuestion()
	if err != nil {
		return nil, err
	}
	reason, err := topic.ParseReason(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	s, warnings, err := c.settle(ctx, q, func(s *topic.State) ([]event.Event, []topic.Warning, error) {
		return s.Cancel(q.agent, q.id, reason)
	})
	if err != nil {
		return nil, err
	}
	return warned(s.CancelResult(q.id), warnings), nil
}

func questionMarkAnswered(ctx context.Context, c *call) (topic.Result, error) {
	q, err := c.ownQuestion()
	if err != nil {
		return nil, err
	}
	s, warnings, err := c.settle(ctx, q, func(s *topic.State) ([]event.Event, []topic.Warning, error) {
		return s.MarkAnswered(q.agent, q.id)
	})
	if err != nil {
		return nil, err
	}
	return warned(s.MarkResult(q.id), warnings), nil
}

// An ownQuestion is one that its asker wants to end.
type ownQuestion struct{ topicID, agent, id string }

func (c *call) ownQuestion() (q ownQuestion, err error) {
	if q.topicID, err = topic.ParseTopicID(c.args); err != nil {
		return q, err
	}
	if q.agent, err = c.session.agent(q.topicID); err != nil {
		return q, err
	}
	q.id, err = topic.ParseQuestionID(c.args)
	return q, err
}

// settle stores the end of the question and returns the topic as it is then.
func (c *call) settle(ctx context.Context, q ownQuestion, end ending) (*topic.State, []topic.Warning, error) {
	r, err := c.topic(q.topicID)
	if err != nil {
		return nil, nil, err
	}
	s, warnings, err := settle(ctx, r, q.id, end)
	if err != nil {
		return nil, nil, c.elsewhere(ctx, err, q.topicID, q.id)
	}
	return s, warnings, nil
}

// An ending ends a question.
type ending func(*topic.State) ([]event.Event, []topic.Warning, error)

// settle stores the end of the question and returns the topic as it is then, or
// as its journal has it if the question was settled long ago.
func settle(ctx context.Context, r *room, questionID string, end ending) (*topic.State, []topic.Warning, error) {
	var warnings []topic.Warning
	var forgotten bool
	snap, _, err := r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		if forgotten = s.Forgets() && s.Question(questionID) == nil; forgotten {
			return nil, nil
		}
		events, warnings, err = end(s)
		return events, err
	})
	if err != nil {
		return nil, nil, err
	}
	s := snap.State
	if forgotten {
		// It is settled, if there is such a question: end stores nothing.
		if s, err = knowing(ctx, r, s, questionID); err == nil {
			_, warnings, err = end(s)
		}
	}
	return s, warnings, err
}
