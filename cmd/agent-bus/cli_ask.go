package main

import (
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

var askCommand = &cli.Command{
	Name:  "cli ask",
	Args:  []cli.Arg{topicArg, {Name: "question", Show: "QUESTION", Rest: true, Optional: true, Usage: "the question"}},
	Short: "ask the agents on a topic",
	Examples: []cli.Example{
		{Line: `agent-bus cli ask payments "Why is amount a string?" --wait`},
	},
	Flags: func(f *cli.Flags) {
		f.String("to", "AGENT", "the one agent whom it is offered to, or human; else every agent on the topic")
		f.Bool("wait", "wait for the first answer and print it")
		f.Duration("timeout", "D", 110*time.Second, "how long --wait waits")
		stdinFlag(f)
		agentFlag(f)
	},
	Errors: []code.Code{topic.TopicNotFound, topic.TopicClosed, topic.TopicFull, topic.InvalidArgument},
	Run:    onBus(runAsk),
}

func runAsk(ctx context.Context, c *cli.Invocation, b *bus) error {
	text, err := textOf(c, "question")
	if err != nil {
		return err
	}
	request := topic.AskRequest{Question: text, To: c.String("to")}
	if err := tools.CheckAsk(&request, b.limits); err != nil {
		return err
	}
	agent, err := callerName(c)
	if err != nil {
		return err
	}
	r, err := b.findTopic(c, c.Arg("topic"))
	if err != nil {
		return err
	}
	warnings, err := b.address(r, agent, &request)
	if err != nil {
		return err
	}
	id, err := questions.Ask(ctx, r, agent, request, b.limits)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		c.Warn("%s", w.Message)
	}
	if !c.Bool("wait") {
		return c.Out.Result(warned(tools.NewQueuedResult(r.Name(), id, agent, request.To), warnings...), func(t *cli.Text) {
			t.Line("Asked %s on %s.", id, c.Arg("topic"))
		})
	}
	if !c.JSON {
		c.Notice("asked " + id + "; waiting for an answer")
	}
	return b.waitForAnswer(ctx, c, r, id)
}

// waitForAnswer prints the first answer, or that none came in time.
func (b *bus) waitForAnswer(ctx context.Context, c *cli.Invocation, r *questions.Topic, id string) error {
	waiting, timeUp := context.WithTimeoutCause(ctx, c.Duration("timeout"), errTimeUp)
	defer timeUp()
	polled, listeners, err := b.awaitAnswer(ctx, r, id, func(over func(*topic.State) bool) error {
		if err := questions.Await(waiting, r, over); err != errTimeUp {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.Out.Result(polled.AskResult(listeners), func(t *cli.Text) {
		switch {
		case len(polled.Answers) > 0:
			t.Block("", tools.RenderAnswers(polled.Answers))
		case polled.QuestionStatus != topic.Pending:
			t.Line("The question is %s and has no answer.", polled.QuestionStatus)
		default:
			t.Line("Nobody has answered %s yet; it stays open. %s could hear of it.", id, code.Count(max(0, listeners), "agent"))
		}
	})
}
