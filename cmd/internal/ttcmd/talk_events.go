package ttcmd

import (
	"context"
	"fmt"
	"math"
	"strings"

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

// An eventsResult is one page of events, as [eventQuery.asShown] returns them.
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
	self       string          // only what concerns this agent; "": this and the two below select nothing
	to, from   string          // only what is addressed to this agent, and only by this one
	target     string          // the default of --target for a page
	cursorFile string          // the value of --cursor; "": none
	unread     bool            // start with the caller's first unread message
	past       []event.Event   // a stream writes these first
	brief      bool            // events are written short
	lines      bool            // a page is written as a stream
	data       bool            // and as JSON also in text mode

	entry func(*event.Event) error // writes an event of a stream; nil: as it is

	c     *cli.Invocation
	room  *member.Room
	limit int         // 0: none
	after int64       // start with the event after this number
	seen  talk.Seen   // messages that it has are not selected
	given bool        // whether the caller asked for that; otherwise a page has the newest events, and a stream those from now on
	file  *cursorFile // of --cursor, nil without it

	wait, follow bool
	read         *mailbox.Reader
	since        int64 // the last event at the start of a stream: only a later event ends it
	passed       int64 // the last event that was printed or did not match
	shown        int   // how many events were printed
	left         bool  // whether one of the events removed the caller from the room
	closed       bool  // whether one of them ended the room
}

func (q *eventQuery) streams() bool { return q.wait || q.follow }

// readEvents writes the events that the flags and q ask for.
func readEvents(ctx context.Context, c *cli.Invocation, q *eventQuery) error {
	q.c, q.wait, q.follow = c, c.Bool("wait"), c.Bool("follow")
	byDefault, most := int64(defaultEvents), int64(mostEvents)
	if q.streams() {
		byDefault, most = 0, math.MaxInt32
	}
	switch {
	case !q.streams() && c.Given("timeout"):
		return c.Usagef("--timeout goes with --wait or --follow")
	case q.cursorFile != "" && c.Given("after"):
		return c.Usagef("--after and --cursor exclude each other: both say where to start")
	}
	var err error
	if q.limit, err = limited(c, byDefault, most); err != nil {
		return err
	}
	if q.room, err = openHistory(c, c.Given("after") || q.cursorFile != ""); err != nil {
		return err
	}
	snap, err := q.room.FS.View()
	if err == nil {
		err = q.aim(snap.State)
	}
	if err == nil {
		err = q.start(snap.State)
	}
	switch {
	case err != nil:
		return err
	case q.streams():
		return q.stream(ctx, snap.State)
	}
	q.room.RecordPresence(ctx, snap.State)
	return q.page(ctx, snap.State)
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

// start says where the query starts. A number beyond the last event is refused: it
// belongs to another room or to another copy of this one, and no event would match
// until this room reaches it.
func (q *eventQuery) start(st *turn.State) (err error) {
	q.after, q.given = q.c.Int64("after"), q.c.Given("after")
	switch {
	case q.cursorFile != "":
		if q.file, err = openCursorFile(q.c, q.cursorFile); err != nil {
			return err
		}
		q.given = true
		if q.after = q.file.seq; !q.file.found {
			q.after = st.Seq
		}
	case q.unread && !q.streams() && !q.given:
		// A stream of the same agent may have moved the cursor since st was read.
		q.seen = mailbox.Of(q.room).Read(st)
		q.after, q.given = min(q.seen.EventSeq, st.Seq), true
	case !q.given:
		q.after = st.Seq
	}
	e := code.New(code.InvalidCursor, "there is no event %d: the last one is %d", q.after, st.Seq)
	switch {
	case q.after < 0:
		e = code.New(code.InvalidCursor, "an event's number is not negative: %d", q.after)
	case q.after <= st.Seq:
		return nil
	}
	return e.WithHint("start without a cursor, or with the last number that came from this room").
		With("supplied", q.after).With("last_event_seq", st.Seq)
}

// page writes one page of events, and moves the cursors behind it.
func (q *eventQuery) page(ctx context.Context, st *turn.State) (err error) {
	var events []event.Event
	cursor := st.Seq
	if q.given {
		cursor = q.after
		err = q.room.EachEvent(ctx, q.after, true, func(e *event.Event) error {
			cursor = e.Seq
			if q.wants(e) {
				events = append(events, e.Clone())
			}
			if len(events) == q.limit {
				return member.ErrEnough
			}
			return nil
		})
	} else {
		events, err = q.room.LastEvents(ctx, st, false, q.limit, q.wants)
	}
	if err == nil {
		err = q.writePage(events, cursor)
	}
	if err == nil {
		err = q.file.save(cursor)
	}
	if err == nil && q.unread {
		box := mailbox.Of(q.room)
		read := box.Reader()
		for i := range events {
			read.Show(&events[i])
		}
		read.Save(ctx)
		q.c.Out.Remark(fmt.Sprintf("unread=%d", box.Unread(st).Messages))
	}
	return err
}

// wants reports whether the query selects the event.
func (q *eventQuery) wants(e *event.Event) bool {
	switch {
	case q.types != nil && !q.types[e.Type], q.from != "" && e.From != q.from, q.to != "" && e.To != q.to,
		q.self != "" && !turn.Concerns(e, q.self), q.seen.Has(talk.KindMessage, e.Seq):
		return false
	}
	return q.severity == "" || e.Type != turn.NoteAdded || talk.Of(e).Urgent == (q.severity == talk.SeverityPage)
}

// aim selects events by whom they concern and by whom they are, as the flags say. A name becomes the id of the
// member; the id of an agent that has left stays as it is.
func (q *eventQuery) aim(st *turn.State) (err error) {
	target := q.c.String("target")
	switch {
	case target != "":
	case q.streams():
		target = "self"
	default:
		target = q.target
	}
	switch target {
	case "any":
	case "self":
		q.self = q.room.Self.ID
	default:
		q.to, err = turn.WhoIs(st, q.room.Facts(st), q.room.Self.ID, target)
	}
	if from := q.c.String("from"); err == nil && from != "" {
		q.from, err = turn.WhoIs(st, q.room.Facts(st), q.room.Self.ID, from)
	}
	return err
}
