package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal"
)

var logCommand = &front.Command{
	Name:  "log",
	Group: groupLook,
	Args:  []front.Arg{pathArg()},
	Short: "the room's history as people read it",
	Long: "Turns with who held them, for how long and what they handed over; takeovers with their reasons; messages and notes in " +
		"between. Long texts are folded; tt events --json has them whole.",
	Examples: []front.Example{{Line: "tt log --since 2h"}},
	Flags: func(f *front.Flags) {
		f.Duration("since", "D", 0, "only what happened in this time")
		f.Int64("limit", "N", defaultLog, "at most so many events, the newest")
		pathFlag(f)
	},
	Errors: []code.Code{code.RoomNotFound},
	Run:    runLog,
}

const (
	defaultLog = 100
	mostLog    = 10_000
)

// A logEntry is a turn, or something that happened beside it.
type logEntry struct {
	Kind      string          `json:"kind"` // turn, message, note, note_resolved, member, room, policy
	EventSeq  int64           `json:"event_seq"`
	At        journal.Time    `json:"at"`
	TurnID    int64           `json:"turn_id,omitempty"`
	Agent     string          `json:"agent_id,omitempty"`
	To        string          `json:"to_agent_id,omitempty"`
	Event     string          `json:"event_type,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Text      string          `json:"text,omitempty"`
	EndedAt   *journal.Time   `json:"ended_at,omitempty"`
	Duration  int64           `json:"duration_ms,omitempty"`
	EndedBy   string          `json:"ended_by,omitempty"` // release, pass, takeover, kick, member_left
	Handoff   json.RawMessage `json:"handoff,omitempty"`
	PassedTo  string          `json:"passed_to,omitempty"`
	TakenFrom string          `json:"taken_from,omitempty"`
}

func runLog(ctx context.Context, c *front.Call) error {
	limit := int(c.Int64("limit"))
	if limit < 1 || limit > mostLog {
		return c.Usagef("--limit must be from 1 to %d", mostLog)
	}
	s, err := openSeat(c)
	if err != nil {
		return err
	}
	snap, err := s.view()
	if err != nil {
		return err
	}
	s.present(ctx, snap.State)
	events, err := s.newest(ctx, filter{}, snap.State.Seq, limit)
	if err != nil {
		return err
	}
	if c.Given("since") {
		events = since(events, time.Now().Add(-c.Duration("since")))
	}
	entries := history(events)
	return c.Out.Result(map[string]any{"entries": entries}, func(t *front.Text) { writeLog(t, entries) })
}

func since(events []journal.Event, from time.Time) []journal.Event {
	for i := range events {
		if !events[i].CreatedAt.Before(from) {
			return events[i:]
		}
	}
	return nil
}

// history turns events into what happened: a turn is one entry from its grant
// to its end.
func history(events []journal.Event) []logEntry {
	entries := make([]logEntry, 0, len(events))
	open := -1 // the entry of the turn in progress
	for i := range events {
		e := &events[i]
		if open >= 0 && turn.EndsTurn(e, entries[open].Agent) {
			entries[open].end(e)
			open = -1
		}
		switch e.Type {
		case turn.Claim, turn.Takeover:
			open = len(entries)
			entries = append(entries, startOfTurn(e))
		case turn.Released, turn.Passed:
		default:
			entries = append(entries, beside(e))
		}
	}
	return entries
}

func startOfTurn(e *journal.Event) logEntry {
	entry := logEntry{Kind: "turn", EventSeq: e.Seq, At: e.CreatedAt, TurnID: e.Turn, Agent: e.To, Event: e.Type, Reason: e.Reason}
	if e.Type == turn.Takeover {
		entry.TakenFrom = e.From
	}
	return entry
}

func (l *logEntry) end(e *journal.Event) {
	at := e.CreatedAt
	l.EndedAt, l.EndedBy = &at, e.Type
	l.Duration = max(0, at.Sub(l.At.Time).Milliseconds())
	l.Handoff, l.PassedTo = e.Handoff, e.To
}

func beside(e *journal.Event) logEntry {
	entry := logEntry{EventSeq: e.Seq, At: e.CreatedAt, Agent: e.From, To: e.To, Event: e.Type, Reason: e.Reason, Text: bodyOfEvent(e)}
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

func bodyOfEvent(e *journal.Event) string {
	var p struct {
		Body string `json:"body"`
	}
	_ = json.Unmarshal(e.Payload, &p)
	return p.Body
}

func writeLog(t *front.Text, entries []logEntry) {
	if len(entries) == 0 {
		t.Line("Nothing happened.")
		return
	}
	for _, e := range entries {
		if e.Kind == "turn" {
			writeTurn(t, e)
		} else {
			t.Line("%s  %s", t.Dim(e.At.Local().Format("Jan _2 15:04:05")), besideWords(e))
		}
	}
}

func writeTurn(t *front.Text, e logEntry) {
	how := ""
	switch {
	case e.TakenFrom != "":
		how = ", taken from " + e.TakenFrom + ": " + fold(e.Reason)
	}
	length := "still holds it"
	if e.EndedAt != nil {
		length = "for " + front.Duration(time.Duration(e.Duration)*time.Millisecond)
	}
	t.Line("%s  %s %s, %s%s", t.Dim(e.At.Local().Format("Jan _2 15:04:05")), t.Bold("turn "+itoa(e.TurnID)), e.Agent, length, how)
	if e.EndedAt == nil {
		return
	}
	h := turn.ReadHandoff(e.Handoff)
	if h.Status != "" {
		t.Line("                   did   %s", fold(h.Status))
		t.Line("                   next  %s", fold(h.NextAction))
	}
	switch {
	case e.PassedTo != "" && e.EndedBy != turn.Takeover:
		t.Line("                   to    %s", e.PassedTo)
	case e.EndedBy != turn.Released:
		t.Line("                   ended by %s", e.EndedBy)
	}
}

func besideWords(e logEntry) string {
	who := e.Agent
	if e.To != "" {
		who += " → " + e.To
	}
	switch e.Kind {
	case "message":
		return who + ": " + fold(e.Text)
	case "note":
		return who + " left a note: " + fold(e.Text)
	}
	words := e.Event
	if who != "" {
		words = who + " " + words
	}
	if e.Reason != "" {
		words += " (" + fold(e.Reason) + ")"
	}
	return words
}

// foldAt is where long texts are cut in text output.
const foldAt = 100

// fold is the first line of a text, cut to a readable length.
func fold(text string) string {
	for i, r := range text {
		if r == '\n' || i >= foldAt {
			return text[:i] + " …"
		}
	}
	return text
}
