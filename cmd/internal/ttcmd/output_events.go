package ttcmd

import (
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// writeEvent writes an event of a stream, with its day if that is not today.
func writeEvent(out *cli.Output, e *event.Event) error {
	public := turn.Public(*e)
	return out.WriteLine(&public, func(t *cli.Text) {
		at, format := e.CreatedAt.Local(), time.TimeOnly
		if at.Format(time.DateOnly) != t.Now.Local().Format(time.DateOnly) {
			format = logTime
		}
		t.Line("%s  %s  turn %d  %s  %s", t.Dim(at.Format(format)), t.Dim(itoa(e.Seq)), e.Turn, e.Type, eventWords(&public))
	})
}

// writePage writes a page of events.
func writePage(out *cli.Output, page *eventsResult) error {
	return out.Result(page, func(t *cli.Text) {
		if len(page.Events) == 0 {
			t.Line("No events.")
			return
		}
		var table cli.Table
		for _, e := range page.Events {
			table.Row(t.Dim(itoa(e.Seq)), t.Dim("turn "+itoa(e.Turn)), t.Ago(e.CreatedAt.Time), e.Type, eventWords(&e))
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

// MarshalJSON writes the result by its tags.
func (r *briefEvent) MarshalJSON() ([]byte, error) { return wire.Append(nil, r), nil }

// A briefResult is an eventsResult with --brief.
type briefResult struct {
	Events []briefEvent `json:"events"`
	Cursor int64        `json:"cursor_event_seq"`
}

// MarshalJSON writes the result by its tags.
func (r *briefResult) MarshalJSON() ([]byte, error) { return wire.Append(nil, r), nil }

func shorten(e *event.Event) briefEvent {
	text := eventDetail(e)
	if text == "" {
		text = e.Reason
	}
	return briefEvent{Seq: e.Seq, Type: e.Type, From: e.From, To: e.To, Text: turn.Preview(text)}
}

// writeBriefEvent writes an event of a stream with --brief.
func writeBriefEvent(out *cli.Output, e *event.Event) error {
	public := turn.Public(*e)
	brief := shorten(&public)
	return out.WriteLine(&brief, brief.write)
}

// writeBriefPage writes a page of events with --brief.
func writeBriefPage(out *cli.Output, page *eventsResult) error {
	brief := &briefResult{make([]briefEvent, 0, len(page.Events)), page.Cursor}
	for i := range page.Events {
		brief.Events = append(brief.Events, shorten(&page.Events[i]))
	}
	return out.Result(brief, func(t *cli.Text) {
		for _, e := range brief.Events {
			e.write(t)
		}
	})
}

func (e briefEvent) write(t *cli.Text) {
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

// A shownPayload is what the text of an event shows of its payload.
type shownPayload struct {
	Body    string `json:"body"`
	Hint    string `json:"delivery_hint"`
	Preview string `json:"body_preview"`
	Kind    string `json:"kind"`
	Level   string `json:"severity"`
}

// eventDetail returns the text of an event, behind the mark of one that should be read at once.
func eventDetail(e *event.Event) string {
	var p shownPayload
	_ = wire.Decode(e.Payload, &p)
	switch e.Type {
	case turn.MessageSent:
		return urgent(p.Hint == turn.HintInterrupt, "interrupt") + p.Body
	case turn.NoteAdded:
		return urgent(p.Level == turn.SeverityPage, "page") + p.Preview
	case turn.JobEnded:
		j := turn.JobOf(e)
		return j.Words()
	case turn.Claim, turn.Takeover:
		return p.Kind
	case turn.Released, turn.Passed:
		return turn.ReadHandoff(e.Handoff).NextAction
	case turn.TreeChanged:
		return changesText(e.Payload)
	case turn.JournalDamaged:
		return event.LostOf(e).Words()
	}
	return ""
}
