package main

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal"
)

func ask(ctx context.Context, c *call) (topic.Result, error) {
	id, err := topic.ParseTopicID(c.args)
	if err != nil {
		return nil, err
	}
	if _, err := c.session.agent(id); err != nil {
		return nil, err
	}
	request, err := topic.ParseAsk(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	r, err := c.topic(id)
	if err != nil {
		return nil, err
	}
	queued, err := c.queue(ctx, r, request.Question)
	if err != nil || request.WaitSeconds == 0 {
		return queued, err
	}
	result, err := c.awaitAnswer(ctx, r, queued.QuestionID, request.WaitSeconds)
	return result, withQuestion(err, queued.QuestionID)
}

// queue stores the question.
func (c *call) queue(ctx context.Context, r *room, question string) (queued *topic.QueuedResult, err error) {
	err = c.session.as(r.Name(), func(agent string) error {
		var questionID string
		_, _, err := r.Update(ctx, func(s *topic.State) (events []journal.Event, err error) {
			events, questionID, err = s.Ask(agent, question, newQuestionID, c.limits)
			return events, err
		})
		queued = topic.Queued(r.Name(), questionID, agent)
		return err
	})
	if err != nil {
		return nil, err
	}
	return queued, nil
}

func (c *call) awaitAnswer(ctx context.Context, r *room, questionID string, seconds int) (topic.Result, error) {
	err := c.until(ctx, r, seconds, func(s *topic.State) bool { return s.AskSettled(questionID) })
	if err != nil {
		return nil, err
	}
	result, err := poll(ctx, r, questionID)
	if err != nil {
		return nil, err
	}
	return result.AskResult(), nil
}

// withQuestion tells with an error after the question was stored which one it is.
func withQuestion(err error, questionID string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	e := topic.Translate(err)
	return e.WithHint("the question was stored as %s: %s", questionID, e.Hint).With("question_id", questionID)
}

func askPoll(ctx context.Context, c *call) (topic.Result, error) {
	id, err := topic.ParseTopicID(c.args)
	if err != nil {
		return nil, err
	}
	questionID, err := topic.ParseQuestionID(c.args)
	if err != nil {
		return nil, err
	}
	r, err := c.topic(id)
	if err != nil {
		return nil, err
	}
	result, err := poll(ctx, r, questionID)
	if err != nil {
		return nil, c.elsewhere(err, id, questionID)
	}
	return result, nil
}

func poll(ctx context.Context, r *room, questionID string) (*topic.PollResult, error) {
	snap, err := r.View()
	if err != nil {
		return nil, err
	}
	lookup, done, err := lookupIn(ctx, r)
	if err != nil {
		return nil, err
	}
	defer done()
	return snap.State.Poll(questionID, lookup)
}

// lookupIn reads events of the topic from one open journal.
func lookupIn(ctx context.Context, r *room) (topic.Lookup, func(), error) {
	reader, err := r.Reader()
	if err != nil {
		return nil, nil, err
	}
	lookup := func(seq int64) (*journal.Event, error) { return reader.Event(ctx, seq) }
	return lookup, func() { _ = reader.Close() }, nil
}

// elsewhere turns "no such question here" into TOPIC_MISMATCH if it is on another
// topic.
func (c *call) elsewhere(err error, id, questionID string) error {
	if code.Of(err) != topic.QuestionNotFound {
		return err
	}
	found, scanErr := c.topicOf(questionID)
	if scanErr != nil || found == "" {
		return err
	}
	return topic.Mismatch(questionID, id)
}
