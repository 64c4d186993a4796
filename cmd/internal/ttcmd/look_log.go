package ttcmd

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var logCommand = &cli.Command{
	Name:    "log",
	Reads:   true,
	Args:    []cli.Arg{pathArg},
	Streams: true,
	Flags: func(f *cli.Flags) {
		f.Duration("since", "D", 0, "only what happened in this time")
		f.Int64("limit", "N", 0, "at most so many events, the newest (default 100, with --since and at most 10000)")
		f.Bool("archive", "the earlier lives of the room too")
		f.Hidden(func(f *cli.Flags) { f.Bool("follow", "go on with what happens, an entry at a time") }) // as events --follow
		freshFlag(f)
	},
	Run: runLog,
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
	byDefault := int64(defaultLog)
	switch {
	case c.Given("since"):
		byDefault = mostLog
	case c.Bool("follow"):
		byDefault = defaultFollow
	}
	limit, err := limited(c, byDefault, mostLog)
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
	var since time.Time
	if c.Given("since") {
		since = time.Now().Add(-c.Duration("since"))
	}
	past, err := room.History(ctx, snap.State, c.Bool("archive"), since, limit)
	if err != nil {
		return err
	}
	if c.Bool("follow") {
		var book turn.LogBook
		return (&eventQuery{c: c, room: room, follow: true, after: snap.State.Seq, past: past.Events, entry: func(e *event.Event) error {
			ended, made := book.Add(e)
			return errors.Join(writeEntryLine(c, ended), writeEntryLine(c, made))
		}}).stream(ctx, snap.State)
	}
	room.RecordPresence(ctx, snap.State)
	asked, err := questions.Of(room).QuestionLog(ctx, past.Since, limit)
	if err != nil {
		return err
	}
	res := logResult{Entries: questions.MergeLog(turn.LogEntries(past.Events), asked), Omitted: past.Omitted, Earlier: past.Earlier,
		held: snap.State.Fence(), lastKnown: knownOf(c, room)}
	return c.Out.Result(res, func(t *cli.Text) { writeLog(t, res) })
}

// writeEntryLine writes an entry of the log as a line of a stream, nothing for nil.
func writeEntryLine(c *cli.Invocation, e *turn.LogEntry) error {
	if e == nil {
		return nil
	}
	return c.Out.WriteLine(e, func(t *cli.Text) { writeEntry(t, e, "begins") })
}

// writeLog writes the history. On a terminal lines are cut to its width.
func writeLog(t *cli.Text, r logResult) {
	if r.Earlier {
		t.Line("%s", t.Dim("earlier lives of this room are left out; --archive shows them"))
	}
	if r.Omitted > 0 {
		t.Line("%s", t.Dim(counted(int(r.Omitted), "earlier event")+" left out; --limit or --since shows more"))
	}
	if len(r.Entries) == 0 {
		t.Line("Nothing happened.")
	}
	for i := range r.Entries {
		e, stands := &r.Entries[i], "still holds it"
		if r.held.Turn != e.TurnID || r.held.Agent != e.Agent {
			stands = "its end is lost" // with a part of the journal
		}
		writeEntry(t, e, stands)
	}
}

// writeEntry writes an entry. holding describes a turn in progress.
func writeEntry(t *cli.Text, e *turn.LogEntry, holding string) {
	const indent = "                   "
	t.Line("%s  %s", t.Dim(e.At.Local().Format(logTime)), cutBehind(t, len(logTime)+2, entryWords(e, holding)))
	if e.Kind != "turn" || e.EndedAt == nil {
		return
	}
	line := func(word, text string) {
		if text != "" {
			t.Line("%s%-6s%s", cli.Styled(indent), word, cutBehind(t, len(indent)+6, text))
		}
	}
	h := turn.ReadHandoff(e.Handoff)
	line("did", h.Status)
	line("next", h.NextAction)
	for _, a := range h.Artifacts {
		line("file", a.Text(" — "))
	}
	for _, q := range h.OpenQuestions {
		line("ask", q)
	}
	for _, d := range h.DoNot {
		line("not", d)
	}
	if c := changesIn(e.Changes); c != nil && !c.IsEmpty() {
		line("files", changesWords(c))
	}
	switch {
	case e.PassedTo != "" && (e.EndedBy == turn.Released || e.EndedBy == turn.Passed):
		line("to", e.PassedTo)
	case e.EndedBy != turn.Released:
		line("end", cmp.Or(map[string]string{turn.Takeover: "somebody else took over", turn.Kicked: "its holder was removed",
			turn.MemberLeft: "its holder left", turn.Closed: "the room ended"}[e.EndedBy], e.EndedBy))
	}
}

