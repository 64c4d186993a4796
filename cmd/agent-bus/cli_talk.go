package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

func askCommand() *cli.Command {
	return &cli.Command{
		Name:  "cli ask",
		Group: groupTalk,
		Args:  []cli.Arg{topicArg(), {Name: "question", Show: "QUESTION", Rest: true, Optional: true, Usage: "the question"}},
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
}

func answerCommand() *cli.Command {
	return &cli.Command{
		Name:  "cli answer",
		Group: groupTalk,
		Args:  []cli.Arg{{Name: "question_id", Show: "QUESTION_ID", Usage: "the question"}, {Name: "answer", Show: "ANSWER", Rest: true, Optional: true, Usage: "the answer, in Markdown"}},
		Short: "answer a question",
		Flags: func(f *cli.Flags) {
			f.StringList("pointer", "PATH", "where to look; may be repeated")
			f.StringList("follow-up", "QUESTION", "what to ask next; may be repeated")
			stdinFlag(f)
			agentFlag(f)
		},
		Errors: []code.Code{topic.QuestionNotFound, topic.ForbiddenSelfAnswer, topic.ForbiddenAlreadyAnswered, topic.InvalidArgument},
		Run:    onBus(runAnswer),
	}
}

func stdinFlag(f *cli.Flags) { f.Bool("stdin", "read the text from standard input") }

func agentFlag(f *cli.Flags) {
	f.String("agent", "NAME", "act under this name instead of the id that tt whoami gives")
}

// nameOf returns the name under which a command acts.
func nameOf(c *cli.Invocation) (string, error) {
	if c.Given("agent") {
		return tools.ValidateAgentName(c.String("agent"))
	}
	me, err := identity.Resolve(identityEnv(c.Env), identity.System(), "")
	if err != nil {
		return "", err
	}
	return tools.ValidateAgentName(me.ID)
}

// textOf returns a text from the arguments called name, or from standard input.
func textOf(c *cli.Invocation, name string) (string, error) {
	words := c.Rest(name)
	switch {
	case len(words) > 0 && c.Bool("stdin"):
		return "", c.Usagef("the text comes from arguments or from --stdin, not from both")
	case len(words) > 0:
		return strings.Join(words, " "), nil
	case !c.Bool("stdin"):
		return "", c.Usagef("the text is missing").WithHint("give it as arguments, or with --stdin")
	}
	const longest = 16 << 20
	data, err := io.ReadAll(io.LimitReader(c.Env.Stdin, longest))
	if err != nil {
		return "", code.New(topic.InvalidArgument, "standard input could not be read: %v", err).Because(err)
	}
	return strings.TrimSuffix(string(data), "\n"), nil
}

// argsOf are arguments as an agent would send them, so that the same rules hold.
func argsOf(values map[string]any) (tools.Args, error) {
	for name, value := range values {
		if text, ok := value.(string); ok && text != strings.ToValidUTF8(text, "") {
			return tools.Args{}, topic.Invalid(name, "is not UTF-8")
		}
	}
	data, err := json.Marshal(values)
	if err != nil {
		return tools.Args{}, err
	}
	return tools.ParseArgs(data)
}

func runAsk(ctx context.Context, c *cli.Invocation, b *bus) error {
	text, err := textOf(c, "question")
	if err != nil {
		return err
	}
	args, err := argsOf(map[string]any{"question": text, "to": c.String("to")})
	if err != nil {
		return err
	}
	request, _, err := tools.ParseAsk(args, b.limits)
	if err != nil {
		return err
	}
	agent, err := nameOf(c)
	if err != nil {
		return err
	}
	r, err := b.named(c, c.Arg("topic"))
	if err != nil {
		return err
	}
	var id string
	_, _, err = r.Update(ctx, func(s *topic.State) (events []event.Event, err error) {
		events, id, err = s.Ask(agent, request, topics.NewQuestionID, b.limits)
		return events, err
	})
	if err != nil {
		return err
	}
	if !c.Bool("wait") {
		return c.Out.Result(tools.NewQueuedResult(r.Name(), id, agent, request.To), func(t *cli.Text) {
			t.Line("Asked %s on %s.", id, c.Arg("topic"))
		})
	}
	if !c.JSON {
		c.Notice("asked " + id + "; waiting for an answer")
	}
	return waitForAnswer(ctx, c, r, id, agent)
}

// waitForAnswer prints the first answer, or that there is none in time.
func waitForAnswer(ctx context.Context, c *cli.Invocation, r *topics.Room, id, agent string) error {
	waiting, timeUp := context.WithTimeoutCause(ctx, c.Duration("timeout"), errTimeUp)
	defer timeUp()
	err := r.Await(waiting, func(s *topics.Snapshot) (bool, fsroom.Pause, error) {
		return s.State.AskSettled(id, 1), fsroom.Pause{}, nil
	})
	if err != nil && err != errTimeUp {
		return err
	}
	polled, err := poll(ctx, r, id, 0)
	if err != nil {
		return err
	}
	others := topics.Listeners(r, agent)
	return c.Out.Result(polled.AskResult(others), func(t *cli.Text) {
		switch {
		case len(polled.Answers) > 0:
			t.Block("", tools.RenderAnswers(polled.Answers))
		case polled.QuestionStatus != topic.Pending:
			t.Line("The question is %s and has no answer.", polled.QuestionStatus)
		default:
			t.Line("Nobody has answered %s yet; it stays open. Joined now: %s.", id, count(max(0, others), "other agent"))
		}
	})
}

// An answeredResult is what cli answer prints.
type answeredResult struct {
	QuestionID string `json:"question_id"`
	AnswerID   string `json:"answer_id"`
	Status     string `json:"status"` // saved
	AskedBy    string `json:"asked_by"`
}

func runAnswer(ctx context.Context, c *cli.Invocation, b *bus) error {
	text, err := textOf(c, "answer")
	if err != nil {
		return err
	}
	id := c.Arg("question_id")
	responses, err := responseOf(c, b.limits, id, text)
	if err != nil {
		return err
	}
	agent, err := nameOf(c)
	if err != nil {
		return err
	}
	r, err := b.roomOf(ctx, id)
	if err != nil {
		return err
	}
	result := answeredResult{QuestionID: id, AnswerID: topics.NewAnswerID(), Status: "saved"}
	_, _, err = r.Update(ctx, func(s *topic.State) ([]event.Event, error) {
		events, tally, err := s.Answer(agent, responses, func() string { return result.AnswerID })
		if err == nil && tally.Saved == 0 {
			err = alreadySettled(tally.Skipped[0])
		}
		if err == nil {
			result.AskedBy = s.Question(id).AskedBy
		}
		return events, err
	})
	if err != nil {
		return err
	}
	return c.Out.Result(result, func(t *cli.Text) { t.Line("Answered %s of %s.", id, result.AskedBy) })
}

// alreadySettled refuses to answer a question of the topic. One that its state has
// forgotten was settled, too.
func alreadySettled(skip topic.Skip) error {
	how := skip.Reason
	if how == topic.SkipNotOnTopic {
		how = "answered or cancelled"
	}
	return topic.Invalid("question_id", "names a question that is %s already", how)
}

// responseOf makes the response to one question. A person need not suggest
// follow-ups.
func responseOf(c *cli.Invocation, l topic.Limits, id, text string) ([]topic.Response, error) {
	followUps := c.Strings("follow-up")
	if len(followUps) == 0 {
		followUps = []string{"none"}
	}
	args, err := argsOf(map[string]any{"answer_markdown": text})
	if err == nil {
		args, err = argsOf(map[string]any{"responses": []any{map[string]any{
			"question_id": id, "answer_markdown": text, "repo_pointers": c.Strings("pointer"), "suggested_followups": followUps,
		}}})
	}
	if err != nil {
		return nil, err
	}
	responses, warnings, err := tools.ParseResponses(args, l)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		c.Warn("%s: %s", w.Code, w.Message)
	}
	if len(c.Strings("follow-up")) == 0 {
		responses[0].Payload.Followups = []string{}
	}
	return responses, nil
}

