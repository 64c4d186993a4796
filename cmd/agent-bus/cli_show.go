package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal"
)

func topicArg() front.Arg {
	return front.Arg{Name: "topic", Usage: "a topic's id, or its name: then the newest open topic of that name, else the newest closed one"}
}

func showCommand() *front.Command {
	return &front.Command{
		Name:   "cli topics show",
		Group:  groupAdmin,
		Args:   []front.Arg{topicArg()},
		Short:  "show one topic and its questions",
		Long:   "Changes nothing. The answers are in agent-bus cli export.",
		Errors: []code.Code{topic.TopicNotFound, topic.SchemaMismatch},
		Run:    runShow,
	}
}

// A shownTopic is a topic with its questions, oldest first.
type shownTopic struct {
	listedTopic
	Questions []shownQuestion `json:"questions"`
}

type shownQuestion struct {
	QuestionID   string       `json:"question_id"`
	Status       string       `json:"status"`
	AskedBy      string       `json:"asked_by"`
	AskedAt      journal.Time `json:"asked_at"`
	Text         string       `json:"question_text"`
	AnswersCount int          `json:"answers_count"`
	CancelReason string       `json:"cancel_reason,omitempty"`
}

func runShow(ctx context.Context, c *front.Call) error {
	p, err := openPages(ctx, c)
	if err != nil {
		return busError(err)
	}
	defer p.close()
	shown := shownTopic{listedTopic: listedTopic{p.state.Info(), p.state.Counts()}, Questions: []shownQuestion{}}
	for i := range p.state.Questions {
		q := &p.state.Questions[i]
		text, at, err := p.question(q)
		if err != nil {
			return busError(err)
		}
		shown.Questions = append(shown.Questions, shownQuestion{q.ID, q.Status, q.AskedBy, at, text, len(q.Answers), q.CancelReason})
	}
	return c.Out.Result(shown, func(t *front.Text) { writeTopic(t, shown) })
}

func writeTopic(t *front.Text, s shownTopic) {
	t.Line("Topic   %s  %s", t.Bold(s.Name), topicStyle(t, s.Status))
	t.Line("Id      %s", s.TopicID)
	t.Line("Made    %s", t.Ago(s.CreatedAt.Time))
	if s.ClosedAt != nil {
		t.Line("Closed  %s", t.Ago(s.ClosedAt.Time))
	}
	if s.CloseReason != nil {
		t.Line("Reason  %s", *s.CloseReason)
	}
	t.Line("Counts  %s", countsText(s.Counts))
	if len(s.Questions) == 0 {
		return
	}
	t.Blank()
	var table front.Table
	for _, q := range s.Questions {
		table.Row(q.QuestionID, q.Status, answersText(q.AnswersCount), q.AskedBy, t.Ago(q.AskedAt.Time), firstLine(q.Text))
	}
	t.Table(&table)
}
