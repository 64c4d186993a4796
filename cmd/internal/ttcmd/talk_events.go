package ttcmd

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var eventsCommand = &cli.Command{
	Name:    "events",
	Reads:   true,
	Traits:  cli.Traits{LastKnown: true},
	Args:    []cli.Arg{pathArg},
	Streams: true,
	Flags: func(f *cli.Flags) {
		filterFlags(f, "any; for streams: self")
		f.StringList("event", "TYPE,…", "only these types: "+strings.Join(turn.EventTypes(), ", "))
		f.Choice("severity", "info|page", []string{"", talk.SeverityInfo, talk.SeverityPage},
			"notes only of this severity; other events are not filtered by it")
		f.Word("cursor", "FILE", "start after the number in FILE and keep it there; missing or empty: from now on")
		f.Bool("brief", "only number, type, from, to and a line of text")
		f.Hidden(func(f *cli.Flags) { f.Bool("wait", "end with the first events that match") })
		f.Bool("follow", "print matching events as they come, until stopped")
	},
	Exclusive: [][2]string{{"wait", "follow"}},
	Run:       runEvents,
}

// filterFlags declares the flags of all commands that read events. byDefault says
// what --target is when it is not given.
func filterFlags(f *cli.Flags, byDefault string) {
	f.Int64("after", "N", 0, "only events after this number")
	f.Int64("limit", "N", 0, "at most so many (default 50, most 500; for streams: no limit)")
	f.Word("target", "self|any|AGENT", "whom they concern (default: "+byDefault+")")
	f.Word("from", "AGENT", "only by this agent")
	f.Duration("timeout", "D", 0, "how long --follow goes on")
	session.Flag(f)
}

// An eventsResult is one page of events, as [eventQuery.shown] returns them.
type eventsResult struct {
	Events []any `json:"events"`
	Cursor int64 `json:"cursor_event_seq"` // the last event that was looked at
}

func runEvents(ctx context.Context, c *cli.Invocation) error {
	types, err := eventTypes(c.Strings("event"))
	if err != nil {
		return err
	}
	q := eventQuery{types: types, severity: c.String("severity"), target: "any", cursorFile: c.String("cursor"), brief: c.Bool("brief")}
	return readEvents(ctx, c, &q)
}

// eventTypes returns the types in the values of --event, nil if it was not given.
func eventTypes(given []string) (map[string]bool, error) {
	if len(given) == 0 {
		return nil, nil
	}
	types := make(map[string]bool)
	for _, list := range given {
		for name := range strings.SplitSeq(list, ",") {
			if !turn.KnownEventType(name) {
				hint := "the types are " + strings.Join(turn.EventTypes(), ", ")
				if near := cli.Nearest(name, turn.EventTypes()); len(near) > 0 {
					hint = "did you mean " + near[0] + "? " + hint
				}
				return nil, code.New(code.InvalidEventType, "there is no event type %q", name).WithHint("%s", hint).With("supplied", name)
			}
			types[name] = true
		}
	}
	return types, nil
}

const defaultEvents, mostEvents = 50, 500

// An eventQuery describes the events that a command reads, and how it writes them: as
// one page, or as a stream.
type eventQuery struct {
	types      map[string]bool // nil: all
	severity   string          // of notes; "": all events
	target     string          // the default of --target for a page
	cursorFile string          // the value of --cursor; "": none
	unread     bool            // start with the caller's first unread message
	past       []event.Event   // a stream writes these first
	brief      bool            // events are written short
	lines      bool            // a page is written as a stream
	data       bool            // and as JSON also in text mode

	entry func(*event.Event) error // writes an event of a stream; nil: as it is

	c    *cli.Invocation
	room *member.Room

	wait, follow bool
	limit        int // 0: none
	timed        bool
	timeout      time.Duration // if timed
}

func (q *eventQuery) streams() bool { return q.wait || q.follow }

// readEvents writes the events that the flags and q ask for.
func readEvents(ctx context.Context, c *cli.Invocation, q *eventQuery) error {
	if err := q.readFlags(c); err != nil {
		return err
	}
	room, err := openHistory(c, c.Given("after") || q.cursorFile != "")
	if err != nil {
		return err
	}
	snap, err := room.FS.View()
	if err != nil {
		return err
	}
	q.c, q.room = c, room
	f, err := q.filter(snap.State)
	if err != nil {
		return err
	}
	at, err := q.start(snap.State)
	if err != nil {
		return err
	}
	if q.streams() {
		return q.stream(ctx, f, snap.State, at)
	}
	room.RecordPresence(ctx, snap.State)
	return q.page(ctx, f, snap.State, at)
}

