package ttcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// Why a stream ended.
const (
	endedTimeout = "timeout"
	endedSignal  = "signal" // or its reader has gone, which ends other programs by SIGPIPE
	endedLeft    = "left"   // the caller is no member any more
	endedClosed  = "closed" // the room has ended
	endedLimit   = "limit"  // as many as were asked for are printed
	endedError   = "error"  // the error follows
)

var (
	errTimeUp = errors.New("the time is up")
	errMissed = errors.New("a life of the room lies in between")
)

// A stream prints matching events as they come.
type stream struct {
	*eventQuery
	filter filter
	read   *member.ReadCursor
	file   *cursorFile // nil: none

	since  int64 // the last event when it began: the caller's leaving counts only after it
	passed int64 // the last event that was printed as a whole, or did not match
	shown  int   // how many were printed
	left   bool  // whether it was printed that the caller has left
	closed bool  // and that the room has ended
}

// stream runs until a signal, the end of its reader, of its time or of the room,
// or until the caller leaves. Its last line on standard error is how far it came
// and why it ended.
func (q *eventQuery) stream(ctx context.Context, f filter, st *turn.State, at startPoint) error {
	c := q.c
	read, err := q.room.ReadCursor(ctx, st, at.after)
	if err != nil {
		return err
	}
	if at.file != nil { // an unusable file is found out now, and where it starts is kept
		if err := at.file.save(at.after); err != nil {
			return err
		}
	}
	if f.self != "" && st.Open && !q.room.IsMember(st) {
		c.Warn(`%s is no member of the room, so only what is meant for everybody is shown; "--target any" shows everything`, q.room.Self.ID)
	}
	ctx, stop := q.streamContext(ctx, st)
	defer stop()
	c.Out.Until(ctx)
	out := &stream{eventQuery: q, filter: f, read: read, file: at.file, since: st.Seq, passed: at.after}
	err = out.run(ctx, st.Open)
	read.Save()
	ended, err := out.ended(ctx, err)
	if at.file != nil {
		if failed := at.file.save(out.passed); err == nil && failed != nil {
			ended, err = endedError, failed
		}
	}
	if ended == endedClosed {
		c.Out.Remark("the room at " + cli.Line(st.CanonicalPath) + " has ended")
	}
	c.Out.Remark(fmt.Sprintf("cursor_event_seq=%d ended=%s", out.passed, ended))
	return err
}

// streamContext ends with a signal, with the reader of the output, and with the
// stream's time, if it has one.
func (q *eventQuery) streamContext(ctx context.Context, st *turn.State) (context.Context, func()) {
	timeUp := func() {}
	if q.timed || q.wait {
		d := time.Duration(st.Policy.WaitForEvents) * time.Millisecond
		if q.timed {
			d = q.timeout
		}
		ctx, timeUp = context.WithTimeoutCause(ctx, d, errTimeUp)
	}
	ctx, stop := onSignal(ctx, endings...)
	ctx, stopReader := untilReaderGone(ctx, q.c.Env.Stdout)
	return ctx, func() { stopReader(); stop(); timeUp() }
}

// run prints events until there is a reason to end, which it returns.
func (s *stream) run(ctx context.Context, live bool) error {
	for i := range s.past {
		if err := s.writeEvent(s.c.Out, &s.past[i]); err != nil {
			return err
		}
	}
	for gap := int64(-1); ; {
		_, err := s.room.Past(ctx, s.passed, s.event)
		if err != nil {
			return err
		}
		if !live {
			return errors.Join(s.caughtUp(), fsroom.ErrLifeEnded)
		}
		_, err = s.room.Follow(ctx, s.passed, func(e *event.Event) error {
			if e.Seq > s.passed+1 && gap != s.passed {
				return errMissed
			}
			return s.event(e)
		}, s.caughtUp)
		switch {
		case errors.Is(err, errMissed):
			gap = s.passed // what is not in the archive then is nowhere
		case errors.Is(err, fsroom.ErrLifeEnded):
			live = false // its last events may be in the archive by now
		default:
			return err
		}
	}
}

// event prints one event, if it matches.
func (s *stream) event(e *event.Event) error {
	wanted := s.filter.wants(e)
	if wanted {
		if err := s.writeEvent(s.c.Out, e); err != nil {
			return err
		}
		s.shown++
	}
	s.passed = e.Seq
	s.read.Pass(e, wanted)
	if e.Seq > s.since {
		s.left = s.left || turn.EndsMembership(e, s.room.Self.ID)
		s.closed = s.closed || e.Type == turn.Closed
	}
	if wanted && s.shown == s.limit {
		return member.ErrEnough
	}
	return nil
}

// errLeft ends the stream of one who has left.
var errLeft = errors.New("the caller has left the room")

// caughtUp keeps the cursors when there is nothing more to print for now.
func (s *stream) caughtUp() error {
	s.read.Save()
	if s.file != nil {
		if err := s.file.save(s.passed); err != nil {
			return err
		}
	}
	switch {
	case s.closed:
		return fsroom.ErrLifeEnded
	case s.left:
		return errLeft
	case s.wait && s.shown > 0:
		return member.ErrEnough
	}
	return nil
}

// ended returns the word for the reason why a stream has ended, and the error if
// it was one.
func (s *stream) ended(ctx context.Context, err error) (string, error) {
	switch {
	case errors.Is(err, errLeft):
		return endedLeft, nil
	case errors.Is(err, member.ErrEnough):
		return endedLimit, nil
	case errors.Is(err, fsroom.ErrLifeEnded):
		return endedClosed, nil
	case errors.Is(context.Cause(ctx), errTimeUp):
		return endedTimeout, nil
	case ctx.Err() != nil || cli.ReaderGone(err):
		return endedSignal, nil
	}
	return endedError, err
}
