package main

import (
	"encoding/json"
	"fmt"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
)

// writeEvents prints events under the turns they belong to.
func writeEvents(t *front.Text, events []journal.Event) {
	if len(events) == 0 {
		t.Line("No events.")
		return
	}
	var table front.Table
	for _, e := range events {
		table.Row(t.Dim(fmt.Sprint(e.Seq)), t.Dim(fmt.Sprintf("turn %d", e.Turn)), t.Ago(e.CreatedAt.Time), e.Type, eventWords(&e))
	}
	t.Table(&table)
}

// eventWords says in one line what an event was about.
func eventWords(e *journal.Event) string {
	words := ""
	switch {
	case e.From != "" && e.To != "":
		words = e.From + " → " + e.To
	case e.From != "":
		words = e.From
	case e.To != "":
		words = "→ " + e.To
	}
	if d := eventDetail(e); d != "" {
		words += ": " + d
	}
	if e.Reason != "" {
		words += " (" + e.Reason + ")"
	}
	return words
}

func eventDetail(e *journal.Event) string {
	var p struct {
		Body    string `json:"body"`
		Hint    string `json:"delivery_hint"`
		Preview string `json:"body_preview"`
		Kind    string `json:"kind"`
	}
	_ = json.Unmarshal(e.Payload, &p)
	switch e.Type {
	case turn.MessageSent:
		if p.Hint == turn.HintInterrupt {
			return "[interrupt] " + p.Body
		}
		return p.Body
	case turn.NoteAdded:
		return p.Preview
	case turn.Claim, turn.Takeover:
		return p.Kind
	case turn.Released, turn.Passed:
		return turn.ReadHandoff(e.Handoff).NextAction
	}
	return ""
}
