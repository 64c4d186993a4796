package ttcmd

import (
	"encoding/json"
	"fmt"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// writeEvents prints events under the turns they belong to.
func writeEvents(t *cli.Text, events []event.Event) {
	if len(events) == 0 {
		t.Line("No events.")
		return
	}
	var table cli.Table
	for _, e := range events {
		table.Row(t.Dim(fmt.Sprint(e.Seq)), t.Dim(fmt.Sprintf("turn %d", e.Turn)), t.Ago(e.CreatedAt.Time), e.Type, eventWords(&e))
	}
	t.Table(&table)
}

// writeEventLine prints an event of a stream.
func writeEventLine(t *cli.Text, e *event.Event) {
	t.Line("%s  %s  turn %d  %s  %s", t.Dim(e.CreatedAt.Local().Format("15:04:05")), t.Dim(itoa(e.Seq)), e.Turn, e.Type, eventWords(e))
}

// A briefEvent is what an event is about and no more.
type briefEvent struct {
	Seq      int64
	Type     string
	From, To string
	Text     string
}

// A briefResult is eventsResult with --brief.
type briefResult struct {
	Events []briefEvent
	Cursor int64
}

func shorten(e *event.Event) briefEvent {
	text := eventDetail(e)
	if text == "" {
		text = e.Reason
	}
	return briefEvent{Seq: e.Seq, Type: e.Type, From: e.From, To: e.To, Text: turn.Preview(text)}
}

func writeBrief(t *cli.Text, events []briefEvent) {
	for _, e := range events {
		words := fromTo(e.From, e.To)
		if e.Text != "" && words != "" {
			words += ": "
		}
		words += e.Text
		t.Line("%s  %s  %s", t.Dim(itoa(e.Seq)), e.Type, words)
	}
}

// fromTo names whom an event comes from and goes to.
func fromTo(from, to string) string {
	switch {
	case from != "" && to != "":
		return from + " → " + to
	case to != "":
		return "→ " + to
	}
	return from
}

// eventWords says in one line what an event was about.
func eventWords(e *event.Event) string {
	words := fromTo(e.From, e.To)
	if d := eventDetail(e); d != "" {
		words += ": " + d
	}
	if e.Reason != "" {
		words += " (" + e.Reason + ")"
	}
	return words
}

func eventDetail(e *event.Event) string {
	var p struct {
		Body    string `json:"body"`
		Hint    string `json:"delivery_hint"`
		Preview string `json:"body_preview"`
		Kind    string `json:"kind"`
		Level   string `json:"severity"`
	}
	_ = json.Unmarshal(e.Payload, &p)
	switch e.Type {
	case turn.MessageSent:
		if p.Hint == turn.HintInterrupt {
			return "[interrupt] " + p.Body
		}
		return p.Body
	case turn.NoteAdded:
		if p.Level == turn.SeverityPage {
			return "[page] " + p.Preview
		}
		return p.Preview
	case turn.Claim, turn.Takeover:
		return p.Kind
	case turn.Released, turn.Passed:
		return turn.ReadHandoff(e.Handoff).NextAction
	}
	return ""
}
