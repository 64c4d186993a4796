package ttcmd

import (
	"encoding/json"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A logEntry is a turn, or an event beside it.
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

// A logBook turns events into entries. A turn is one entry, from its grant to its end.
type logBook struct {
	open *logEntry // the turn in progress
}

// add returns the entry of the turn that the event ends, and the entry that it makes.
// Both may be nil.
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

// history returns the entries of the events, in order.
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

// beside returns the entry of an event that neither begins nor ends a turn.
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
