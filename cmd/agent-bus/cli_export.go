package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

func exportCommand() *front.Command {
	return &front.Command{
		Name:  "cli export",
		Group: groupAdmin,
		Args:  []front.Arg{topicArg()},
		Short: "print a topic with all questions and answers as Markdown",
		Long:  "Changes nothing. With --json, the Markdown is in a JSON object.",
		Examples: []front.Example{
			{Line: "agent-bus cli export pink > pink.md"},
		},
		Errors: []code.Code{topic.TopicNotFound, topic.SchemaMismatch},
		Run:    runExport,
	}
}

// An exported topic, for --json.
type exported struct {
	TopicID  string `json:"topic_id"`
	Markdown string `json:"markdown"`
}

func runExport(ctx context.Context, c *front.Call) error {
	p, err := openPages(ctx, c)
	if err != nil {
		return busError(err)
	}
	defer p.close()
	document, err := p.markdown()
	if err != nil {
		return busError(err)
	}
	return c.Out.Result(exported{p.state.TopicID, document}, func(t *front.Text) { t.Block("", document) })
}

// markdown writes the topic. What agents wrote stays as it is, as it is meant to
// be Markdown; headings and lists around it hold only what is on one line.
func (p *pages) markdown() (string, error) {
	var b strings.Builder
	s := p.state
	fmt.Fprintf(&b, "# %s\n\n- topic_id: %s\n- created: %s\n- status: %s\n", s.Name, s.TopicID, s.CreatedAt, s.Status)
	if s.ClosedAt != nil {
		fmt.Fprintf(&b, "- closed: %s\n", s.ClosedAt)
	}
	if s.CloseReason != "" {
		fmt.Fprintf(&b, "- reason: %s\n", oneLine(s.CloseReason))
	}
	if s.Metadata != nil {
		fmt.Fprintf(&b, "- metadata: `%s`\n", s.Metadata)
	}
	for i := range s.Questions {
		if err := p.writeQuestion(&b, &s.Questions[i]); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func (p *pages) writeQuestion(b *strings.Builder, q *topic.Question) error {
	text, at, err := p.question(q)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\n## %s asks (%s, %s)\n\n%s\n\n%s\n", q.AskedBy, q.ID, q.Status, at, strings.TrimSpace(text))
	if q.CancelReason != "" {
		fmt.Fprintf(b, "\nCancelled: %s\n", oneLine(q.CancelReason))
	}
	result, err := p.state.Poll(q.ID, p.lookup)
	if err != nil {
		return err
	}
	for _, a := range result.Answers {
		writeAnswer(b, a)
	}
	return nil
}

func writeAnswer(b *strings.Builder, a topic.Answer) {
	fmt.Fprintf(b, "\n### %s answers\n\n%s\n\n%s\n", a.AnsweredBy, a.AnsweredAt, strings.TrimSpace(a.Payload.Markdown))
	writeItems(b, "Where to look:", a.Payload.Pointers)
	writeItems(b, "Suggested follow-ups:", a.Payload.Followups)
}

func writeItems(b *strings.Builder, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n", heading)
	for _, item := range items {
		fmt.Fprintf(b, "- %s\n", oneLine(item))
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