// entryWords describes an entry. holding describes a turn in progress.
func entryWords(e *turn.LogEntry, holding string) string {
	line := besideWords(e)
	if e.Kind == "turn" {
		line = "turn " + itoa(e.TurnID) + " " + e.Agent + ", " + holding
		if e.EndedAt != nil {
			line = "turn " + itoa(e.TurnID) + " " + e.Agent + ", for " + cli.Duration(time.Duration(e.Duration)*time.Millisecond)
		}
		if waited := time.Duration(*e.Waited) * time.Millisecond; waited >= time.Second {
			line += " after waiting " + cli.Duration(waited)
		}
		if e.TakenFrom != "" {
			taken := "taken from " + e.TakenFrom
			if o := e.Over; o != nil {
				taken = "took over turn " + itoa(o.TurnID) + " (" + o.Agent
				if c := changesIn(o.Changes); c != nil && c.Files > 0 {
					taken += ", " + counted(c.Files, "file")
				}
				taken += ")"
			}
			line += ", " + taken + ": " + e.Reason
		}
	}
	return line
}

const logTime = "Jan _2 15:04:05"

func besideWords(e *turn.LogEntry) string {
	why := ""
	if e.Reason != "" {
		why = ": " + e.Reason
	}
	switch e.Event {
	case topic.EventAsked:
		return e.Agent + " asks " + forWhom(e.To) + " (" + e.Question + "): " + e.Text
	case topic.EventAnswer:
		return e.Agent + " answers " + e.To + " (" + e.Question + "): " + e.Text
	case topic.EventMarked:
		return e.Agent + " has the answer (" + e.Question + ")" + why
	case topic.EventCancelled:
		return e.Agent + " withdraws " + e.Question + why
	case turn.MessageSent:
		return fromTo(e.Agent, e.To) + ": " + urgent(e.Hint == talk.HintInterrupt, "interrupt") + e.Text
	case turn.NoteAdded:
		return fromTo(e.Agent, e.To) + " left note " + shortID(e.NoteID) + ": " + urgent(e.Severity == talk.SeverityPage, "page") + e.Text
	case turn.NoteResolved:
		return e.Agent + " resolved note " + shortID(e.NoteID)
	case turn.JobEnded:
		return "job " + e.Text + ", for " + e.Agent
	case turn.RoomOpened:
		return e.Agent + " opened the room"
	case turn.MemberJoined:
		if e.Observer {
			return e.Agent + " joined as an observer"
		}
		return e.Agent + " joined"
	case turn.MemberLeft:
		if e.Reason == turn.ReasonLeft {
			why = ""
		}
		return e.Agent + " left" + why
	case turn.Kicked:
		return e.Agent + " removed " + e.To + why
	case turn.PolicyChanged:
		return e.Agent + " changed the policy"
	case turn.TreeChanged:
		if c := changesIn(e.Changes); c != nil {
			return changesLine(c)
		}
		return ""
	case turn.JournalDamaged:
		return e.Text + why
	case turn.Closed:
		if e.Agent == "" {
			return "the room ended" + why
		}
		return e.Agent + " closed the room" + why
	}
	return strings.TrimSpace(fromTo(e.Agent, e.To)+" "+e.Event) + why
}

// urgent returns the mark for a message or note that should be read at once.
func urgent(is bool, mark string) string {
	if is {
		return "[" + mark + "] "
	}
	return ""
}

// cutBehind returns the first line of a text, on a terminal cut to what is left of the
// width behind so many columns.
func cutBehind(t *cli.Text, columns int, text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	line = cli.Line(line)
	if rest != "" {
		line += " …"
	}
	if !t.Terminal {
		return line
	}
	return cli.Cut(line, max(t.Width-columns, 20))
}