// roomOf returns the topic that has the question.
func (b *bus) roomOf(ctx context.Context, questionID string) (*topics.Room, error) {
	id, err := b.TopicOf(ctx, questionID)
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, code.New(topic.QuestionNotFound, "no topic has a question %q", questionID).
			WithHint(`see "agent-bus cli topics show TOPIC"`)
	}
	return b.Topic(id)
}

// eventLine is an event of a topic for people, on one line.
func eventLine(e *event.Event) string {
	var p struct {
		QuestionID string `json:"question_id"`
		Text       string `json:"question_text"`
		Markdown   string `json:"answer_markdown"`
		Name       string `json:"name"`
	}
	_ = json.Unmarshal(e.Payload, &p) // what it cannot read is left out
	because := ""
	if e.Reason != "" {
		because = ": " + e.Reason
	}
	switch e.Type {
	case topic.EventCreated:
		return "topic " + p.Name + " was made"
	case topic.EventClosed:
		return strings.TrimPrefix(e.From+" closed the topic"+because, " ")
	case topic.EventAsked:
		to := ""
		if e.To != "" {
			to = " " + e.To
		}
		return fmt.Sprintf("%s asks%s %s: %s", e.From, to, p.QuestionID, firstLine(p.Text))
	case topic.EventAnswer:
		return fmt.Sprintf("%s answers %s: %s", e.From, p.QuestionID, firstLine(p.Markdown))
	case topic.EventCancelled:
		return fmt.Sprintf("%s cancels %s%s", e.From, p.QuestionID, because)
	case topic.EventMarked:
		return fmt.Sprintf("%s marks %s answered", e.From, p.QuestionID)
	}
	return e.Type
}
