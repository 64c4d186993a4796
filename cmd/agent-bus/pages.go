package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/topics"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
)

// pages are one topic with its texts, open for reading.
type pages struct {
	room   *topics.Room
	state  *topic.State
	lookup topic.Lookup
	close  func()
}

// openPages opens the topic that the argument names, by its id or its name.
func openPages(ctx context.Context, c *cli.Invocation, b *bus) (*pages, error) {
	r, err := b.named(c, c.Arg("topic"))
	if err != nil {
		return nil, err
	}
	all, err := topics.History(ctx, r)
	if err != nil {
		return nil, err
	}
	if !all.Exists() {
		return nil, noSuchTopic(c.Arg("topic"))
	}
	lookup, done, err := topics.OpenLookup(ctx, r)
	if err != nil {
		return nil, err
	}
	return &pages{r, all, lookup, done}, nil
}

// named finds a topic by its id, else by its name. Where several topics have the
// name it warns, and takes the newest open one, else the newest.
func (b *bus) named(c *cli.Invocation, text string) (*topics.Room, error) {
	r, err := b.Topic(text)
	if code.Of(err) != topic.TopicNotFound {
		return r, err
	}
	all, err := b.Index()
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(text)
	infos, doubtful := all.Infos(), all.Doubtful(name)
	info, err := topic.Find(infos, topic.ResolveRequest{Name: name, AllowClosed: true})
	if err != nil {
		return nil, withUnreadable(noSuchTopic(text), doubtful, name)
	}
	for _, w := range warningsOf(doubtful) {
		c.Warn("%s: %v", w.Message, w.Context["topic_id"])
	}
	same := 0
	for _, other := range infos {
		if strings.TrimSpace(other.Name) == name {
			same++
		}
	}
	if same > 1 {
		c.Warn("%d topics are named %q; this is %s, the newest open one or else the newest", same, name, info.TopicID)
	}
	return b.Topic(info.TopicID)
}

func noSuchTopic(text string) error {
	return code.New(topic.TopicNotFound, "no topic has the id or the name %q", text).
		WithHint(`see "agent-bus cli topics list --status all"`)
}

// count writes a number of things: "1 topic", "2 topics".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// firstLine is what a table shows of a text.
func firstLine(text string) string {
	const longest = 60
	line, more, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > longest {
		line, more = string(runes[:longest]), "more"
	}
	if more != "" {
		line += "…"
	}
	return line
}
