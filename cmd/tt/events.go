package main

import (
	"context"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
)

const (
	defaultEvents = 50
	mostEvents    = 500
)

var eventsCommand = &front.Command{
	Name:  "events",
	Group: groupLook,
	Args:  []front.Arg{pathArg()},
	Short: "show what happened in the room, or follow it",
	Long: "Without --wait or --follow, shows the newest events, oldest first; with --after, those that came next. " +
		"The cursor in the result is what to give to --after to go on.\n\n" +
		"With --wait or --follow, prints a line of JSON per event from now on (or from --after) and is woken by each: --wait ends with the " +
		"first that match, --follow goes on until it is stopped. The cursor is then printed on standard error. Watching does not count as presence.",
	Examples: []front.Example{
		{Line: "tt events --event message_sent,note_added --limit 10"},
		{Line: "tt events --follow --after 42", What: "from event 43 on, for ever"},
	},
	Flags: func(f *front.Flags) {
		filterFlags(f)
		f.StringList("event", "TYPE,…", "only these types: "+strings.Join(turn.EventTypes(), ", "))
		f.Bool("wait", "wait for the next matching events, print them, and end")
		f.Bool("follow", "print matching events as they come, until stopped")
	},
	Errors: []code.Code{code.RoomNotFound, code.InvalidEventType, code.InvalidCursor, code.UnknownRecipient, code.AmbiguousRecipient},
	Run:    runEvents,
}

// filterFlags are shared by everything that reads events.
func filterFlags(f *front.Flags) {
	f.Int64("after", "N", 0, "only events after this number")
	f.Int64("limit", "N", 0, "at most so many (default 50, most 500)")
	f.String("target", "self|any|AGENT", "whom they concern (default: any; for streams: self)")
	f.String("from", "AGENT", "only by this agent")
	f.Duration("timeout", "D", 0, "how long --wait waits (default: the room's limit, 110s); ends --follow too")
	pathFlag(f)
}

// An eventsResult is one page of events.
type eventsResult struct {
	Events []journal.Event
	Cursor int64
}

func runEvents(ctx context.Context, c *front.Call) error {
	types, err := eventTypes(c.Strings("event"))
	if err != nil {
		return err
	}
	return readEvents(ctx, c, reading{types: types, wait: c.Bool("wait"), follow: c.Bool("follow"), target: "any"})
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
	types        map[string]bool // nil: all
	wait, follow bool
	target       string // when --target is not given and it is no stream
	lines        bool   // JSON Lines also when it is no stream
	receives     bool   // what is shown counts as read
}

func (r reading) streams() bool { return r.wait || r.follow }

func readEvents(ctx context.Context, c *front.Call, r reading) error {
	limit, err := r.check(c)
	if err != nil {
		return err
	}
	s, err := openSeat(c)
	if err != nil {
		return err
	}
	snap, err := s.view()
	if err != nil {
		return err
	}
	f, err := s.filter(c, r, snap.State)
	if err != nil {
		return err
	}
	if r.streams() {
		return s.stream(ctx, c, r, f, snap.State, limit)
	}
	s.present(ctx, snap.State)
	page, err := s.page(ctx, c, f, snap.State, limit)
	if err != nil {
		return err
	}
	if err := s.showPage(c, r, page); err != nil || !r.receives {
		return err
	}
	s.readPage(ctx, snap.State, f, page.Events)
	return nil
}

// check refuses combinations that make no sense and returns the limit.
func (r reading) check(c *front.Call) (int, error) {
	limit := int(c.Int64("limit"))
	switch {
	case r.wait && r.follow:
		return 0, c.Usagef("--wait and --follow exclude each other")
	case !r.streams() && c.Given("timeout"):
		return 0, c.Usagef("--timeout goes with --wait or --follow")
	case c.Given("after") && c.Int64("after") < 0:
		return 0, code.New(code.InvalidCursor, "--after must not be negative").With("supplied", c.Int64("after"))
	case c.Given("limit") && c.Int64("limit") < 1:
		return 0, c.Usagef("--limit must be at least 1")
	case c.Int64("limit") > mostEvents && !r.streams():
		limit = mostEvents
	case !c.Given("limit") && !r.streams():
		limit = defaultEvents
	}
	return limit, nil
}

func (s *seat) showPage(c *front.Call, r reading, page eventsResult) error {
	if r.lines {
		for i := range page.Events {
			if err := c.Out.Item(&page.Events[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return c.Out.Result(&page, func(t *front.Text) { writeEvents(t, page.Events) })
}
