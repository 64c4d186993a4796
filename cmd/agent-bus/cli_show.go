package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

func topicArg() cli.Arg {
	return cli.Arg{Name: "topic", Usage: "a topic's id, or its name: then the newest open topic of that name, else the newest closed one"}
}

func showCommand() *cli.Command {
	return &cli.Command{
		Name:   "cli topics show",
		Group:  groupAdmin,
		Args:   []cli.Arg{topicArg()},
		Short:  "show one topic and its questions",
		Long:   "Changes nothing. With --json the answers are there too; as text they are in agent-bus cli export.",
		Errors: []code.Code{topic.TopicNotFound, tools.SchemaMismatch},
		Run:    onBus(runShow),
	}
}

// A shownTopic is a topic with its questions, oldest first.
type shownTopic struct {
	topic.Info
	Listeners int             `json:"listeners"` // agents with a live session that have joined
	Questions []shownQuestion `json:"questions"`
}

type shownQuestion struct {
	QuestionID   string         `json:"question_id"`
	Status       string         `json:"status"`
	AskedBy      string         `json:"asked_by"`
	To           string         `json:"to_agent_id,omitempty"`
	AskedAt      event.Time     `json:"asked_at"`
	Text         string         `json:"question_text"`
	AnswersCount int            `json:"answers_count"`
	Answers      []topic.Answer `json:"answers"`
	CancelReason string         `json:"cancel_reason,omitempty"`
}

func runShow(ctx context.Context, c *cli.Invocation, b *bus) error {
	p, err := openPages(ctx, c, b)
	if err != nil {
		return err
	}
	defer p.close()
	shown, err := p.shown()
	if err != nil {
		return err
	}
	shown.Listeners = max(0, topics.Listeners(p.room, ""))
	return c.Out.Result(shown, func(t *cli.Text) { writeTopic(t, shown) })
}

// shown reads the whole topic.
func (p *pages) shown() (*shownTopic, error) {
	shown := &shownTopic{Info: p.state.Info(), Questions: []shownQuestion{}}
	for i := range p.state.Questions {
		q := &p.state.Questions[i]
		text, at, err := p.lookup.Question(q)
		if err != nil {
			return nil, err
		}
		answers, err := p.lookup.Answers(q)
		if err != nil {
			return nil, err
		}
		shown.Questions = append(shown.Questions, shownQuestion{
			QuestionID: q.ID, Status: q.Status, AskedBy: q.AskedBy, To: q.To, AskedAt: at, Text: text,
			AnswersCount: len(answers), Answers: answers, CancelReason: q.CancelReason,
		})
	}
	return shown, nil
}

func writeTopic(t *cli.Text, s *shownTopic) {
	t.Line("Topic   %s  %s", t.Bold(s.Name), topicStyle(t, s.Status))
	t.Line("Id      %s", s.TopicID)
	t.Line("Made    %s", t.Ago(s.CreatedAt.Time))
	if s.ClosedAt != nil {
		t.Line("Closed  %s", t.Ago(s.ClosedAt.Time))
	}
	if s.CloseReason != nil {
		t.Line("Reason  %s", *s.CloseReason)
	}
	if s.Metadata != nil {
		t.Line("Meta    %s", s.Metadata)
	}
	t.Line("Counts  %s", s.Counts)
	t.Line("Joined  %s now", count(s.Listeners, "agent"))
	if len(s.Questions) == 0 {
		return
	}
	t.Blank()
	var table cli.Table
	for _, q := range s.Questions {
		table.Row(q.QuestionID, q.Status, count(q.AnswersCount, "answer"), q.AskedBy, t.Ago(q.AskedAt.Time), firstLine(q.Text))
	}
	t.Table(&table)
}
