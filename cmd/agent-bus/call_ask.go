package main

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

func ask(ctx context.Context, c *call) (tools.Result, error) {
	request, waitSeconds, err := tools.ParseAsk(c.args, c.limits)
	if err != nil {
		return nil, err
	}
	r, err := c.Topic(c.topicID)
	if err != nil {
		return nil, err
	}
	var id, agent string
	err = c.session.whileJoined(c.topicID, func(m *membership) error {
		agent = m.agent
		id, err = questions.Ask(ctx, r, agent, request, c.limits)
		m.addAsked(id)
		return err
	})
	if err != nil {
		return nil, err
	}
	if waitSeconds == 0 {
		return tools.NewQueuedResult(c.topicID, id, agent, request.To), nil
	}
	result, err := c.awaitAnswer(ctx, r, id, agent, waitSeconds)
	return result, withQuestion(err, id)
}

func (c *call) awaitAnswer(ctx context.Context, r *questions.Topic, questionID, agent string, seconds int) (tools.Result, error) {
	err := c.until(ctx, r, seconds, func(s *topic.State) bool { return s.AskSettled(questionID, 1) })
	if err != nil {
		return nil, err
	}
	result, err := poll(ctx, r, questionID, 0)
	if err != nil {
		return nil, err
	}
	return result.AskResult(listeners(r, agent)), nil
}

// listeners counts the other agents that have joined the topic, negative if it cannot.
func listeners(r *questions.Topic, agent string) int {
	others, err := questions.Listeners(r, agent)
	if err != nil {
		return -1
	}
	return len(others)
}

// withQuestion adds the question's id to an error that happened after the question
// was stored.
func withQuestion(err error, questionID string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	e := tools.Translate(err)
	return e.WithHint("the question was stored as %s: %s", questionID, e.Hint).With("question_id", questionID)
}

func askPoll(ctx context.Context, c *call) (tools.Result, error) {
	request, err := tools.ParsePoll(c.args)
	if err != nil {
		return nil, err
	}
	r, err := c.Topic(c.topicID)
	if err != nil {
		return nil, err
	}
	err = c.until(ctx, r, request.WaitSeconds, func(s *topic.State) bool { return s.AskSettled(request.QuestionID, request.MinAnswers) })
	if err != nil {
		return nil, err
	}
	result, err := poll(ctx, r, request.QuestionID, request.Skip)
	return asResult(result, c.onOtherTopic(ctx, err, request.QuestionID))
}

func poll(ctx context.Context, r *questions.Topic, questionID string, skip int) (*tools.PollResult, error) {
	s, lookup, closeJournal, err := questions.ReadQuestion(ctx, r, questionID)
	if err != nil {
		return nil, err
	}
	defer closeJournal()
	return tools.Poll(s, questionID, skip, lookup)
}

// onOtherTopic turns the error that the topic has no such question into
// TOPIC_MISMATCH if another topic has it.
func (c *call) onOtherTopic(ctx context.Context, err error, questionID string) error {
	if code.Of(err) != topic.QuestionNotFound {
		return err
	}
	found, scanErr := c.TopicOf(ctx, questionID)
	if scanErr != nil || found == "" {
		return err
	}
	return tools.Mismatch(questionID, c.topicID)
}
