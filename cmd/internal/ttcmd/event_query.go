package ttcmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

const (
	defaultEvents = 50
	mostEvents    = 500
)

// An eventQuery says which events a command reads, and how it writes them: as one
// page, or as a stream.
type eventQuery struct {
	types      map[string]bool // nil: all
	severity   string          // of notes; "": all events
	target     string          // the default of --target for a page
	cursorFile string          // the value of --cursor; "": none
	unread     bool            // start with the caller's first unread message
	past       []event.Event   // a stream writes these first

	writeEvent func(*cli.Output, *event.Event) error  // writes an event of a stream
	writePage  func(*cli.Output, *eventsResult) error // writes a page; nil: as a stream

	wait, follow bool
	limit        int // 0: none
	timed        bool
	timeout      time.Duration // if timed
}

func (q *eventQuery) streams() bool { return q.wait || q.follow }

// readEvents reads the flags of a command and does what they ask for.
func readEvents(ctx context.Context, c *cli.Invocation, q *eventQuery) error {
	if err := q.readFlags(c); err != nil {
		return err
	}
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	s, err := d.reader(c.Given("after") || q.cursorFile != "")
	if err != nil {
		return err
	}
	snap, err := s.view()
	if err != nil {
		return err
	}
	f, err := s.filter(q, snap.State)
	if err != nil {
		return err
	}
	at, err := s.start(ctx, q, snap.State)
	if err != nil {
		return err
	}
	if q.streams() {
		return s.stream(ctx, q, f, snap.State, at)
	}
	s.present(ctx, snap.State)
	return s.page(ctx, q, f, snap.State, at)
}

// readFlags reads the flags that all queries share, and refuses combinations that
// contradict each other.
func (q *eventQuery) readFlags(c *cli.Invocation) error {
	q.wait, q.follow = c.Bool("wait"), c.Bool("follow")
	q.timed, q.timeout = c.Given("timeout"), c.Duration("timeout")
	q.limit = int(min(c.Int64("limit"), math.MaxInt32))
	switch {
	case !q.streams() && q.timed:
		return c.Usagef("--timeout goes with --wait or --follow")
	case q.cursorFile == "" && !q.unread && c.Given("cursor"):
		return c.Usagef("--cursor needs the name of a file")
	case q.cursorFile != "" && c.Given("after"):
		return c.Usagef("--after and --cursor exclude each other: both say where to start")
	case c.Given("limit") && q.limit < 1:
		return c.Usagef("--limit must be at least 1")
	}
	if !q.streams() {
		q.limit = limited(c, defaultEvents, mostEvents)
	}
	return nil
}

// limited returns the value of --limit, or byDefault if it was not given. A value
// above most is reduced to most, with a warning.
func limited(c *cli.Invocation, byDefault, most int64) int {
	limit := c.Int64("limit")
	switch {
	case !c.Given("limit"):
		limit = byDefault
	case limit > most:
		c.Notice(fmt.Sprintf("--limit %d is more than there is at once; it is cut to %d", limit, most))
		limit = most
	}
	return int(limit)
}

// A startPoint says where a query starts.
type startPoint struct {
	after int64       // with the event after this number
	given bool        // whether the caller asked for it; otherwise a page has the newest events, and a stream those from now on
	file  *cursorFile // of --cursor, nil without it
}

// start returns where the query starts. A number beyond the last event is refused: it
// belongs to another room or to another copy of this one, and no event would match
// until this room reaches it.
func (s *seat) start(ctx context.Context, q *eventQuery, st *turn.State) (startPoint, error) {
	c := s.call
	at := startPoint{after: c.Int64("after"), given: c.Given("after")}
	switch {
	case q.cursorFile != "":
		file, err := openCursorFile(c, q.cursorFile)
		if err != nil {
			return at, err
		}
		at.file, at.given = file, true
		if at.after = file.seq; !file.found {
			at.after = st.Seq
		}
	case q.unread && !q.streams() && !at.given:
		unread, err := s.cursorIn(ctx, st)
		// A stream of the same agent may have moved the cursor since st was read.
		at.after, at.given = min(unread.Seq, st.Seq), true
		if err != nil {
			return at, err
		}
	case !at.given:
		at.after = st.Seq
	}
	if at.after < 0 || at.after > st.Seq {
		err := code.New(code.InvalidCursor, "there is no event %d: the last one is %d", at.after, st.Seq)
		if at.after < 0 {
			err = code.New(code.InvalidCursor, "an event's number is not negative: %d", at.after)
		}
		return at, err.WithHint("start without a cursor, or with the last number that came from this room").
			With("supplied", at.after).With("last_event_seq", st.Seq)
	}
	return at, nil
}

