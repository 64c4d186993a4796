package ttcmd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var logCommand = &cli.Command{
	Name:    "log",
	Reads:   true,
	Args:    []cli.Arg{pathArg},
	Short:   "the room's history as people read it",
	Streams: true,
	Long: "Turns with who held them, for how long and what they handed over; takeovers with their reasons; messages, questions " +
		"and notes in between. Long texts are cut to the width of the terminal; --json has them whole. What is left out is said at " +
		"the top. A room that has ended is read from the archive; --archive adds the earlier lives of one that has not. " +
		"tt events --follow goes on with what happens.",
	Examples: []cli.Example{{Line: "tt log --since 2h"}},
	Flags: func(f *cli.Flags) {
		f.Duration("since", "D", 0, "only what happened in this time")
		f.Int64("limit", "N", 0, "at most so many events, the newest (default 100, with --since and at most 10000)")
		f.Bool("archive", "the earlier lives of the room too")
		f.Hidden(func(f *cli.Flags) { f.Bool("follow", "go on with what happens, an entry at a time") }) // as events --follow
		freshFlag(f)
		pathFlag(f)
	},
	Errors: []code.Code{code.RoomNotFound},
	Run:    runLog,
}

const (
	defaultLog    = 100
	defaultFollow = 10
	mostLog       = 10_000
)

// A logResult is a part of a room's history.
type logResult struct {
	Entries []turn.LogEntry `json:"entries"`
	Omitted int64           `json:"omitted_events"` // older ones of the same life, or of all with --archive
	Earlier bool            `json:"earlier_lives"`  // whether --archive has more
	held    turn.Fence      // the turn in progress
	lastKnown
}

func runLog(ctx context.Context, c *cli.Invocation) error {
	limit, err := logLimit(c)
	if err != nil {
		return err
	}
	room, err := openHistory(c, !c.Bool("follow"))
	if err != nil {
		return err
	}
	snap, err := view(ctx, c, room)
	if err != nil {
		return err
	}
	events, res, err := logEvents(ctx, c, room, snap.State, limit)
	if err != nil {
		return err
	}
	if c.Bool("follow") {
		return followLog(ctx, c, room, snap.State, events)
	}
	room.RecordPresence(ctx, snap.State)
	asked, err := questions.Of(room).QuestionLog(ctx, logSince(c, events), limit)
	if err != nil {
		return err
	}
	res.Entries = questions.MergeLog(turn.LogEntries(events), asked)
	res.lastKnown = knownOf(c, room)
	return c.Out.Result(res, func(t *cli.Text) { writeLog(t, res) })
}

// logSince returns the time from which on the log shows questions: that of --since, else
// that of the oldest event that it shows.
func logSince(c *cli.Invocation, events []event.Event) time.Time {
	switch {
	case c.Given("since"):
		return time.Now().Add(-c.Duration("since"))
	case len(events) > 0:
		return events[0].CreatedAt.Time
	}
	return time.Now()
}

// logLimit returns how many events the log shows at most.
func logLimit(c *cli.Invocation) (int, error) {
	switch {
	case c.Given("since"):
		return limited(c, mostLog, mostLog)
	case c.Bool("follow"):
		return limited(c, defaultFollow, mostLog)
	}
	return limited(c, defaultLog, mostLog)
}

// logEvents returns the events that the flags ask for, and a result without entries
// that says what is left out.
func logEvents(ctx context.Context, c *cli.Invocation, room *member.Room, st *turn.State, limit int) ([]event.Event, logResult, error) {
	allLives := c.Bool("archive") || !st.Open
	events, err := room.LastEvents(ctx, st, allLives, limit, func(*event.Event) bool { return true })
	if err != nil {
		return nil, logResult{}, err
	}
	cut := len(events) == limit
	if c.Given("since") {
		from := time.Now().Add(-c.Duration("since"))
		kept := slices.IndexFunc(events, func(e event.Event) bool { return !e.CreatedAt.Before(from) })
		if kept < 0 {
			kept = len(events)
		}
		cut = cut && kept == 0
		events = events[kept:]
	}
	archived, err := room.FS.Archived()
	if err != nil {
		return nil, logResult{}, err
	}
	res := logResult{Earlier: !allLives && len(archived) > 0, held: st.Fence()}
	grant, err := grantOfFirst(ctx, room, st, events)
	if err == nil && cut {
		res.Omitted, err = countBefore(ctx, room, events[0].Seq, allLives)
	}
	if len(grant) > 0 {
		events = append(grant, events...)
		res.Omitted = max(0, res.Omitted-1)
	}
	return events, res, err
}

// grantOfFirst returns the grant of the turn in which the events begin, so that the
// log shows it with its end; none if they begin outside of a turn.
func grantOfFirst(ctx context.Context, room *member.Room, st *turn.State, events []event.Event) ([]event.Event, error) {
	turnID := int64(0)
	if st.Owner != "" {
		turnID = st.Turn
	}
	for i := range events {
		switch e := &events[i]; e.Type {
		case turn.Claim, turn.Takeover, turn.RoomOpened:
			return nil, nil
		case turn.Released, turn.Passed:
			turnID = e.Turn
		default:
			continue
		}
		break
	}
	if turnID == 0 || len(events) == 0 {
		return nil, nil
	}
	return room.LastEvents(ctx, st, true, 1, func(e *event.Event) bool {
		return e.Seq < events[0].Seq && e.Turn == turnID && (e.Type == turn.Claim || e.Type == turn.Takeover)
	})
}

// countBefore returns how many events lie before the one with the number. Numbers
// have no gaps.
func countBefore(ctx context.Context, room *member.Room, seq int64, allLives bool) (int64, error) {
	first := seq
	err := room.EachEvent(ctx, 0, allLives, func(e *event.Event) error {
		first = e.Seq
		return member.ErrEnough
	})
	return seq - first, err
}

// followLog prints the history in events, and then new entries as they come.
func followLog(ctx context.Context, c *cli.Invocation, room *member.Room, st *turn.State, events []event.Event) error {
	var book turn.LogBook
	q := &eventQuery{c: c, room: room, follow: true, past: events, entry: func(e *event.Event) error {
		ended, made := book.Add(e)
		return errors.Join(writeEntryLine(c, ended), writeEntryLine(c, made))
	}}
	return q.stream(ctx, filter{}, st, startPoint{after: st.Seq})
}

// writeEntryLine writes an entry of the log as a line of a stream, nothing for nil.
func writeEntryLine(c *cli.Invocation, e *turn.LogEntry) error {
	if e == nil {
		return nil
	}
	return c.Out.WriteLine(e, func(t *cli.Text) { writeEntry(t, e, "begins") })
}
