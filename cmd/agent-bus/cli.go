package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// lastKnown is of the commands that look after topics, also while the engine is away.
var lastKnown = cli.Traits{LastKnown: true}

// onBus returns the Run of a command that works on the bus which the environment
// names. Its errors get the codes and hints of the bus, except usage errors.
func onBus(run func(context.Context, *cli.Invocation, *bus) error) func(context.Context, *cli.Invocation) error {
	return func(ctx context.Context, c *cli.Invocation) error {
		b, err := openBus(c.Env)
		if err != nil {
			return err
		}
		if c.Cmd.Traits.LastKnown {
			var once sync.Once
			b.Options.Behind = func(err error) bool {
				once.Do(func() { c.Notice(tools.Translate(err).Message + "; this is what this host knew last") })
				return true
			}
		}
		err = run(ctx, c, b)
		var coded *code.Error
		if errors.As(err, &coded) && coded.Code != code.Usage {
			return b.busError(err)
		}
		return err
	}
}

var topicArg = cli.Arg{Name: "topic", Usage: "a topic's id, or its name: then the newest open topic of that name, else the " +
	"newest closed one"}

func agentFlag(f *cli.Flags) {
	f.String("agent", "NAME", "act under this name instead of the id that tt whoami gives")
}

// findTopic returns the topic with the id or the name that the text is. If several
// topics have the name it warns, and returns the newest open one, else the newest.
func (b *bus) findTopic(c *cli.Invocation, text string) (*questions.Topic, error) {
	r, err := b.Topic(text)
	if code.Of(err) != topic.TopicNotFound {
		return r, err
	}
	name := strings.TrimSpace(text)
	s, same, warnings, err := b.resolve(name, true, noSuchTopic(text))
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		c.Warn("%s: %v", w.Message, w.Context["topic_id"])
	}
	if same > 1 {
		c.Warn("%d topics are named %q; this is %s, the newest open one or else the newest", same, name, s.TopicID)
	}
	return b.Topic(s.TopicID)
}

func noSuchTopic(text string) error {
	return code.New(topic.TopicNotFound, "no topic has the id or the name %q", text).
		WithHint(`see "agent-bus cli topics list --status all"`)
}

// firstLine returns the part of a text that a table shows.
func firstLine(text string) string {
	line, more, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if short := topic.Clip(line); short != line || more == "" {
		return short
	}
	return line + "…"
}

// callerName returns the name under which a command acts: that of --agent, else the
// id that tt whoami gives.
func callerName(c *cli.Invocation) (string, error) {
	if c.Given("agent") {
		return tools.ValidateAgentName(c.String("agent"))
	}
	me, err := caller(c.Env)
	if err != nil {
		return "", err
	}
	return tools.ValidateAgentName(me.ID)
}

// harnessName returns the agent id that tt gives the harness session which this
// process belongs to, "" if it belongs to none.
func harnessName(env *cli.Env) string {
	if me, err := caller(env); err == nil && me.SessionKind == identity.HarnessCLI {
		return me.ID
	}
	return ""
}

func caller(env *cli.Env) (identity.Agent, error) {
	return identity.Resolve(session.IdentityEnv(env, false), identity.System(), "")
}

var askCommand = &cli.Command{
	Name: "cli ask",
	Args: []cli.Arg{topicArg, {Name: "question", Show: "QUESTION", Rest: true, Optional: true, Usage: "the question"}},
	Flags: func(f *cli.Flags) {
		f.Word("to", "AGENT", "the one agent whom it is offered to, or human; else every agent on the topic")
		f.Bool("wait", "wait for the first answer and print it")
		f.Duration("timeout", "D", 110*time.Second, "how long --wait waits")
		f.Bool("stdin", "read the text from standard input")
		agentFlag(f)
	},
	Run: onBus(runAsk),
}

