package ttcmd

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var logCommand = &cli.Command{
	Name:    "log",
	Group:   groupLook,
	Args:    []cli.Arg{pathArg()},
	Short:   "the room's history as people read it",
	Streams: true,
	Long: "Turns with who held them, for how long and what they handed over; takeovers with their reasons; messages and notes in " +
		"between. Long texts are cut to the width of the terminal; --json has them whole. What is left out is said at the top. " +
		"A room that has ended is read from the archive; --archive adds the earlier lives of one that has not.\n\n" +
		"--follow goes on with what happens, an entry at a time: a turn when it begins, and again when it ends. It ends as " +
		"tt events --follow does.",
	Examples: []cli.Example{{Line: "tt log --since 2h"}, {Line: "tt log --follow", What: "watch the room"}},
	Flags: func(f *cli.Flags) {
		f.Duration("since", "D", 0, "only what happened in this time")
		f.Int64("limit", "N", 0, "at most so many events, the newest (default 100, with --since and at most 10000, with --follow 10)")
		f.Bool("archive", "the earlier lives of the room too")
		f.Bool("follow", "go on with what happens, until stopped")
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

// A logResult is a piece of a room's history.
type logResult struct {
	Entries []logEntry `json:"entries"`
	Omitted int64      `json:"omitted_events"` // older ones of the same life, or of all with --archive
	Earlier bool       `json:"earlier_lives"`  // whether --archive has more
}

func runLog(ctx context.Context, c *cli.Invocation) error {
	if c.Given("limit") && c.Int64("limit") < 1 {
		return c.Usagef("--limit must be at least 1")
	}
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	s, err := d.reader(!c.Bool("follow"))
	if err != nil {
		return err
	}
	snap, err := s.view()
	if err != nil {
		return err
	}
	events, res, err := s.logEvents(ctx, snap.State)
	if err != nil {
		return err
	}
	if c.Bool("follow") {
		return s.followLog(ctx, snap.State, events)
	}
	s.present(ctx, snap.State)
	res.Entries = history(events)
	return c.Out.Result(res, func(t *cli.Text) { writeLog(t, res, logWidth(c, t)) })
}

// logWidth is the width that lines of the log are cut to, 0 where there is no
// terminal to cut them for.
func logWidth(c *cli.Invocation, t *cli.Text) int {
	if !c.Env.StdoutTTY {
		return 0
	}
	return t.Width
}

// logEvents returns the events that the flags ask for, and what they leave out.
func (s *seat) logEvents(ctx context.Context, st *turn.State) ([]event.Event, logResult, error) {
	c := s.call
	byDefault := int64(defaultLog)
	switch {
	case c.Given("since"):
		byDefault = mostLog
	case c.Bool("follow"):
		byDefault = defaultFollow
	}
	limit := limited(c, byDefault, mostLog)
	allLives := c.Bool("archive") || !st.Open
	events, err := s.lastEvents(ctx, st, allLives, limit, func(*event.Event) bool { return true })
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
	archived, err := s.room.Archived()
	if err != nil {
		return nil, logResult{}, err
	}
	res := logResult{Earlier: !allLives && len(archived) > 0}
	grant, err := s.grantOfFirst(ctx, st, events)
	if err == nil && cut {
		res.Omitted, err = s.before(ctx, events[0].Seq, allLives)
	}
	if grant != nil {
		events = slices.Insert(events, 0, *grant)
		res.Omitted = max(0, res.Omitted-1)
	}
	return events, res, err
}

// grantOfFirst returns the grant of the turn that the events begin inside of, so
// that it is shown with its end; nil if they begin outside of any.
func (s *seat) grantOfFirst(ctx context.Context, st *turn.State, events []event.Event) (*event.Event, error) {
	for i := range events {
		switch e := &events[i]; e.Type {
		case turn.Claim, turn.Takeover, turn.RoomOpened:
			return nil, nil
		case turn.Released, turn.Passed:
			return s.grantBefore(ctx, events[0].Seq, e.Turn)
		}
	}
	if st.Owner == "" || len(events) == 0 {
		return nil, nil
	}
	return s.grantBefore(ctx, events[0].Seq, st.Turn)
}

// grantBefore returns the claim or takeover that began the turn, which lies before
// an event; nil if it is not there.
func (s *seat) grantBefore(ctx context.Context, before, turnID int64) (*event.Event, error) {
	for window := int64(1) << 8; ; window *= 8 {
		after := max(0, before-1-window)
		var grant *event.Event
		_, err := s.room.History(ctx, after, func(e *event.Event) error {
			if e.Seq >= before {
				return errEnough
			}
			if e.Turn == turnID && (e.Type == turn.Claim || e.Type == turn.Takeover) {
				found := e.Clone()
				grant = &found
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
		if grant != nil || after == 0 {
			return grant, nil
		}
	}
}

// before returns how many events there are before one: numbers have no gaps.
func (s *seat) before(ctx context.Context, seq int64, allLives bool) (int64, error) {
	first := seq
	read := s.room.History
	if !allLives {
		read = func(ctx context.Context, after int64, fn func(*event.Event) error) (int64, error) {
			end, err := s.room.Events(ctx, after, fn)
			return end.Seq, err
		}
	}
	_, err := read(ctx, 0, func(e *event.Event) error {
		first = e.Seq
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return seq - first, err
}

// followLog prints the history in events, and what happens after it as it happens.
func (s *seat) followLog(ctx context.Context, st *turn.State, events []event.Event) error {
	var book logBook
	q := &eventQuery{follow: true, past: events, writeEvent: func(_ *cli.Output, e *event.Event) error {
		ended, made := book.add(e)
		return errors.Join(s.writeEntry(ended), s.writeEntry(made))
	}}
	return s.stream(ctx, q, filter{}, st, startPoint{after: st.Seq})
}

// writeEntry writes an entry of the log as a line of a stream, nothing for nil.
func (s *seat) writeEntry(e *logEntry) error {
	if e == nil {
		return nil
	}
	return s.call.Out.WriteLine(e, func(t *cli.Text) { writeEntry(t, e, "begins", logWidth(s.call, t)) })
}

// A logEntry is a turn, or something that happened beside it.
type logEntry struct {
	Kind      string          `json:"kind"` // turn, message, note, note_resolved, member, room, policy
	EventSeq  int64           `json:"event_seq"`
	At        event.Time      `json:"at"`
	TurnID    int64           `json:"turn_id,omitempty"`
	Agent     string          `json:"agent_id,omitempty"`
	To        string          `json:"to_agent_id,omitempty"`
	Event     string          `json:"event_type,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Text      string          `json:"text,omitempty"`
	Hint      string          `json:"delivery_hint,omitempty"` // of a message: normal, interrupt
	Severity  string          `json:"severity,omitempty"`      // of a note: info, page
	EndedAt   *event.Time     `json:"ended_at,omitempty"`
	Duration  int64           `json:"duration_ms,omitempty"`
	EndedBy   string          `json:"ended_by,omitempty"` // release, pass, takeover, kick, member_left, close
	Handoff   json.RawMessage `json:"handoff,omitempty"`
	PassedTo  string          `json:"passed_to,omitempty"`
	TakenFrom string          `json:"taken_from,omitempty"`
}

// A logBook turns events into entries. A turn is one entry from its grant to its
// end.
type logBook struct {
	open *logEntry // the turn in progress
}

// add returns the entries that the event makes or completes: a turn that ends with
// it, and what it is itself.
func (b *logBook) add(e *event.Event) (ended, made *logEntry) {
	if b.open != nil && turn.EndsTurn(e, b.open.Agent) {
		ended = b.open
		ended.end(e)
		b.open = nil
	}
	switch e.Type {
	case turn.Claim, turn.Takeover:
		b.open = startOfTurn(e)
		made = b.open
	case turn.Released, turn.Passed:
	default:
		made = beside(e)
	}
	return ended, made
}

func history(events []event.Event) []logEntry {
	var book logBook
	var made []*logEntry
	for i := range events {
		if _, entry := book.add(&events[i]); entry != nil {
			made = append(made, entry)
		}
	}
	entries := make([]logEntry, 0, len(made))
	for _, entry := range made {
		entries = append(entries, *entry)
	}
	return entries
}

func startOfTurn(e *event.Event) *logEntry {
	entry := &logEntry{Kind: "turn", EventSeq: e.Seq, At: e.CreatedAt, TurnID: e.Turn, Agent: e.To, Event: e.Type, Reason: e.Reason}
	if e.Type == turn.Takeover {
		entry.TakenFrom = e.From
	}
	return entry
}

func (l *logEntry) end(e *event.Event) {
	at := e.CreatedAt
	l.EndedAt, l.EndedBy = &at, e.Type
	l.Duration = max(0, at.Sub(l.At.Time).Milliseconds())
	l.Handoff, l.PassedTo = e.Clone().Handoff, e.To
}

func beside(e *event.Event) *logEntry {
	var p struct {
		Body     string `json:"body"`
		Hint     string `json:"delivery_hint"`
		Severity string `json:"severity"`
	}
	_ = json.Unmarshal(e.Payload, &p)
	entry := &logEntry{
		EventSeq: e.Seq, At: e.CreatedAt, Agent: e.From, To: e.To, Event: e.Type, Reason: e.Reason,
		Text: p.Body, Hint: p.Hint, Severity: p.Severity,
	}
	switch e.Type {
	case turn.MessageSent:
		entry.Kind = "message"
	case turn.NoteAdded:
		entry.Kind = "note"
	case turn.NoteResolved:
		entry.Kind = "note_resolved"
	case turn.MemberJoined, turn.MemberLeft, turn.Kicked:
		entry.Kind = "member"
	case turn.PolicyChanged:
		entry.Kind = "policy"
	default:
		entry.Kind = "room"
	}
	return entry
}
