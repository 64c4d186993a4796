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
	errLeft   = errors.New("the caller has left the room")
)

// stream prints events until a signal, the end of its reader, of its time or of the
// room, or until the caller leaves. Its last line on standard error has the number of
// the last event and the reason for the end.
func (q *eventQuery) stream(ctx context.Context, st *turn.State) error {
	c := q.c
	if err := q.file.save(q.after); err != nil { // reports an unusable file now, and saves the start
		return err
	}
	if q.self != "" && st.Open && !q.room.IsMember(st) {
		c.Warn(`%s is no member of the room, so only what is meant for everybody is shown; "--target any" shows everything`, q.room.Self.ID)
	}
	if q.wait || c.Has("timeout") {
		d := time.Duration(st.Policy.WaitForEvents) * time.Millisecond
		if c.Has("timeout") {
			d = c.Duration("timeout")
		}
		var timeUp func()
		ctx, timeUp = context.WithTimeoutCause(ctx, d, errTimeUp)
		defer timeUp()
	}
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	ctx, stopReader := untilReaderGone(ctx, c.Env.Stdout)
	defer stopReader()
	c.Out.Until(ctx)
	c.Out.TellNotices()
	q.read, q.since, q.passed = mailbox.Of(q.room).Reader(), st.Seq, q.after
	err := q.run(ctx, st.Open)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSavePatience)
	defer cancel()
	q.read.Save(last)
	ended, err := q.ended(ctx, err)
	if failed := q.file.save(q.passed); err == nil && failed != nil {
		ended, err = "error", failed
	}
	if ended == "closed" {
		c.Out.Remark("the room at " + cli.Line(q.room.Path(st)) + " has ended")
	}
	c.Out.Remark(fmt.Sprintf("cursor_event_seq=%d ended=%s", q.passed, ended))
	return err
}

// run prints events until there is a reason to end, and returns the reason.
func (q *eventQuery) run(ctx context.Context, live bool) error {
	for i := range q.past {
		if err := q.writeEvent(&q.past[i]); err != nil {
			return err
		}
	}
	for gap := int64(-1); ; {
		caughtUp := func() error { return q.caughtUp(ctx) }
		_, err := q.room.FS.Past(ctx, q.passed, q.event)
		if err != nil {
			return err
		}
		if !live {
			return errors.Join(caughtUp(), fsroom.ErrLifeEnded)
		}
		_, err = q.room.FS.Follow(ctx, q.passed, func(e *event.Event) error {
			if e.Seq > q.passed+1 && gap != q.passed {
				return errMissed
			}
			return q.event(e)
		}, caughtUp)
		switch {
		case errors.Is(err, errMissed):
			gap = q.passed // events that the archive does not have now are lost
		case errors.Is(err, fsroom.ErrLifeEnded):
			live = false // its last events may be in the archive by now
		default:
			return err
		}
	}
}

// event prints one event of a stream, if it matches.
func (q *eventQuery) event(e *event.Event) error {
	wanted := q.wants(e)
	if wanted {
		if err := q.writeEvent(e); err != nil {
			return err
		}
		q.shown++
		q.read.Show(e)
	}
	q.passed = e.Seq
	if e.Seq > q.since {
		q.left = q.left || turn.EndsMembership(e, q.room.Self.ID)
		q.closed = q.closed || e.Type == turn.Closed
	}
	if wanted && q.shown == q.limit {
		return member.ErrEnough
	}
	return nil
}

// caughtUp saves the cursors when all events so far are printed. Its error ends the
// stream.
func (q *eventQuery) caughtUp(ctx context.Context) error {
	q.read.Save(ctx)
	if err := q.file.save(q.passed); err != nil {
		return err
	}
	switch {
	case q.closed:
		return fsroom.ErrLifeEnded
	case q.left:
		return errLeft
	case q.wait && q.shown > 0:
		return member.ErrEnough
	}
	return nil
}

// ended returns the word for the reason why a stream has ended, and err if that is an
// error. A stream whose reader has gone ends as with a signal.
func (q *eventQuery) ended(ctx context.Context, err error) (string, error) {
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

// save writes the number of the last event that was printed to the file, if there is one.
func (f *cursorFile) save(seq int64) error {
	if f == nil || f.found && f.seq == seq {
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

// asShown returns an event as results have it.
func (q *eventQuery) asShown(public *event.Event) any {
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
	item := q.asShown(&public)
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
		page.Events = append(page.Events, q.asShown(&events[i]))
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
