package main

import (
	"context"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

var showCommand = &cli.Command{
	Name:   "cli topics show",
	Traits: lastKnown,
	Args:   []cli.Arg{topicArg},
	Short:  "show one topic and its questions",
	Long:   "Changes nothing. With --json the answers are there too; as text they are in agent-bus cli export.",
	Errors: []code.Code{topic.TopicNotFound, tools.SchemaMismatch},
	Run:    onBus(runShow),
}

func runShow(ctx context.Context, c *cli.Invocation, b *bus) error {
	shown, err := readTopic(ctx, c, b)
	if err != nil {
		return err
	}
	return c.Out.Result(shown, func(t *cli.Text) { writeTopic(t, shown) })
}

// A shownTopic is a topic with its questions, oldest first.
type shownTopic struct {
	topicInfo
	Listeners int             `json:"listeners"` // agents with a live session that have joined
	Agents    []tools.Present `json:"agents"`    // these, the last seen first
	Questions []shownQuestion `json:"questions"`
}

// A shownQuestion has the names of tt questions show.
type shownQuestion struct {
	QuestionID string        `json:"question_id"`
	AskedBy    string        `json:"from_agent_id"`
	To         string        `json:"to_agent_id,omitempty"`
	AskedAt    event.Time    `json:"asked_at"`
	Status     string        `json:"status"`
	Reason     string        `json:"reason,omitempty"`
	Text       string        `json:"question"`
	Answers    []shownAnswer `json:"answers"`
}

type shownAnswer struct{ topic.Answer }

func (a shownAnswer) MarshalJSON() ([]byte, error) { return wire.Append(nil, &a.Answer), nil }

// readTopic reads the topic that the argument names, with all questions and answers.
func readTopic(ctx context.Context, c *cli.Invocation, b *bus) (*shownTopic, error) {
	r, err := b.findTopic(c, c.Arg("topic"))
	if err != nil {
		return nil, err
	}
	s, lookup, err := questions.Whole(ctx, r)
	if err != nil {
		return nil, err
	}
	if !s.Exists() {
		return nil, noSuchTopic(c.Arg("topic"))
	}
	connected, _ := questions.Listeners(r, "")
	shown := &shownTopic{topicInfo: infoOf(s.Info()), Listeners: len(connected), Agents: presentOf(connected), Questions: []shownQuestion{}}
	for i := range s.Questions {
		q := &s.Questions[i]
		text, at, err := lookup.Question(q)
		if err != nil {
			return nil, err
		}
		answers, err := lookup.Answers(q)
		if err != nil {
			return nil, err
		}
		v := shownQuestion{
			QuestionID: q.ID, AskedBy: q.AskedBy, To: q.To, AskedAt: at,
			Status: questions.Status(q), Reason: q.CancelReason, Text: text, Answers: []shownAnswer{},
		}
		for _, a := range answers {
			v.Answers = append(v.Answers, shownAnswer{a})
		}
		shown.Questions = append(shown.Questions, v)
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
		t.Line("Meta    %s", string(s.Metadata))
	}
	t.Line("Counts  %s", s.Counts)
	t.Line("Joined  %s now", code.Count(s.Listeners, "agent"))
	if len(s.Agents) > 0 {
		t.Blank()
		var agents cli.Table
		for _, a := range s.Agents {
			agents.Row(a.AgentName, "connected", "seen "+t.Ago(a.LastSeenAt.Time))
		}
		t.Table(&agents)
	}
	if len(s.Questions) == 0 {
		return
	}
	t.Blank()
	var table cli.Table
	for _, q := range s.Questions {
		table.Row(q.QuestionID, q.Status, code.Count(len(q.Answers), "answer"), q.AskedBy, t.Ago(q.AskedAt.Time), firstLine(q.Text))
	}
	t.Table(&table)
}
