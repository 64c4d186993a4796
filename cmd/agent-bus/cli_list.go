package main

import (
	"context"
	"encoding/json"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

var listCommand = &cli.Command{
	Name:   "cli topics list",
	Traits: lastKnown,
	Short:  "list topics, with how many questions are in which state",
	Long:   "The newest first. Changes nothing.",
	Flags: func(f *cli.Flags) {
		f.Choice("status", "STATUS", []string{topic.ListOpen, topic.ListClosed, topic.ListAll}, "which topics")
		f.Int64("limit", "N", 200, "how many at most")
	},
	Errors: []code.Code{tools.SchemaMismatch},
	Run:    onBus(runList),
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

func infoOf(i topic.Info) topicInfo { return topicInfo{i, i.ClosedAt, i.CloseReason, i.Metadata} }

func runList(_ context.Context, c *cli.Invocation, b *bus) error {
	limit := c.Int64("limit")
	if limit < 1 {
		return c.Usagef("--limit must be 1 or more, not %d", limit)
	}
	all, err := b.Index()
	if err != nil {
		return err
	}
	listed := topic.Select(all.Infos(), c.String("status"))
	result := topicsResult{Topics: []topicInfo{}, Total: len(listed), Warnings: warningsOf(all.Unreadable)}
	for _, info := range listed[:min(int(min(limit, 1<<30)), len(listed))] {
		result.Topics = append(result.Topics, infoOf(info))
	}
	for _, w := range result.Warnings {
		if !c.JSON {
			c.Warn("%s: %v", w.Message, w.Context["topic_id"])
		}
	}
	return c.Out.Result(result, func(t *cli.Text) { writeTopics(t, result) })
}

func writeTopics(t *cli.Text, r topicsResult) {
	if len(r.Topics) == 0 {
		t.Line("No topics found.")
		return
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
