package main

import (
	"context"
	"fmt"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

func listCommand() *front.Command {
	return &front.Command{
		Name:  "cli topics list",
		Group: groupAdmin,
		Short: "list topics, with how many questions are in which state",
		Long:  "The newest first. Changes nothing.",
		Flags: func(f *front.Flags) {
			f.Choice("status", "STATUS", []string{topic.ListOpen, topic.ListClosed, topic.ListAll}, "open, closed or all")
			f.Int64("limit", "N", 200, "how many at most")
		},
		Errors: []code.Code{topic.SchemaMismatch},
		Run:    runList,
	}
}

// A listedTopic is a topic with its counts.
type listedTopic struct {
	topic.Info
	Counts topic.Counts `json:"counts"`
}

func runList(_ context.Context, c *front.Call) error {
	limit := c.Int64("limit")
	if limit < 1 {
		return c.Usagef("--limit must be 1 or more, not %d", limit)
	}
	infos, err := readTopics(c)
	if err != nil {
		return err
	}
	selected := topic.Select(infos, c.String("status"))
	selected = selected[:min(int(min(limit, 1<<30)), len(selected))]
	listed := make([]listedTopic, len(selected))
	for i, info := range selected {
		listed[i] = listedTopic{info, info.Counts}
	}
	return c.Out.Result(map[string]any{"topics": listed}, func(t *front.Text) { writeTopics(t, listed) })
}

// readTopics returns all topics that can be read, and warns of the others.
func readTopics(c *front.Call) ([]topic.Info, error) {
	b, err := openBus(c.Env)
	if err != nil {
		return nil, err
	}
	infos, damaged, err := b.topics()
	for _, w := range damaged {
		c.Warn("%s: %v", w.Message, w.Context["topic_id"])
	}
	return infos, busError(err)
}

func writeTopics(t *front.Text, topics []listedTopic) {
	if len(topics) == 0 {
		t.Line("No topics found.")
		return
	}
	var table front.Table
	for _, l := range topics {
		table.Row(l.TopicID, topicStyle(t, l.Status), countsText(l.Counts), "made "+t.Ago(l.CreatedAt.Time), l.Name)
	}
	t.Table(&table)
}

func topicStyle(t *front.Text, status string) front.Styled {
	if status == topic.Open {
		return t.Green(status)
	}
	return t.Dim(status)
}

func countsText(c topic.Counts) string {
	return fmt.Sprintf("%d pending, %d answered, %d cancelled", c.Pending, c.Answered, c.Cancelled)
}