// readFlags reads the flags that all queries share, and refuses combinations that
// contradict each other.
func (q *eventQuery) readFlags(c *cli.Invocation) error {
	q.wait, q.follow = c.Bool("wait"), c.Bool("follow")
	q.timed, q.timeout = c.Given("timeout"), c.Duration("timeout")
	switch {
	case !q.streams() && q.timed:
		return c.Usagef("--timeout goes with --wait or --follow")
	case q.cursorFile != "" && c.Given("after"):
		return c.Usagef("--after and --cursor exclude each other: both say where to start")
	}
	var err error
	if q.streams() {
		q.limit, err = limited(c, 0, math.MaxInt32)
	} else {
		q.limit, err = limited(c, defaultEvents, mostEvents)
	}
	return err
}

// limited returns the value of --limit, or byDefault if it was not given. A value
// above most is reduced to most, with a warning.
func limited(c *cli.Invocation, byDefault, most int64) (int, error) {
	limit := c.Int64("limit")
	switch {
	case !c.Given("limit"):
		limit = byDefault
	case limit < 1:
		return 0, c.Usagef("--limit must be at least 1")
	case limit > most:
		c.Notice(fmt.Sprintf("--limit %d is more than there is at once; it is cut to %d", limit, most))
		limit = most
	}
	return int(limit), nil
}

// A startPoint is the place in the journal where a query starts.
type startPoint struct {
	after int64       // with the event after this number
	given bool        // whether the caller asked for it; otherwise a page has the newest events, and a stream those from now on
	file  *cursorFile // of --cursor, nil without it
}

// start returns where the query starts. A number beyond the last event is refused: it
// belongs to another room or to another copy of this one, and no event would match
// until this room reaches it.
func (q *eventQuery) start(st *turn.State) (startPoint, error) {
	at := startPoint{after: q.c.Int64("after"), given: q.c.Given("after")}
	switch {
	case q.cursorFile != "":
		file, err := openCursorFile(q.c, q.cursorFile)
		if err != nil {
			return at, err
		}
		at.file, at.given = file, true
		if at.after = file.seq; !file.found {
			at.after = st.Seq
		}
	case q.unread && !q.streams() && !at.given:
		// A stream of the same agent may have moved the cursor since st was read.
		at.after, at.given = min(mailbox.Of(q.room).ReadUpTo(st), st.Seq), true
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
func (q *eventQuery) page(ctx context.Context, f filter, st *turn.State, at startPoint) error {
	box := mailbox.Of(q.room)
	events, cursor, err := []event.Event(nil), st.Seq, error(nil)
	if at.given {
		events, cursor, err = q.eventsAfter(ctx, f, at.after)
	} else {
		events, err = q.room.LastEvents(ctx, st, false, q.limit, f.wants)
	}
	if err == nil {
		err = q.writePage(events, cursor)
	}
	if err != nil {
		return err
	}
	if at.file != nil {
		if err := at.file.save(cursor); err != nil {
			return err
		}
	}
	if q.unread {
		read := box.Reader()
		for i := range events {
			read.Show(&events[i])
		}
		read.Save(ctx)
		q.c.Out.Remark(fmt.Sprintf("unread=%d", box.Unread(st).Messages))
	}
	return nil
}

// A filter selects events.
type filter struct {
	types    map[string]bool
	severity string // notes only of this severity; other events pass
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
	return f.severity == "" || e.Type != turn.NoteAdded || talk.Of(e).Urgent == (f.severity == talk.SeverityPage)
}

// filter returns the filter that the flags describe. A name becomes the id of the
// member; the id of an agent that has left stays as it is.
func (q *eventQuery) filter(st *turn.State) (filter, error) {
	c := q.c
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
		f.self = q.room.Self.ID
	default:
		if f.to, err = turn.WhoIs(st, q.room.Facts(st), q.room.Self.ID, target); err != nil {
			return f, err
		}
	}
	if from := c.String("from"); c.Given("from") {
		f.from, err = turn.WhoIs(st, q.room.Facts(st), q.room.Self.ID, from)
	}
	return f, err
}

// eventsAfter returns the first matching events after a number, at most q.limit, and
// the number of the last event that it read.
func (q *eventQuery) eventsAfter(ctx context.Context, f filter, after int64) (events []event.Event, cursor int64, err error) {
	cursor = after
	err = q.room.EachEvent(ctx, after, true, func(e *event.Event) error {
		cursor = e.Seq
		if f.wants(e) {
			events = append(events, e.Clone())
		}
		if len(events) == q.limit {
			return member.ErrEnough
		}
		return nil
	})
	return events, cursor, err
}
