package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
)

// stream prints matching events as they come, a line of JSON each. It ends with
// a signal, with its reader, at the end of its time, or with the room, and then
// says on standard error how far it came.
func (s *seat) stream(ctx context.Context, c *front.Call, r reading, f filter, st *turn.State, limit int) error {
	after := st.Seq
	if c.Given("after") {
		after = c.Int64("after")
	}
	if c.Given("timeout") || r.wait {
		d := time.Duration(st.Policy.WaitForEvents) * time.Millisecond
		if c.Given("timeout") {
			d = c.Duration("timeout")
		}
		var timeUp context.CancelFunc
		ctx, timeUp = context.WithTimeout(ctx, d)
		defer timeUp()
	}
	ctx, caught := onSignal(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer caught()
	ctx, stop := untilReaderGone(ctx, c.Env.Stdout)
	defer stop()

	mail := s.mailbox(ctx, st, f, after)
	shown, last := 0, after
	end, err := s.room.Follow(ctx, after, func(e *journal.Event) error {
		mail.pass(e)
		if !f.wants(e) {
			return nil
		}
		public := turn.Public(*e)
		if err := c.Out.Item(&public); err != nil {
			return err
		}
		last = e.Seq
		if shown++; limit > 0 && shown == limit {
			return errEnough
		}
		return nil
	}, func() error {
		mail.save()
		if r.wait && shown > 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, fsroom.ErrLifeEnded) {
		fmt.Fprintf(c.Env.Stderr, "the room at %s has ended\n", front.Line(st.CanonicalPath))
		err = nil
	}
	fmt.Fprintf(c.Env.Stderr, "cursor_event_seq=%d\n", max(end, last))
	if errors.Is(err, errEnough) || ctx.Err() != nil {
		return nil
	}
	return err
}
