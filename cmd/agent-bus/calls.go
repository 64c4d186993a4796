package main

import (
	"context"
	"errors"
	"slices"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func ask(ctx context.Context, c *call, a *tools.Ask) (tools.Result, error) {
	id, warnings, err := c.ask(ctx, c.topic, c.agent, a)
	if id != "" {
		c.member.asked = append(c.member.asked, id)
	}
	if err != nil {
		return nil, err
	}
	if a.WaitSeconds == 0 {
		return warned(tools.NewQueuedResult(c.topic.Name(), id, c.agent, a.To), warnings...), nil
	}
	polled, listeners, err := c.bus.awaitAnswer(ctx, c.topic, id, func(over func(*topic.State) bool) error {
		return c.until(ctx, a.WaitSeconds, over)
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		e := tools.Translate(err)
		err = e.WithHint("the question was stored as %s: %s", id, e.Hint).With("question_id", id)
	}
	if err != nil {
		return nil, err
	}
	c.shown(polled, len(polled.Answers))
	return warned(polled.AskResult(listeners), warnings...), nil
}

// awaitAnswer waits by wait until a question has an answer or is settled. It returns how the
// question stands then, and how many agents could hear of it, negative if that is not known.
func (b *bus) awaitAnswer(ctx context.Context, r *questions.Topic, id string,
	wait func(over func(*topic.State) bool) error) (polled *tools.PollResult, listeners int, err error) {
	before, unknown := questions.Hearers(r, id) // tt wait ends when it hears of the question
	if err = wait(func(s *topic.State) bool { return s.AskSettled(id, 1) }); err == nil {
		polled, err = poll(ctx, r, id, 0)
	}
	if err != nil {
		return nil, 0, err
	}
	after, err := questions.Hearers(r, id)
	if unknown != nil || err != nil {
		return polled, -1, nil
	}
	all := append(before, after...)
	slices.Sort(all)
	return polled, len(slices.Compact(all)), nil
}

// ask stores a question of the agent, and sets whom it is for to who is meant by the name. The
// warnings are about a name that nobody has had yet (who has it may come later), and about a room
// that has ended. With an error the id is not empty if the question may have been stored.
func (b *bus) ask(ctx context.Context, r *questions.Topic, agent string, a *tools.Ask) (id string, warnings []tools.Warning, err error) {
	to, err := questions.AddresseeOf(r, agent, a.To)
	if err != nil {
		return "", nil, err
	}
	if to.RoomEnded {
		warnings = append(warnings, tools.RoomEnded(r.Name()))
	}
	if a.To = to.ID; !to.Known {
		warnings = append(warnings, tools.UnknownRecipient(to.ID, to.Candidates))
	}
	_, id, err = questions.Ask(ctx, r, agent, topic.AskRequest{Question: a.Question, To: a.To}, b.limits)
	return id, warnings, err
}

func askPoll(ctx context.Context, c *call, a *tools.Poll) (tools.Result, error) {
	err := c.until(ctx, a.WaitSeconds, func(s *topic.State) bool { return s.AskSettled(a.QuestionID, a.MinAnswers) })
	if err != nil {
		return nil, err
	}
	result, err := poll(ctx, c.topic, a.QuestionID, a.Skip)
	if err != nil {
		return nil, c.onOtherTopic(ctx, err, a.QuestionID)
	}
	if result.AcceptingAnswers && a.MinAnswers > 1 {
		result.Missing = max(0, a.MinAnswers-result.AnswersCount)
	}
	c.shown(result, a.Skip+len(result.Answers))
	return result, nil
}

// shown records that the agent is shown the answers in a result, which are up to the nth. If that fails, tt tells it of
// them, too.
func (c *call) shown(r *tools.PollResult, n int) {
	if len(r.Answers) > 0 {
		questions.AnswersShown(c.topic, c.agent, r.QuestionID, n)
	}
}

func poll(ctx context.Context, r *questions.Topic, questionID string, skip int) (*tools.PollResult, error) {
	snap, err := r.View()
	if err != nil {
		return nil, err
	}
	s, err := questions.WithQuestion(ctx, r, snap.State, questionID)
	if err != nil {
		return nil, err
	}
	return tools.NewPollResult(s, questionID, skip, questions.Texts(ctx, r))
}

// onOtherTopic turns the error that the topic has no such question into
// TOPIC_MISMATCH if another topic has it.
func (c *call) onOtherTopic(ctx context.Context, err error, questionID string) error {
	if code.Of(err) == topic.QuestionNotFound {
		if found, scanErr := c.TopicOf(ctx, questionID); scanErr == nil && found != nil {
			return tools.Mismatch(questionID, c.topic.Name())
		}
	}
	return err
}

func pendingList(ctx context.Context, c *call, a *tools.Pending) (tools.Result, error) {
	err := c.until(ctx, a.WaitSeconds, func(s *topic.State) bool { return s.OfferSettled(c.agent) })
	if err != nil {
		return nil, err
	}
	snap, err := c.topic.View()
	if err != nil {
		return nil, err
	}
	return tools.PendingList(snap.State, c.agent, a, questions.Texts(ctx, c.topic))
}

func answer(ctx context.Context, c *call, a *tools.Answer) (tools.Result, error) {
	s, tally, err := questions.Answer(ctx, c.topic, c.agent, a.Stored())
	if err != nil {
		return nil, err
	}
	return tools.NewSavedResult(s, tally), nil
}

func askCancel(ctx context.Context, c *call, a *tools.Cancel) (tools.Result, error) {
	return c.settle(ctx, a.QuestionID, tools.WarnAlreadyCancelled, func(s *topic.State) ([]event.Event, error) {
		return s.Cancel(c.agent, a.QuestionID, a.Reason)
	})
}

func questionMarkAnswered(ctx context.Context, c *call, a *tools.OfQuestion) (tools.Result, error) {
	return c.settle(ctx, a.QuestionID, tools.WarnAlreadyAnswered, func(s *topic.State) ([]event.Event, error) {
		return s.MarkAnswered(c.agent, a.QuestionID)
	})
}

// settle settles a question with [questions.Settle]. If that changes nothing, the result has a
// warning with the code already.
func (c *call) settle(ctx context.Context, id, already string, decide func(*topic.State) ([]event.Event, error)) (tools.Result, error) {
	s, changed, err := questions.Settle(ctx, c.topic, id, decide)
	if err != nil {
		return nil, c.onOtherTopic(ctx, err, id)
	}
	result := tools.NewSettledResult(s, id)
	if !changed {
		result.Warn(tools.Already(already, "question_id", id))
	}
	return result, nil
}

// A pingResult is the result of ping.
type pingResult struct {
	OK          bool   `json:"ok"`
	SpecVersion string `json:"spec_version"`
	DataDir     string `json:"data_dir"`
	Engine      string `json:"engine,omitempty"`
	tools.Notices
}

func (r *pingResult) Text() string {
	return "ok, agent-bus " + r.SpecVersion + "\ndata_dir: " + r.DataDir + tools.EngineLine(r.Engine)
}

func ping(_ context.Context, c *call, _ *tools.None) (tools.Result, error) {
	return &pingResult{OK: true, SpecVersion: specVersion, DataDir: c.home, Engine: c.engine}, nil
}

func topicCreate(ctx context.Context, c *call, a *tools.Create) (tools.Result, error) {
	s, doubtful, err := c.Create(ctx, topic.CreateRequest{Name: a.Name, Metadata: a.Metadata, Mode: a.Mode})
	if err != nil {
		return nil, withUnreadable(err, doubtful, a.Name)
	}
	return warned(tools.NewTopicResult(s), warningsOf(doubtful)...), nil
}

func topicList(_ context.Context, c *call, a *tools.List) (tools.Result, error) {
	all, err := c.Index()
	if err != nil {
		return nil, err
	}
	return warned(tools.NewListResult(all.States, a.Status), warningsOf(all.Unreadable)...), nil
}

func topicResolve(_ context.Context, c *call, a *tools.Resolve) (tools.Result, error) {
	s, _, warnings, err := c.resolve(a.Name, a.AllowClosed, nil)
	if err != nil {
		return nil, err
	}
	return warned(tools.NewTopicResult(s), warnings...), nil
}

func topicClose(ctx context.Context, c *call, a *tools.Close) (tools.Result, error) {
	s, changed, err := questions.Close(ctx, c.topic, c.agent, a.Reason)
	if err != nil {
		return nil, err
	}
	return closeResult(s, changed), nil
}

// closeResult returns the result of topic_close, with a warning if the topic was
// closed before.
func closeResult(s *topic.State, changed bool) *tools.CloseResult {
	result := tools.NewCloseResult(s)
	if !changed {
		result.Warn(tools.Already(tools.WarnAlreadyClosed, "topic_id", s.TopicID))
	}
	return result
}

func topicJoin(ctx context.Context, c *call, a *tools.Join) (tools.Result, error) {
	agent, err := a.Agent(c.defaultName)
	if err != nil {
		return nil, err
	}
	id := a.TopicID
	var warnings []tools.Warning
	if a.Name != "" {
		found, _, doubtful, err := c.resolve(a.Name, a.AllowClosed, nil)
		if code.Of(err) == topic.TopicNotFound { // a room that has no question yet is there all the same
			if s, madeErr := c.OfRoom(ctx, a.Name); madeErr == nil && s != nil && s.Status == topic.Open {
				found, err = s, nil
			}
		}
		if err != nil {
			return nil, err
		}
		id, warnings = found.TopicID, doubtful
	}
	r, err := c.Topic(id)
	if err != nil {
		return nil, err
	}
	s, inUse, err := c.join(ctx, r, agent)
	if err != nil {
		return nil, err
	}
	if inUse {
		warnings = append(warnings, tools.NameInUse(id, agent))
	}
	result := tools.NewJoinResult(s, agent, c.home)
	result.Engine = c.engine
	if a.Agents {
		others, err := questions.Listeners(r, agent)
		if err != nil {
			return nil, err
		}
		result.Presence = tools.NewPresence(presentOf(others))
	}
	return warned(result, warnings...), nil
}

// presentOf returns the agents as results list them.
func presentOf(holders []fsroom.Holder) []tools.Present {
	agents := []tools.Present{}
	for _, h := range holders {
		agents = append(agents, tools.Present{AgentName: h.ID, Connected: true, LastSeenAt: event.NewTime(h.Marked)})
	}
	return agents
}
