package main

import (
	"context"
	"errors"
	"slices"

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
	warnings, err := c.bus.address(c.topic, c.agent, &request)
	if err != nil {
		return nil, err
	}
	id, err := questions.Ask(ctx, c.topic, c.agent, request, c.limits)
	if id != "" {
		c.member.asked = append(c.member.asked, id)
	}
	if err != nil {
		return nil, err
	}
	if waitSeconds == 0 {
		return warned(tools.NewQueuedResult(c.topicID, id, c.agent, request.To), warnings...), nil
	}
	polled, listeners, err := c.bus.awaitAnswer(ctx, c.topic, id, func(over func(*topic.State) bool) error {
		return c.until(ctx, waitSeconds, over)
	})
	if err != nil {
		return nil, withQuestion(err, id)
	}
	return warned(polled.AskResult(listeners), warnings...), nil
}

// awaitAnswer waits by wait until a question has an answer or is settled. It returns how the
// question stands then, and how many agents could hear of it, negative if that is not known.
func (b *bus) awaitAnswer(ctx context.Context, r *questions.Topic, id string,
	wait func(over func(*topic.State) bool) error) (polled *tools.PollResult, listeners int, err error) {
	before := b.hearers(r, id) // tt wait ends when it hears of the question
	if err = wait(func(s *topic.State) bool { return s.AskSettled(id, 1) }); err == nil {
		polled, err = poll(ctx, r, id, 0)
	}
	if err != nil {
		return nil, 0, err
	}
	after := b.hearers(r, id)
	if before == nil || after == nil {
		return polled, -1, nil
	}
	all := append(before, after...)
	slices.Sort(all)
	return polled, len(slices.Compact(all)), nil
}

// address sets whom the request is for to who is meant by the name in it. The warnings are
// about a name that nobody has had yet (who has it may come later), and about a room that
// has ended.
func (b *bus) address(r *questions.Topic, asker string, request *topic.AskRequest) ([]tools.Warning, error) {
	store, err := b.Store()
	if err != nil {
		return nil, err
	}
	snap, err := r.View()
	if err != nil {
		return nil, err
	}
	to, err := questions.AddresseeOf(store, r, snap.State, asker, request.To)
	if err != nil {
		return nil, err
	}
	var warnings []tools.Warning
	if to.RoomEnded {
		warnings = append(warnings, tools.RoomEnded(r.Name()))
	}
	if request.To = to.ID; !to.Known {
		warnings = append(warnings, tools.UnknownRecipient(to.ID, to.Candidates))
	}
	return warnings, nil
}

// hearers returns the agents that the question is offered to and that can hear of it now,
// nil if that cannot be found out.
func (b *bus) hearers(r *questions.Topic, questionID string) []string {
	store, err := b.Store()
	if err != nil {
		return nil
	}
	snap, err := r.View()
	if err != nil {
		return nil
	}
	return append([]string{}, questions.Hearers(store, r, snap.State, questionID)...)
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
	id, answers, skip := c.args.Required("question_id"), c.args.Integer("min_answers", 1, 1), c.args.Integer("skip", 0, 0)
	seconds := c.args.Integer("wait_seconds", 0, 0)
	if err := c.args.Err(); err != nil {
		return nil, err
	}
	if err := c.until(ctx, seconds, func(s *topic.State) bool { return s.AskSettled(id, answers) }); err != nil {
		return nil, err
	}
	result, err := poll(ctx, c.topic, id, skip)
	if err != nil {
		return nil, c.onOtherTopic(ctx, err, id)
	}
	if result.AcceptingAnswers {
		result.Missing = max(0, answers-max(1, result.AnswersCount))
	}
	return result, nil
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
	found, scanErr := c.TopicOf(ctx, questionID, c.topicID)
	if scanErr != nil || found == "" {
		return err
	}
	return tools.Mismatch(questionID, c.topicID)
}
