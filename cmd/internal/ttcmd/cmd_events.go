package ttcmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

const (
	defaultEvents = 50
	mostEvents    = 500
)

var eventsCommand = &cli.Command{
	Name:    "events",
	Group:   groupLook,
	Args:    []cli.Arg{pathArg()},
	Short:   "show what happened in the room, or follow it",
	Streams: true,
	Long: "Without --wait or --follow, shows the newest events, oldest first; with --after, those that came next, also of earlier lives " +
		"of the room, which are read from the archive. The cursor in the result is what to give to --after to go on.\n\n" +
		"With --wait or --follow, prints a line per event from now on (or from --after) and is woken by each: --wait ends with the " +
		"first that match, --follow goes on until it is stopped, the room ends, or the caller leaves it. The last line on standard error " +
		"is the cursor and why the stream ended. Watching does not count as presence.",
	Examples: []cli.Example{
		{Line: "tt events --event message_sent,note_added --limit 10"},
		{Line: "tt events --follow --cursor .cursor", What: "from where the last one stopped"},
		{Line: "tt events --follow --event note_added --severity page", What: "only the notes that should be read at once"},
	},
	Flags: func(f *cli.Flags) {
		filterFlags(f, "any; for streams: self")
		f.StringList("event", "TYPE,…", "only these types: "+strings.Join(turn.EventTypes(), ", "))
		f.Choice("severity", "info|page", []string{"", turn.SeverityInfo, turn.SeverityPage}, "only notes of this severity")
		f.String("cursor", "FILE", "start after the number in FILE and keep it there; missing or empty: from now on")
		f.Bool("brief", "only number, type, from, to and a line of text")
		f.Bool("wait", "wait for the next matching events, print them, and end")
		f.Bool("follow", "print matching events as they come, until stopped")
	},
	Errors: []code.Code{code.RoomNotFound, code.InvalidEventType, code.InvalidCursor, code.UnknownRecipient, code.AmbiguousRecipient},
	Run:    runEvents,
}

// filterFlags are shared by everything that reads events. byDefault says what
// --target is when it is not given.
func filterFlags(f *cli.Flags, byDefault string) {
	f.Int64("after", "N", 0, "only events after this number")
	f.Int64("limit", "N", 0, "at most so many (default 50, most 500; for streams: no limit)")
	f.String("target", "self|any|AGENT", "whom they concern (default: "+byDefault+")")
	f.String("from", "AGENT", "only by this agent")
	f.Duration("timeout", "D", 0, "how long --wait waits (default: the room's limit, 110s); ends --follow too")
	pathFlag(f)
}

// An eventsResult is one page of events.
type eventsResult struct {
	Events []event.Event
	Cursor int64 // the last event that was looked at
}

func runEvents(ctx context.Context, c *cli.Invocation) error {
	types, err := eventTypes(c.Strings("event"))
	if err != nil {
		return err
	}
	return readEvents(ctx, c, reading{
		types: types, severity: c.String("severity"), target: "any", brief: c.Bool("brief"), cursorFile: c.String("cursor"),
	})
}

func eventTypes(given []string) (map[string]bool, error) {
	if len(given) == 0 {
		return nil, nil
	}
	types := make(map[string]bool)
	for _, list := range given {
		for name := range strings.SplitSeq(list, ",") {
			if !turn.KnownEventType(name) {
				return nil, code.New(code.InvalidEventType, "there is no event type %q", name).
					WithHint("the types are %s", strings.Join(turn.EventTypes(), ", ")).With("supplied", name)
			}
			types[name] = true
		}
	}
	return types, nil
}

// A reading is one way to read events.
type reading struct {
	types      map[string]bool // nil: all
	severity   string          // of notes; "": all events
	target     string          // when --target is not given and it is no stream
	brief      bool
	cursorFile string        // "": none
	log        *logBook      // it is tt log; nil: it is not
	past       []event.Event // of tt log: printed first
	messages   bool          // it is msg recv: starts at what is unread, and prints lines also when it is no stream

	wait, follow bool
	limit        int // 0: none
	timed        bool
	timeout      time.Duration // if timed
}

func (r *reading) streams() bool { return r.wait || r.follow }

func readEvents(ctx context.Context, c *cli.Invocation, r reading) error {
	if err := r.check(c); err != nil {
		return err
	}
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	s, err := d.reader(c.Given("after") || r.cursorFile != "")
	if err != nil {
		return err
	}
	snap, err := s.view()
	if err != nil {
		return err
	}
	f, err := s.filter(c, &r, snap.State)
	if err != nil {
		return err
	}
	at, err := s.beginning(ctx, &r, snap.State)
	if err != nil {
		return err
	}
	if r.streams() {
		return s.stream(ctx, &r, f, snap.State, at)
	}
	s.present(ctx, snap.State)
	return s.page(ctx, &r, f, snap.State, at)
}

