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
	r, err := c.Topic(c.topicID)
	if err != nil {
		return nil, err
	}
	var id, agent string
	var warnings []tools.Warning
	err = c.session.whileJoined(c.topicID, func(m *membership) error {
		agent = m.agent
		if warnings, err = c.bus.address(r, agent, &request); err != nil {
			return err
		}
		id, err = questions.Ask(ctx, r, agent, request, c.limits)
		m.addAsked(id)
		return err
	})
	if err != nil {
		return nil, err
	}
	if waitSeconds == 0 {
		return warned(tools.NewQueuedResult(c.topicID, id, agent, request.To), warnings...), nil
	}
	result, err := c.awaitAnswer(ctx, r, id, waitSeconds)
	if err != nil {
		return nil, withQuestion(err, id)
	}
	return warned(result, warnings...), nil
}

func (c *call) awaitAnswer(ctx context.Context, r *questions.Topic, questionID string, seconds int) (tools.Result, error) {
	before := c.bus.hearers(r, questionID) // tt wait ends when it hears of the question
	err := c.until(ctx, r, seconds, func(s *topic.State) bool { return s.AskSettled(questionID, 1) })
	if err != nil {
		return nil, err
	}
	result, err := poll(ctx, r, questionID, 0)
	if err != nil {
		return nil, err
	}
	return result.AskResult(listeners(before, c.bus.hearers(r, questionID))), nil
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
	var warnings []tools.Warning
	if questions.RoomEnded(store, r, snap.State) {
		warnings = append(warnings, tools.RoomEnded(r.Name()))
	}
	to, err := questions.AddresseeOf(store, r, snap.State, asker, request.To)
	if err != nil {
		return nil, err
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

// listeners counts the agents that could hear of a question before a wait or after it,
// negative if it cannot.
func listeners(before, after []string) int {
	if before == nil || after == nil {
		return -1
	}
	all := append(before, after...)
	slices.Sort(all)
	return len(slices.Compact(all))
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
	if err == nil && result.AcceptingAnswers {
		result.Missing = max(0, request.MinAnswers-max(1, result.AnswersCount))
	}
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
	found, scanErr := c.TopicOf(ctx, questionID, c.topicID)
	if scanErr != nil || found == "" {
		return err
	}
	return tools.Mismatch(questionID, c.topicID)
}
