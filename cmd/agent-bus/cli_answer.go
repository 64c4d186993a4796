package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

var answerCommand = &cli.Command{
	Name: "cli answer",
	Args: []cli.Arg{{Name: "question_id", Show: "QUESTION_ID", Usage: "the question"},
		{Name: "answer", Show: "ANSWER", Rest: true, Optional: true, Usage: "the answer, in Markdown"}},
	Short: "answer a question",
	Flags: func(f *cli.Flags) {
		f.StringList("pointer", "PATH", "where to look")
		f.StringList("follow-up", "QUESTION", "what to ask next")
		stdinFlag(f)
		agentFlag(f)
	},
	Errors: []code.Code{topic.QuestionNotFound, topic.ForbiddenSelfAnswer, topic.ForbiddenAlreadyAnswered, topic.InvalidArgument},
	Run:    onBus(runAnswer),
}

// An answeredResult is the result of cli answer.
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
	response := topic.Response{QuestionID: id, Payload: topic.Payload{Markdown: text, Pointers: c.Strings("pointer"),
		Followups: c.Strings("follow-up")}}
	warnings, err := tools.CheckResponse("", &response, b.limits)
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
	r, err := b.topicOfQuestion(ctx, id)
	if err != nil {
		return err
	}
	s, tally, err := questions.Answer(ctx, r, agent, []topic.Response{response})
	if err != nil {
		return err
	}
	if len(tally.Skipped) > 0 {
		return topic.Invalid("question_id", "names a question that is %s already", tally.Skipped[0].Reason)
	}
	result := answeredResult{QuestionID: id, AnswerID: tally.AnswerIDs[0], Status: "saved", AskedBy: s.Question(id).AskedBy}
	return c.Out.Result(result, func(t *cli.Text) { t.Line("Answered %s of %s.", id, result.AskedBy) })
}
