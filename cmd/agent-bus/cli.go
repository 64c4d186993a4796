package main

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/identity"
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

func stdinFlag(f *cli.Flags) { f.Bool("stdin", "read the text from standard input") }

func agentFlag(f *cli.Flags) {
	f.String("agent", "NAME", "act under this name instead of the id that tt whoami gives")
}

// textOf returns the text of the arguments called name, or of standard input.
func textOf(c *cli.Invocation, name string) (string, error) {
	return c.Text(name, topic.InvalidArgument, topic.InvalidArgument)
}

// findTopic returns the topic with the id or the name that the text is. If several
// topics have the name it warns, and returns the newest open one, else the newest.
func (b *bus) findTopic(c *cli.Invocation, text string) (*questions.Topic, error) {
	r, err := b.Topic(text)
	if code.Of(err) != topic.TopicNotFound {
		return r, err
	}
	all, err := b.Index()
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(text)
	doubtful := all.Doubtful(name)
	s, err := topic.Find(all.States, topic.ResolveRequest{Name: name, AllowClosed: true})
	if err != nil {
		return nil, withUnreadable(noSuchTopic(text), doubtful, name)
	}
	for _, w := range warningsOf(doubtful) {
		c.Warn("%s: %v", w.Message, w.Context["topic_id"])
	}
	same := 0
	for _, other := range all.States {
		if strings.TrimSpace(other.Name) == name {
			same++
		}
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

// topicOfQuestion returns the topic that has the question.
func (b *bus) topicOfQuestion(ctx context.Context, questionID string) (*questions.Topic, error) {
	id, err := b.TopicOf(ctx, questionID, "")
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, code.New(topic.QuestionNotFound, "no topic has a question %q", questionID).
			WithHint(`see "agent-bus cli topics show TOPIC"`)
	}
	return b.Topic(id)
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
	me, err := identity.Resolve(session.IdentityEnv(c.Env, false), identity.System(), "")
	if err != nil {
		return "", err
	}
	return tools.ValidateAgentName(me.ID)
}

// harnessName returns the agent id that tt gives the harness session which this
// process belongs to, "" if it belongs to none.
func harnessName(env *cli.Env) string {
	me, err := identity.Resolve(session.IdentityEnv(env, false), identity.System(), "")
	if err != nil || me.SessionKind != identity.HarnessCLI {
		return ""
	}
	return me.ID
}
