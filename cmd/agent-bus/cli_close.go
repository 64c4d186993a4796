package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func closeCommand() *cli.Command {
	return &cli.Command{
		Name:  "cli close",
		Group: groupTalk,
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
}

func archiveCommand() *cli.Command {
	return &cli.Command{
		Name:  "cli archive",
		Group: groupAdmin,
		Args:  []cli.Arg{topicArg()},
		Short: "take a topic out of use and keep its files",
		Long: "Moves the topic's directory to topics.archived in the data directory; moved back to topics it is as it was. " +
			"Agents that use it find it gone. It also takes a topic that cannot be read out of the way, by its id.",
		Errors: []code.Code{topic.TopicNotFound},
		Run:    onBus(runArchive),
	}
}

func runClose(ctx context.Context, c *cli.Invocation, b *bus) error {
	agent, err := nameOf(c)
	if err != nil {
		return err
	}
	args, err := argsOf(map[string]any{"reason": c.String("reason")})
	if err != nil {
		return err
	}
	reason, err := tools.ParseReason(args, b.limits)
	if err != nil {
		return err
	}
	questionID := c.Arg("topic")
	if id, err := b.TopicOf(ctx, questionID); err == nil && id != "" {
		return closeQuestion(ctx, c, b, id, agent, reason)
	}
	r, err := b.named(c, c.Arg("topic"))
	if err != nil {
		return err
	}
	result, err := closeTopic(ctx, r, agent, reason)
	if err != nil {
		return err
	}
	return c.Out.Result(result, func(t *cli.Text) {
		if result.Warnings != nil {
			t.Line("%s was closed already.", result.Name)
			return
		}
		t.Line("Closed %s.", result.Name)
	})
}

// A closedQuestion is what cli close prints of a question.
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
	s, _, err := topics.Settle(ctx, r, id, func(s *topic.State) ([]event.Event, error) {
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

// archivedFolder is where archived topics are, beside the folder of topics.
const archivedFolder = "topics.archived"

// An archivedResult says where a topic's files are.
type archivedResult struct {
	TopicID string `json:"topic_id"`
	Path    string `json:"path"`
}

func runArchive(ctx context.Context, c *cli.Invocation, b *bus) error {
	r, err := b.named(c, c.Arg("topic"))
	if err != nil {
		return err
	}
	from := filepath.Join(b.Path, topics.Rules.Folder, r.Name())
	to := filepath.Join(b.Path, archivedFolder, r.Name())
	move := func() error {
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return unusable(filepath.Dir(to), err)
		}
		if err := os.Rename(from, to); err != nil {
			return unusable(from, err)
		}
		return nil
	}
	// Under its lock nobody is in the middle of a change. One that cannot be read
	// is not changed by anybody.
	err = r.Locked(ctx, func(*topics.Snapshot) error { return move() })
	if known := code.Of(err); known == code.CorruptRoom || known == code.UnsupportedFormat {
		err = move()
	}
	if err != nil {
		return err
	}
	return c.Out.Result(archivedResult{r.Name(), to}, func(t *cli.Text) { t.Line("Archived as %s.", to) })
}