// check reads the flags that all readings share, and refuses combinations that
// make no sense.
func (r *reading) check(c *cli.Invocation) error {
	r.wait, r.follow = c.Bool("wait"), c.Bool("follow")
	r.timed, r.timeout = c.Given("timeout"), c.Duration("timeout")
	r.limit = int(min(c.Int64("limit"), math.MaxInt32))
	switch {
	case r.wait && r.follow:
		return c.Usagef("--wait and --follow exclude each other")
	case !r.streams() && r.timed:
		return c.Usagef("--timeout goes with --wait or --follow")
	case r.cursorFile == "" && !r.messages && c.Given("cursor"):
		return c.Usagef("--cursor needs the name of a file")
	case r.cursorFile != "" && c.Given("after"):
		return c.Usagef("--after and --cursor exclude each other: both say where to start")
	case c.Given("limit") && r.limit < 1:
		return c.Usagef("--limit must be at least 1")
	}
	if !r.streams() {
		r.limit = limited(c, defaultEvents, mostEvents)
	}
	return nil
}

// limited returns the value of --limit, byDefault where it was not given. More
// than most is cut to most, with a warning.
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

// A beginning says where a reading begins.
type beginning struct {
	after int64 // the events after this number
	given bool  // false: the newest ones, or for a stream those from now on
	file  *cursorFile
}

// beginning finds out where to begin. A number beyond the last event is refused: it
// belongs to another room or another copy of this one, and nothing would be shown
// until this one has come so far.
func (s *seat) beginning(ctx context.Context, r *reading, st *turn.State) (beginning, error) {
	c := s.call
	at := beginning{after: c.Int64("after"), given: c.Given("after")}
	switch {
	case r.cursorFile != "":
		file, err := openCursorFile(c, r.cursorFile)
		if err != nil {
			return at, err
		}
		at.file, at.given = file, true
		if at.after = file.seq; !file.found {
			at.after = st.Seq
		}
	case r.messages && !r.streams() && !at.given:
		unread, err := s.cursorIn(ctx, st)
		// A stream of the same agent may have shown more since st was read.
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

// page prints one page of events.
func (s *seat) page(ctx context.Context, r *reading, f filter, st *turn.State, at beginning) error {
	mail, err := s.mailbox(ctx, st, at.after)
	if err != nil {
		return err
	}
	var res eventsResult
	if at.given {
		res, err = s.following(ctx, f, mail, at.after, r.limit)
	} else {
		res, err = s.newest(ctx, f, st, r.limit)
	}
	if err == nil {
		err = s.showPage(r, &res)
	}
	if err != nil {
		return err
	}
	if at.file != nil {
		if err := at.file.save(res.Cursor); err != nil {
			return err
		}
	}
	if r.messages {
		mail.save()
		s.call.Out.Remark(fmt.Sprintf("unread=%d", mail.unread(st)))
	}
	return nil
}

func (s *seat) showPage(r *reading, page *eventsResult) error {
	out := s.call.Out
	if r.messages {
		for i := range page.Events {
			if err := s.show(r, &page.Events[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if r.brief {
		brief := &briefResult{make([]briefEvent, 0, len(page.Events)), page.Cursor}
		for i := range page.Events {
			brief.Events = append(brief.Events, shorten(&page.Events[i]))
		}
		return out.Result(brief, func(t *cli.Text) { writeBrief(t, brief.Events) })
	}
	return out.Result(page, func(t *cli.Text) { writeEvents(t, page.Events) })
}

func (s *seat) showEntry(e *logEntry) error {
	if e == nil {
		return nil
	}
	return s.call.Out.WriteLine(e, func(t *cli.Text) { writeEntry(t, e, "begins", logWidth(s.call, t)) })
}

// show prints one event of a stream.
func (s *seat) show(r *reading, e *event.Event) error {
	if r.log != nil {
		ended, made := r.log.add(e)
		return errors.Join(s.showEntry(ended), s.showEntry(made))
	}
	public := turn.Public(*e)
	if r.brief {
		brief := shorten(&public)
		return s.call.Out.WriteLine(&brief, func(t *cli.Text) { writeBrief(t, []briefEvent{brief}) })
	}
	text := func(t *cli.Text) { writeEventLine(t, &public) }
	if r.messages && !s.call.Given("text") && !s.call.Env.StdoutTTY {
		text = nil
	}
	return s.call.Out.WriteLine(&public, text)
}
