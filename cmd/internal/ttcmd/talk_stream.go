package ttcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
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
	read   *mailbox.Reader
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
	c.Out.TellNotices()
	out := &stream{eventQuery: q, filter: f, read: mailbox.Of(q.room).Reader(), file: at.file, since: st.Seq, passed: at.after}
	err := out.run(ctx, st.Open)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSavePatience)
	defer cancel()
	out.read.Save(last)
	ended, err := out.ended(ctx, err)
	if at.file != nil {
		if failed := at.file.save(out.passed); err == nil && failed != nil {
			ended, err = "error", failed
		}
	}
	if ended == "closed" {
		c.Out.Remark("the room at " + cli.Line(q.room.Path(st)) + " has ended")
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
		if err := s.writeEvent(&s.past[i]); err != nil {
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
		if err := s.writeEvent(e); err != nil {
			return err
		}
		s.shown++
		s.read.Show(e)
	}
	s.passed = e.Seq
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

// A cursorFile contains the number of the last event that a reader has printed, as
// decimal digits. It is replaced atomically.
type cursorFile struct {
	path  string
	seq   int64
	found bool // false: the file was missing or empty
}

// openCursorFile reads the file of --cursor.
func openCursorFile(c *cli.Invocation, name string) (*cursorFile, error) {
	path := c.Env.Abs(name)
	// The file is replaced, so a link to it must be followed here.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f := &cursorFile{path: path}
	const longest = 64 // bytes: a number with white space around it
	b, err := lockfile.ReadRegular(path, longest)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, f.refuse("it cannot be read: %v", err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return f, nil
	}
	f.found = true
	if f.seq, err = strconv.ParseInt(text, 10, 64); err != nil || f.seq < 0 {
		return nil, f.refuse("it holds something else than a number: %.40q", text)
	}
	return f, nil
}

// save writes the number of the last event that was printed to the file.
func (f *cursorFile) save(seq int64) error {
	if f.found && f.seq == seq {
		return nil
	}
	if err := lockfile.Replace(f.path, strconv.AppendInt(nil, seq, 10), filepath.Dir(f.path)); err != nil {
		return f.refuse("it cannot be written: %v", err).WithHint("name a file that can be written; until then the same events come again")
	}
	f.found, f.seq = true, seq
	return nil
}

func (f *cursorFile) refuse(format string, args ...any) *code.Error {
	e := code.New(code.InvalidCursor, "the cursor file %s cannot be used: "+format, append([]any{f.path}, args...)...)
	return e.With("file", f.path).WithHint("name another file, or remove this one to start from now on")
}

// shown returns an event as results have it.
func (q *eventQuery) shown(public *event.Event) any {
	if !q.brief {
		return public
	}
	text := cmp.Or(eventDetail(public), public.Reason)
	return &briefEvent{Seq: public.Seq, Type: public.Type, From: public.From, To: public.To, Text: talk.Preview(text)}
}

// writeEvent writes an event of a stream, with its day if that is not today.
func (q *eventQuery) writeEvent(e *event.Event) error {
	if q.entry != nil {
		return q.entry(e)
	}
	public := turn.Public(*e)
	item := q.shown(&public)
	if q.data {
		return q.c.Out.WriteLine(item, nil)
	}
	return q.c.Out.WriteLine(item, func(t *cli.Text) {
		if brief, ok := item.(*briefEvent); ok {
			brief.write(t)
			return
		}
		at, format := e.CreatedAt.Local(), time.TimeOnly
		if at.Format(time.DateOnly) != t.Now.Local().Format(time.DateOnly) {
			format = logTime
		}
		t.Line("%s  %s  turn %d  %s  %s", t.Dim(at.Format(format)), t.Dim(itoa(e.Seq)), e.Turn, e.Type, eventWords(&public))
	})
}

// writePage writes a page of events.
func (q *eventQuery) writePage(events []event.Event, cursor int64) error {
	page := &eventsResult{[]any{}, cursor}
	for i := range events {
		if q.lines {
			if err := q.writeEvent(&events[i]); err != nil {
				return err
			}
		}
		events[i] = turn.Public(events[i])
		page.Events = append(page.Events, q.shown(&events[i]))
	}
	if q.lines {
		return nil
	}
	return q.c.Out.Result(page, func(t *cli.Text) {
		var table cli.Table
		for i := range page.Events {
			if brief, ok := page.Events[i].(*briefEvent); ok {
				brief.write(t)
				continue
			}
			e := &events[i]
			table.Row(t.Dim(itoa(e.Seq)), t.Dim("turn "+itoa(e.Turn)), t.Ago(e.CreatedAt.Time), e.Type, eventWords(e))
		}
		if len(events) == 0 && !q.brief {
			t.Line("No events.")
		}
		t.Table(&table)
	})
}

// A briefEvent is an event with --brief.
type briefEvent struct {
	Seq  int64  `json:"event_seq"`
	Type string `json:"event_type"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Text string `json:"text,omitempty"`
}

func (e *briefEvent) write(t *cli.Text) {
	t.Line("%s  %s  %s", t.Dim(itoa(e.Seq)), e.Type, withText(fromTo(e.From, e.To), e.Text))
}

// withText returns who an event is from and for, and its text: either may be "".
func withText(agents, text string) string {
	if agents == "" || text == "" {
		return agents + text
	}
	return agents + ": " + text
}

// fromTo returns the sender and the recipient of an event as text.
func fromTo(from, to string) string {
	switch {
	case from != "" && to != "":
		return from + " → " + to
	case to != "":
		return "→ " + to
	}
	return from
}

// eventWords describes an event in one line.
func eventWords(e *event.Event) string {
	words := withText(fromTo(e.From, e.To), eventDetail(e))
	if e.Reason != "" {
		words += " (" + e.Reason + ")"
	}
	return words
}

// eventDetail returns the text of an event, behind the mark of one that should be read at once.
func eventDetail(e *event.Event) string {
	switch w := talk.Of(e); e.Type {
	case turn.MessageSent:
		return urgent(w.Urgent, "interrupt") + w.Text
	case turn.NoteAdded:
		return urgent(w.Urgent, "page") + w.Text
	case turn.JobEnded:
		return w.Text
	case turn.Claim, turn.Takeover:
		return turn.EntryOf(e).Grant
	case turn.Released, turn.Passed:
		return turn.ReadHandoff(e.Handoff).NextAction
	case turn.TreeChanged:
		if c := changesIn(e.Payload); c != nil {
			return changesLine(c)
		}
	case turn.JournalDamaged:
		return event.LostOf(e).Words()
	}
	return ""
}
