package main

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func ask(ctx context.Context, c *call) (tools.Result, error) {
	id, err := tools.ParseTopicID(c.args)
	if err != nil {
		return nil, err
	}
	if _, err := c.session.agent(id); err != nil {
		return nil, err
	}
	request, waitSeconds, err := tools.ParseAsk(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	r, err := c.Topic(id)
	if err != nil {
		return nil, err
	}
	queued, err := c.queue(ctx, r, request)
	if err != nil || waitSeconds == 0 {
		return queued, err
	}
	result, err := c.awaitAnswer(ctx, r, queued, waitSeconds)
	return result, withQuestion(err, queued.QuestionID)
}

// queue stores the question.
func (c *call) queue(ctx context.Context, r *topics.Room, request topic.AskRequest) (queued *tools.QueuedResult, err error) {
	err = c.session.as(r.Name(), func(s *seat) error {
		var questionID string
		_, _, err := r.Update(ctx, func(st *topic.State) (events []event.Event, err error) {
			events, questionID, err = st.Ask(s.agent, request, topics.NewQuestionID, c.limits)
			return events, err
		})
		// Also after an error: the question may have been stored all the same.
		s.addAsked(questionID)
		queued = tools.NewQueuedResult(r.Name(), questionID, s.agent, request.To)
		return err
	})
	if err != nil {
		return nil, err
	}
	return queued, nil
}

func (c *call) awaitAnswer(ctx context.Context, r *topics.Room, queued *tools.QueuedResult, seconds int) (tools.Result, error) {
	err := c.until(ctx, r, seconds, func(s *topic.State) bool { return s.AskSettled(queued.QuestionID, 1) })
	if err != nil {
		return nil, err
	}
	result, err := poll(ctx, r, queued.QuestionID, 0)
	if err != nil {
		return nil, err
	}
	return result.AskResult(topics.Listeners(r, queued.AskedBy)), nil
}

// withQuestion tells with an error after the question was stored which one it is.
func withQuestion(err error, questionID string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	e := tools.Translate(err)
	return e.WithHint("the question was stored as %s: %s", questionID, e.Hint).With("question_id", questionID)
}

func askPoll(ctx context.Context, c *call) (tools.Result, error) {
	id, err := tools.ParseTopicID(c.args)
	if err != nil {
		return nil, err
	}
	request, err := tools.ParsePoll(c.args)
	if err != nil {
		return nil, err
	}
	r, err := c.Topic(id)
	if err != nil {
		return nil, err
	}
	err = c.until(ctx, r, request.WaitSeconds, func(s *topic.State) bool { return s.AskSettled(request.QuestionID, request.MinAnswers) })
	if err != nil {
		return nil, err
	}
	result, err := poll(ctx, r, request.QuestionID, request.Skip)
	if err != nil {
		return nil, c.elsewhere(ctx, err, id, request.QuestionID)
	}
	return result, nil
}

func poll(ctx context.Context, r *topics.Room, questionID string, skip int) (*tools.PollResult, error) {
	snap, err := r.View()
	if err != nil {
		return nil, err
	}
	s, err := topics.WithQuestion(ctx, r, snap.State, questionID)
	if err != nil {
		return nil, err
	}
	lookup, done, err := topics.OpenLookup(ctx, r)
	if err != nil {
		return nil, err
	}
	defer done()
	return tools.Poll(s, questionID, skip, lookup)
}

// elsewhere turns "no such question here" into TOPIC_MISMATCH if it is on another
// topic.
func (c *call) elsewhere(ctx context.Context, err error, id, questionID string) error {
	if code.Of(err) != topic.QuestionNotFound {
		return err
	}
	found, scanErr := c.TopicOf(ctx, questionID)
	if scanErr != nil || found == "" {
		return err
	}
	return tools.Mismatch(questionID, id)
}