// page writes one page of events, and moves the cursors behind it.
func (s *seat) page(ctx context.Context, q *eventQuery, f filter, st *turn.State, at startPoint) error {
	mail, err := s.mailbox(ctx, st, at.after)
	if err != nil {
		return err
	}
	var page eventsResult
	if at.given {
		page, err = s.eventsAfter(ctx, f, mail, at.after, q.limit)
	} else {
		page, err = s.newestEvents(ctx, f, st, q.limit)
	}
	if err != nil {
		return err
	}
	if err := q.write(s.call.Out, &page); err != nil {
		return err
	}
	if at.file != nil {
		if err := at.file.save(page.Cursor); err != nil {
			return err
		}
	}
	if q.unread {
		mail.save()
		s.call.Out.Remark(fmt.Sprintf("unread=%d", mail.unread(st)))
	}
	return nil
}

func (q *eventQuery) write(out *cli.Output, page *eventsResult) error {
	if q.writePage != nil {
		return q.writePage(out, page)
	}
	for i := range page.Events {
		if err := q.writeEvent(out, &page.Events[i]); err != nil {
			return err
		}
	}
	return nil
}

// A filter says which events a reader wants.
type filter struct {
	types    map[string]bool
	severity string // only notes of this severity
	self     string // only what concerns this agent
	to       string // only what is addressed to this agent
	from     string // only by this agent
}

func (f filter) wants(e *event.Event) bool {
	switch {
	case f.types != nil && !f.types[e.Type]:
		return false
	case f.from != "" && e.From != f.from:
		return false
	case f.to != "" && e.To != f.to:
		return false
	case f.self != "" && !turn.Concerns(e, f.self):
		return false
	}
	return f.severity == "" || turn.SeverityOf(e) == f.severity
}

// filter returns the filter that the flags describe. A name becomes the id of the
// member; the id of an agent that has left stays as it is.
func (s *seat) filter(q *eventQuery, st *turn.State) (filter, error) {
	c := s.call
	f := filter{types: q.types, severity: q.severity}
	target := c.String("target")
	if !c.Given("target") {
		target = q.target
		if q.streams() {
			target = "self"
		}
	}
	var err error
	switch target {
	case "any":
	case "self":
		f.self = s.me.ID
	default:
		if f.to, err = turn.WhoIs(st, s.facts(st), s.me.ID, target); err != nil {
			return f, err
		}
	}
	if from := c.String("from"); c.Given("from") {
		f.from, err = turn.WhoIs(st, s.facts(st), s.me.ID, from)
	}
	return f, err
}

// errEnough ends the reading of a journal before its end.
var errEnough = errors.New("enough")

// eventsAfter returns the first matching events after a number, at most limit, and
// the number of the last event that it read. mail counts what it returns as shown.
func (s *seat) eventsAfter(ctx context.Context, f filter, mail *mailbox, after int64, limit int) (eventsResult, error) {
	res := eventsResult{Events: make([]event.Event, 0), Cursor: after}
	_, err := s.room.History(ctx, after, func(e *event.Event) error {
		wanted := f.wants(e)
		mail.pass(e, wanted)
		res.Cursor = e.Seq
		if wanted {
			res.Events = append(res.Events, turn.Public(e.Clone()))
		}
		if len(res.Events) == limit {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return res, err
}

// newestEvents returns the last matching events of the room's life.
func (s *seat) newestEvents(ctx context.Context, f filter, st *turn.State, limit int) (eventsResult, error) {
	events, err := s.lastEvents(ctx, st, false, limit, f.wants)
	for i := range events {
		events[i] = turn.Public(events[i])
	}
	return eventsResult{Events: events, Cursor: st.Seq}, err
}

// lastEvents returns the last count events that wants accepts, oldest first: of the
// room's life, or of all its lives. Events after those that st covers do not count.
// It reads the end of the journal, and a longer part only if that has too few.
func (s *seat) lastEvents(ctx context.Context, st *turn.State, allLives bool, count int, wants func(*event.Event) bool) ([]event.Event, error) {
	for window := int64(count); ; window *= 8 {
		after := max(0, st.Seq-window)
		events := make([]event.Event, 0)
		first := int64(0)
		each := func(e *event.Event) error {
			if first == 0 {
				first = e.Seq
			}
			if e.Seq <= st.Seq && wants(e) {
				events = append(events, e.Clone())
			}
			return nil
		}
		var err error
		if allLives {
			_, err = s.room.History(ctx, after, each)
		} else {
			_, err = s.room.Events(ctx, after, each)
		}
		if err != nil {
			return nil, err
		}
		if len(events) >= count || after == 0 || first > after+1 {
			return events[max(0, len(events)-count):], nil
		}
	}
}

// reader returns the caller's place in the room of the path as seat does. With
// past, it can also be a room that has ended, whose events are in the archive.
func (d *desk) reader(past bool) (*seat, error) {
	w, missing := d.workspace()
	s, err := d.seatIn(w, missing)
	if err == nil || !past || w == nil {
		return s, err
	}
	for _, dir := range w.Chain() {
		ended := &seat{desk: d, room: fsroom.At(d.store, rules, fsroom.RoomName(dir)), workspace: w}
		snap, viewErr := ended.room.View()
		if viewErr == nil && snap.State.Seq > 0 {
			ended.first = snap
			d.call.Warn("the room at %s has ended; this is its history", dir)
			return ended, nil
		}
	}
	return nil, err
}
