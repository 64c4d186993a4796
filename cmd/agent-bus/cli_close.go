package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

var closeCommand = &cli.Command{
	Name:  "cli close",
	Args:  []cli.Arg{{Name: "topic", Show: "TOPIC|QUESTION_ID", Usage: "a topic, or a question of one's own"}},
	Short: "close a topic, or a question of one's own",
	Long: "A topic is closed for new questions, for everybody and for good; those already asked can still be answered. " +
		"A question is marked answered if it has an answer, and else cancelled; only who asked it can do that.",
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why, for the others")
		agentFlag(f)
	},
	Errors: []code.Code{topic.TopicNotFound, topic.ForbiddenNotAsker, topic.InvalidArgument},
	Run:    onBus(runClose),
}

func runClose(ctx context.Context, c *cli.Invocation, b *bus) error {
	agent, err := callerName(c)
	if err != nil {
		return err
	}
	reason := c.String("reason")
	if err := tools.CheckReason(reason, b.limits); err != nil {
		return err
	}
	text := c.Arg("topic")
	if id, err := b.TopicOf(ctx, text, ""); err == nil && id != "" {
		return closeQuestion(ctx, c, b, id, agent, reason)
	}
	r, err := b.findTopic(c, text)
	if err != nil {
		return err
	}
	s, changed, err := questions.Close(ctx, r, agent, reason)
	if err != nil {
		return err
	}
	return c.Out.Result(closeResult(s, changed), func(t *cli.Text) {
		if !changed {
			t.Line("%s was closed already.", s.Name)
			return
		}
		t.Line("Closed %s.", s.Name)
	})
}

// A closedQuestion is the result of cli close for a question.
type closedQuestion struct {
	TopicID    string `json:"topic_id"`
	QuestionID string `json:"question_id"`
	Status     string `json:"status"`
}

func closeQuestion(ctx context.Context, c *cli.Invocation, b *bus, topicID, agent, reason string) error {
	id := c.Arg("topic")
	r, err := b.Topic(topicID)
	if err != nil {
		return err
	}
	s, _, err := questions.Settle(ctx, r, id, func(s *topic.State) ([]event.Event, error) {
		q := s.Question(id)
		if q == nil {
			return nil, topic.NotFound("topic_id", topicID)
		}
		if q.Status == topic.Answered || q.Status == topic.Pending && len(q.Answers) > 0 {
			return s.MarkAnswered(agent, id)
		}
		return s.Cancel(agent, id, reason)
	})
	if err != nil {
		return err
	}
	closed := closedQuestion{topicID, id, s.Question(id).Status}
	return c.Out.Result(closed, func(t *cli.Text) { t.Line("%s is %s.", id, closed.Status) })
}
