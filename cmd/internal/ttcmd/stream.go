package ttcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// lastSavePatience is how long a stream that ends waits for the change that is under way,
// before it stores what it has shown. A signal ends it within 100 ms.
const lastSavePatience = 40 * time.Millisecond

var (
	errTimeUp = errors.New("the time is up")
	errMissed = errors.New("a life of the room lies in between")
)

// A stream prints matching events as they come.
type stream struct {
	*eventQuery
	filter filter
	read   *mailbox.ReadCursor
	file   *cursorFile // nil: none

	since  int64 // the last event at the start: only a later event ends the stream
	passed int64 // the last event that was printed or did not match
	shown  int   // how many events were printed
	left   bool  // whether one of the events removed the caller from the room
	closed bool  // whether one of them ended the room
}

// stream prints events until a signal, the end of its reader, of its time or of the
// room, or until the caller leaves. Its last line on standard error has the number of
// the last event and the reason for the end.
func (q *eventQuery) stream(ctx context.Context, f filter, st *turn.State, at startPoint) error {
	c := q.c
	read, err := mailbox.Of(q.room).ReadCursor(ctx, st, at.after)
	if err != nil {
		return err
	}
	if at.file != nil { // reports an unusable file now, and saves the start
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
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSavePatience)
	defer cancel()
	read.Save(last)
	ended, err := out.ended(ctx, err)
	if at.file != nil {
		if failed := at.file.save(out.passed); err == nil && failed != nil {
			ended, err = "error", failed
		}
	}
	if ended == "closed" {
		c.Out.Remark("the room at " + cli.Line(st.CanonicalPath) + " has ended")
	}
	c.Out.Remark(fmt.Sprintf("cursor_event_seq=%d ended=%s", out.passed, ended))
	return err
}

// streamContext returns a context that ends with a signal, with the reader of the
// output, and after --timeout.
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

// run prints events until there is a reason to end, and returns the reason.
func (s *stream) run(ctx context.Context, live bool) error {
	for i := range s.past {
		if err := s.writeEvent(s.c.Out, &s.past[i]); err != nil {
			return err
		}
	}
	for gap := int64(-1); ; {
		caughtUp := func() error { return s.caughtUp(ctx) }
		_, err := s.room.FS.Past(ctx, s.passed, s.event)
		if err != nil {
			return err
		}
		if !live {
			return errors.Join(caughtUp(), fsroom.ErrLifeEnded)
		}
		_, err = s.room.FS.Follow(ctx, s.passed, func(e *event.Event) error {
			if e.Seq > s.passed+1 && gap != s.passed {
				return errMissed
			}
			return s.event(e)
		}, caughtUp)
		switch {
		case errors.Is(err, errMissed):
			gap = s.passed // events that the archive does not have now are lost
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

// errLeft ends the stream of a caller that has left.
var errLeft = errors.New("the caller has left the room")

// caughtUp saves the cursors when all events so far are printed. Its error ends the
// stream.
func (s *stream) caughtUp(ctx context.Context) error {
	s.read.Save(ctx)
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

// ended returns the word for the reason why a stream has ended, and err if that is an
// error. A stream whose reader has gone ends as with a signal.
func (s *stream) ended(ctx context.Context, err error) (string, error) {
	switch {
	case errors.Is(err, errLeft):
		return "left", nil
	case errors.Is(err, member.ErrEnough):
		return "limit", nil
	case errors.Is(err, fsroom.ErrLifeEnded):
		return "closed", nil
	case errors.Is(context.Cause(ctx), errTimeUp):
		return "timeout", nil
	case ctx.Err() != nil || cli.ReaderGone(err):
		return "signal", nil
	}
	return "error", err
}
