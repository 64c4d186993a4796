package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal/event"
)

var followCommand = &cli.Command{
	Name:  "cli follow",
	Args:  []cli.Arg{topicArg},
	Short: "print what happens on a topic as it happens",
	Long: "One line for each event, until a signal comes, the time is up or the topic is gone. The last line on standard " +
		"error is cursor_event_seq=N ended=timeout, signal or closed.",
	Streams: true,
	Flags: func(f *cli.Flags) {
		f.Int64("after", "N", 0, "start after the event N; without it, with what comes")
		f.Duration("timeout", "D", 0, "how long; 0 for ever")
	},
	Errors: []code.Code{topic.TopicNotFound, topic.InvalidArgument},
	Run:    onBus(runFollow),
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
