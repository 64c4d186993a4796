package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

var exportCommand = &cli.Command{
	Name:   "cli export",
	Traits: lastKnown,
	Args:   []cli.Arg{topicArg},
	Short:  "print a topic with all questions and answers as Markdown or JSON",
	Long:   "Changes nothing. With --json the topic is one JSON object: questions, each with its answers.",
	Examples: []cli.Example{
		{Line: "agent-bus cli export pink > pink.md"},
	},
	Errors: []code.Code{topic.TopicNotFound, tools.SchemaMismatch},
	Run:    onBus(runExport),
}

func runExport(ctx context.Context, c *cli.Invocation, b *bus) error {
	shown, err := readTopic(ctx, c, b)
	if err != nil {
		return err
	}
	return c.Out.Result(shown, func(t *cli.Text) { t.Block("", markdown(shown)) })
}

// markdown returns the topic as Markdown. Questions and answers are Markdown already
// and stay as they are; what stands in headings and lists is put on one line.
func markdown(s *shownTopic) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n- topic_id: %s\n- created: %s\n- status: %s\n", s.Name, s.TopicID, s.CreatedAt, s.Status)
	if s.ClosedAt != nil {
		fmt.Fprintf(&b, "- closed: %s\n", s.ClosedAt)
	}
	if s.CloseReason != nil {
		fmt.Fprintf(&b, "- reason: %s\n", tools.OneLine(*s.CloseReason))
	}
	if s.Metadata != nil {
		fmt.Fprintf(&b, "- metadata: `%s`\n", s.Metadata)
	}
	for _, q := range s.Questions {
		writeQuestion(&b, q)
	}
	return b.String()
}

func writeQuestion(b *strings.Builder, q shownQuestion) {
	to := ""
	if q.To != "" {
		to = " " + q.To
	}
	fmt.Fprintf(b, "\n## %s asks%s (%s, %s)\n\n%s\n\n%s\n", q.AskedBy, to, q.QuestionID, q.Status, q.AskedAt, tools.Enclosed(q.Text))
	if q.Reason != "" {
		fmt.Fprintf(b, "\nCancelled: %s\n", tools.OneLine(q.Reason))
	}
	for _, a := range q.Answers {
		writeAnswer(b, a.Answer)
	}
}

func writeAnswer(b *strings.Builder, a topic.Answer) {
	fmt.Fprintf(b, "\n### %s answers\n\n%s\n\n%s\n", a.AnsweredBy, a.AnsweredAt, tools.Enclosed(a.Payload.Markdown))
	writeItems(b, "Where to look:", a.Payload.Pointers)
	writeItems(b, "Suggested follow-ups:", a.Payload.Followups)
}

func writeItems(b *strings.Builder, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n", heading)
	for _, item := range items {
		fmt.Fprintf(b, "- %s\n", tools.OneLine(item))
	}
}