func runAsk(ctx context.Context, c *cli.Invocation, b *bus) error {
	text, err := c.Text("question", topic.InvalidArgument, topic.InvalidArgument)
	if err != nil {
		return err
	}
	a := tools.Ask{Question: text}
	if to := c.String("to"); to != "" {
		a.Recipient = &to
	}
	if _, err := a.Check(b.limits); err != nil {
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
	id, warnings, err := b.ask(ctx, r, agent, &a)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		c.Warn("%s", w.Message)
	}
	if !c.Bool("wait") {
		return c.Out.Result(warned(tools.NewQueuedResult(r.Name(), id, agent, a.To), warnings...), func(t *cli.Text) {
			t.Line("Asked %s on %s.", id, c.Arg("topic"))
		})
	}
	c.Warn("asked %s; waiting for an answer", id)
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

var answerCommand = &cli.Command{
	Name: "cli answer",
	Args: []cli.Arg{{Name: "question_id", Show: "QUESTION_ID", Usage: "the question"},
		{Name: "answer", Show: "ANSWER", Rest: true, Optional: true, Usage: "the answer, in Markdown"}},
	Flags: func(f *cli.Flags) {
		f.StringList("pointer", "PATH", "where to look")
		f.StringList("follow-up", "QUESTION", "what to ask next")
		f.Bool("stdin", "read the text from standard input")
		agentFlag(f)
	},
	Run: onBus(runAnswer),
}

func runAnswer(ctx context.Context, c *cli.Invocation, b *bus) error {
	text, err := c.Text("answer", topic.InvalidArgument, topic.InvalidArgument)
	if err != nil {
		return err
	}
	id := c.Arg("question_id")
	a := tools.Answer{Responses: []tools.Response{{QuestionID: id, Markdown: text, Pointers: c.Strings("pointer"), Followups: c.Strings("follow-up")}}}
	warnings, err := a.Responses[0].Check("", b.limits)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		c.Warn("%s: %s", w.Code, w.Message)
	}
	agent, err := callerName(c)
	if err != nil {
		return err
	}
	r, err := b.TopicOf(ctx, id)
	if err != nil {
		return err
	}
	if r == nil {
		return code.New(topic.QuestionNotFound, "no topic has a question %q", id).WithHint(`see "agent-bus cli topics show TOPIC"`)
	}
	s, tally, err := questions.Answer(ctx, r, agent, a.Stored())
	if err != nil {
		return err
	}
	if len(tally.Skipped) > 0 {
		return topic.Invalid("question_id", "names a question that is %s already", tally.Skipped[0].Reason)
	}
	by := s.Question(id).AskedBy
	result := map[string]any{"question_id": id, "answer_id": tally.AnswerIDs[0], "status": "saved", "asked_by": by}
	return c.Out.Result(result, func(t *cli.Text) { t.Line("Answered %s of %s.", id, by) })
}

var closeCommand = &cli.Command{
	Name: "cli close",
	Args: []cli.Arg{{Name: "topic", Show: "TOPIC|QUESTION_ID", Usage: "a topic, or a question of one's own"}},
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why, for the others")
		agentFlag(f)
	},
	Run: onBus(runClose),
}

func runClose(ctx context.Context, c *cli.Invocation, b *bus) error {
	agent, err := callerName(c)
	if err != nil {
		return err
	}
	reason := c.String("reason")
	if _, err := (&tools.Close{Reason: reason}).Check(b.limits); err != nil {
		return err
	}
	text := c.Arg("topic")
	if r, err := b.TopicOf(ctx, text); err == nil && r != nil {
		return closeQuestion(ctx, c, r, agent, reason)
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
		if changed {
			t.Line("Closed %s.", s.Name)
		} else {
			t.Line("%s was closed already.", s.Name)
		}
	})
}

func closeQuestion(ctx context.Context, c *cli.Invocation, r *questions.Topic, agent, reason string) error {
	id := c.Arg("topic")
	s, _, err := questions.Settle(ctx, r, id, func(s *topic.State) ([]event.Event, error) {
		if q := s.Question(id); q != nil && (q.Status == topic.Answered || q.Status == topic.Pending && len(q.Answers) > 0) {
			return s.MarkAnswered(agent, id)
		}
		return s.Cancel(agent, id, reason)
	})
	if err != nil {
		return err
	}
	status := s.Question(id).Status
	return c.Out.Result(map[string]any{"topic_id": r.Name(), "question_id": id, "status": status}, func(t *cli.Text) {
		t.Line("%s is %s.", id, status)
	})
}
