package ttcmd

import (
	"context"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

var eventsCommand = &cli.Command{
	Name:    "events",
	Traits:  cli.Traits{LastKnown: true},
	Args:    []cli.Arg{pathArg},
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
		f.Choice("severity", "info|page", []string{"", turn.SeverityInfo, turn.SeverityPage},
			"notes only of this severity; other events are not filtered by it")
		f.String("cursor", "FILE", "start after the number in FILE and keep it there; missing or empty: from now on")
		f.Bool("brief", "only number, type, from, to and a line of text")
		f.Bool("wait", "wait for the next matching events, print them, and end")
		f.Bool("follow", "print matching events as they come, until stopped")
	},
	Errors:    []code.Code{code.RoomNotFound, code.InvalidEventType, code.InvalidCursor, code.UnknownRecipient, code.AmbiguousRecipient},
	Exclusive: [][2]string{{"wait", "follow"}},
	Run:       runEvents,
}

// filterFlags declares the flags of all commands that read events. byDefault says
// what --target is when it is not given.
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

// Fields implements [wire.Fields].
func (r *eventsResult) Fields(c *wire.Codec) {
	wire.List(c, "events", &r.Events)
	c.Int("cursor_event_seq", &r.Cursor)
}

func runEvents(ctx context.Context, c *cli.Invocation) error {
	types, err := eventTypes(c.Strings("event"))
	if err != nil {
		return err
	}
	q := eventQuery{types: types, severity: c.String("severity"), target: "any", cursorFile: c.String("cursor")}
	q.writeEvent, q.writePage = writeEvent, writePage
	if c.Bool("brief") {
		q.writeEvent, q.writePage = writeBriefEvent, writeBriefPage
	}
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
