package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

var listCommand = &cli.Command{
	Name:   "cli topics list",
	Traits: lastKnown,
	Flags: func(f *cli.Flags) {
		f.Choice("status", "STATUS", []string{topic.ListOpen, topic.ListClosed, topic.ListAll}, "which topics")
		f.Int64("limit", "N", 200, "how many at most")
	},
	Run: onBus(runList),
}

// A topicsResult is the result of cli topics list.
type topicsResult struct {
	Topics   []topicInfo     `json:"topics"`
	Total    int             `json:"total"`
	Warnings []tools.Warning `json:"warnings,omitempty"`
}

// A topicInfo is a topic as commands show it: without what it has not.
type topicInfo struct {
	topic.Info
	ClosedAt    *event.Time     `json:"closed_at,omitempty"`
	CloseReason *string         `json:"close_reason,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
}

func infoOf(s *topic.State) topicInfo {
	i := s.Info()
	return topicInfo{i, i.ClosedAt, i.CloseReason, i.Metadata}
}

func runList(_ context.Context, c *cli.Invocation, b *bus) error {
	limit := c.Int64("limit")
	if limit < 1 {
		return c.Usagef("--limit must be 1 or more, not %d", limit)
	}
	all, err := b.Index()
	if err != nil {
		return err
	}
	listed := topic.Select(all.States, c.String("status"))
	result := topicsResult{Topics: []topicInfo{}, Total: len(listed), Warnings: warningsOf(all.Unreadable)}
	others := map[bool]string{true: " There are others; see --status all."}[len(listed) < len(all.States)]
	for _, s := range listed[:min(int(min(limit, 1<<30)), len(listed))] {
		result.Topics = append(result.Topics, infoOf(s))
	}
	for _, w := range result.Warnings {
		c.Warn("%s: %v", w.Message, w.Context["topic_id"])
	}
	return c.Out.Result(result, func(t *cli.Text) { writeTopics(t, result, others) })
}

func writeTopics(t *cli.Text, r topicsResult, others string) {
	if len(r.Topics) == 0 {
		t.Line("No topics found.%s", others)
	}
	var table cli.Table
	for _, l := range r.Topics {
		table.Row(l.TopicID, topicStyle(t, l.Status), l.Counts.String(), "made "+t.Ago(l.CreatedAt.Time), l.Name)
	}
	t.Table(&table)
	if more := r.Total - len(r.Topics); more > 0 {
		t.Line("%s more; see --limit.", code.Count(more, "older topic"))
	}
}

func topicStyle(t *cli.Text, status string) cli.Styled {
	if status == topic.Open {
		return t.Green(status)
	}
	return t.Dim(status)
}

var showCommand = &cli.Command{
	Name:   "cli topics show",
	Traits: lastKnown,
	Args:   []cli.Arg{topicArg},
	Run:    showing(writeTopic),
}

// showing returns the Run of a command that shows a topic.
func showing(write func(*cli.Text, *shownTopic)) func(context.Context, *cli.Invocation) error {
	return onBus(func(ctx context.Context, c *cli.Invocation, b *bus) error {
		shown, err := readTopic(ctx, c, b)
		if err != nil {
			return err
		}
		return c.Out.Result(shown, func(t *cli.Text) { write(t, shown) })
	})
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
	QuestionID string              `json:"question_id"`
	AskedBy    string              `json:"from_agent_id"`
	To         string              `json:"to_agent_id,omitempty"`
	AskedAt    event.Time          `json:"asked_at,omitzero"`
	Status     string              `json:"status"`
	Reason     string              `json:"reason,omitempty"`
	Text       string              `json:"question"`
	Answers    []topic.ShownAnswer `json:"answers"`
}

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
	shown := &shownTopic{topicInfo: infoOf(s), Listeners: len(connected), Agents: presentOf(connected), Questions: []shownQuestion{}}
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
			Status: questions.Status(q), Reason: q.CancelReason, Text: cmp.Or(text, topic.LostText), Answers: answers,
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

var exportCommand = &cli.Command{
	Name:   "cli export",
	Traits: lastKnown,
	Args:   []cli.Arg{topicArg},
	Run:    showing(func(t *cli.Text, s *shownTopic) { t.Block("", markdown(s)) }),
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
		fmt.Fprintf(b, "\n### %s answers\n\n%s\n\n%s\n", a.AnsweredBy, a.AnsweredAt, tools.Enclosed(a.Markdown))
		writeItems(b, "Where to look:", a.Pointers)
		writeItems(b, "Suggested follow-ups:", a.Followups)
	}
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

var followCommand = &cli.Command{
	Name:    "cli follow",
	Args:    []cli.Arg{topicArg},
	Streams: true,
	Flags: func(f *cli.Flags) {
		f.Int64("after", "N", 0, "start after the event N; without it, with what comes")
		f.Duration("timeout", "D", 0, "how long; 0 for ever")
	},
	Run: onBus(runFollow),
}

func runFollow(ctx context.Context, c *cli.Invocation, b *bus) error {
	r, err := b.findTopic(c, c.Arg("topic"))
	if err != nil {
		return err
	}
	snap, err := r.View()
	if err != nil {
		return err
	}
	after := snap.State.Seq
	if c.Given("after") {
		after = c.Int64("after")
	}
	if after < 0 || c.Duration("timeout") < 0 {
		return c.Usagef("--after and --timeout must not be negative")
	}
	if after > snap.State.Seq {
		return topic.Invalid("after", "is %d, and the last event of the topic is %d", after, snap.State.Seq).
			With("last_event_seq", snap.State.Seq)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if d := c.Duration("timeout"); d > 0 {
		var timeUp context.CancelFunc
		ctx, timeUp = context.WithTimeoutCause(ctx, d, errTimeUp)
		defer timeUp()
	}
	c.Out.Until(ctx)
	_, err = r.Follow(ctx, after, func(e *event.Event) error {
		public := *e
		public.More = false
		err := c.Out.WriteLine(&public, func(t *cli.Text) {
			t.Line("%s  %s", t.Dim(e.CreatedAt.Local().Format("Jan _2 15:04:05")), eventLine(e))
		})
		if err == nil {
			after = e.Seq
		}
		return err
	}, nil)
	ended := "signal"
	switch {
	case errors.Is(err, fsroom.ErrLifeEnded):
		ended = "closed"
	case errors.Is(context.Cause(ctx), errTimeUp):
		ended = "timeout"
	case ctx.Err() == nil:
		return err
	}
	c.Out.Remark(fmt.Sprintf("cursor_event_seq=%d ended=%s", after, ended))
	return nil
}

// eventLine describes an event in one line.
func eventLine(e *event.Event) string {
	id, text := topic.Words(e)
	because := ""
	if e.Reason != "" {
		because = ": " + e.Reason
	}
	switch e.Type {
	case topic.EventCreated:
		return "topic " + text + " was made"
	case topic.EventClosed:
		return strings.TrimPrefix(e.From+" closed the topic"+because, " ")
	case topic.EventAsked:
		to := ""
		if e.To != "" {
			to = " " + e.To
		}
		return fmt.Sprintf("%s asks%s %s: %s", e.From, to, id, firstLine(text))
	case topic.EventAnswer:
		return fmt.Sprintf("%s answers %s: %s", e.From, id, firstLine(text))
	case topic.EventCancelled:
		return fmt.Sprintf("%s cancels %s%s", e.From, id, because)
	case topic.EventMarked:
		return fmt.Sprintf("%s marks %s answered", e.From, id)
	}
	return e.Type
}
