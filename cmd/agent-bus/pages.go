package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal"
)

// pages are one topic with its texts, open for reading.
type pages struct {
	state  *topic.State
	lookup topic.Lookup
	close  func()
}

// openPages opens the topic that the argument names.
func openPages(ctx context.Context, c *front.Call) (*pages, error) {
	b, err := openBus(c.Env)
	if err != nil {
		return nil, err
	}
	r, err := b.named(c.Arg("topic"))
	if err != nil {
		return nil, err
	}
	snap, err := r.View()
	if err != nil {
		return nil, err
	}
	lookup, done, err := lookupIn(ctx, r)
	if err != nil {
		return nil, err
	}
	return &pages{snap.State, lookup, done}, nil
}

// named finds a topic by its id, else by its name.
func (b *bus) named(text string) (*room, error) {
	r, err := b.topic(text)
	if code.Of(err) != topic.TopicNotFound {
		return r, err
	}
	info, err := b.resolve(topic.ResolveRequest{Name: text, AllowClosed: true})
	if code.Of(err) == topic.TopicNotFound {
		return nil, code.New(topic.TopicNotFound, "no topic has the id or the name %q", text).
			WithHint(`see "agent-bus cli topics list --status all"`)
	}
	if err != nil {
		return nil, err
	}
	return b.topic(info.TopicID)
}

// question returns the text of a question and when it was asked.
func (p *pages) question(q *topic.Question) (string, journal.Time, error) {
	e, err := p.lookup(q.Seq)
	if err != nil {
		return "", journal.Time{}, err
	}
	text, err := q.QuestionText(p.lookup)
	return text, e.CreatedAt, err
}

func answersText(n int) string {
	if n == 1 {
		return "1 answer"
	}
	return fmt.Sprintf("%d answers", n)
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
