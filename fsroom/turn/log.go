package turn

import (
	"cmp"
	"encoding/json"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// A LogEntry is a turn, or an event beside the turns, as people read the history of a
// room.
type LogEntry struct {
	Kind      string          `json:"kind"`                // turn, outside, tree, message, note, note_resolved, member, room, policy, job; question, answer, question_settled
	EventSeq  int64           `json:"event_seq,omitempty"` // 0: it is in the journal of a topic
	TopicSeq  int64           `json:"topic_seq,omitempty"` // its number there
	At        event.Time      `json:"at"`
	TurnID    int64           `json:"turn_id,omitempty"`
	Agent     string          `json:"agent_id,omitempty"`
	To        string          `json:"to_agent_id,omitempty"`
	Event     string          `json:"event_type,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Text      string          `json:"text,omitempty"`
	Hint      string          `json:"delivery_hint,omitempty"` // of a message: normal, interrupt
	Severity  string          `json:"severity,omitempty"`      // of a note: info, page
	Waited    *int64          `json:"waited_ms,omitempty"`     // before the turn
	NoteID    string          `json:"note_id,omitempty"`
	Observer  bool            `json:"observer,omitempty"` // of a member that joined
	EndedAt   *event.Time     `json:"ended_at,omitempty"`
	Duration  int64           `json:"duration_ms,omitempty"`
	EndedBy   string          `json:"ended_by,omitempty"` // release, pass, takeover, kick, member_left, close
	Handoff   json.RawMessage `json:"handoff,omitempty"`
	PassedTo  string          `json:"passed_to,omitempty"`
	TakenFrom string          `json:"taken_from,omitempty"`
	Changes   json.RawMessage `json:"changes,omitempty"`     // of the tree, in the turn or in a stretch of its own
	Question  string          `json:"question_id,omitempty"` // of the last three kinds

	Over  *LogEntry         `json:"-"` // the turn that a takeover ended, nil if nobody had one
	Grant string            `json:"-"` // why the turn was granted: open_claim, sequence, owner_gone, …
	Given int64             `json:"-"` // the event of the handoff that the turn came with, 0 for none
	Note  *InterruptionNote `json:"-"` // the last one of the holder in the turn, nil for none
}

// A LogBook makes entries of events. A turn is one entry, from its grant to its end.
// The zero LogBook is ready for the first event.
type LogBook struct {
	open *LogEntry // the turn in progress
	past *LogEntry // the last turn that has ended
}

// Add takes the next event into account. It returns the entry of the turn that the
// event ends, which Add returned before, and the entry that the event makes. Both may
// be nil.
func (b *LogBook) Add(e *event.Event) (ended, made *LogEntry) {
	if b.open != nil && EndsTurn(e, b.open.Agent) {
		ended = b.open
		ended.end(e)
		b.open, b.past = nil, ended
	}
	switch e.Type {
	case Claim, Takeover:
		b.open = entryOfTurn(e)
		if made = b.open; e.Type == Takeover {
			made.Over = ended
		}
	case Released, Passed:
	case TreeChanged:
		made = b.changed(e)
	default:
		made = entryBeside(e)
		if e.Type == NoteAdded && b.open != nil && e.From == b.open.Agent {
			b.open.Note = &InterruptionNote{e.CreatedAt, made.Text}
		}
	}
	return ended, made
}

// changed adds what a turn changed to its entry, and returns an entry of its own for another
// stretch of time, or for a turn that the book has not.
func (b *LogBook) changed(e *event.Event) *LogEntry {
	p, _ := readChange(e)
	raw := e.Clone().Payload
	for _, entry := range []*LogEntry{b.open, b.past} {
		if entry != nil && p.Span == SpanTurn && entry.TurnID == p.Turn {
			entry.Changes = raw
			return nil
		}
	}
	entry := &LogEntry{Kind: "tree", EventSeq: e.Seq, At: e.CreatedAt, TurnID: p.Turn, Agent: e.From, Event: e.Type, Changes: raw}
	if p.Span == SpanOutside {
		entry.Kind = SpanOutside
	}
	return entry
}

// LogEntries returns the entries of the events, in order. It is never nil.
func LogEntries(events []event.Event) []LogEntry {
	var book LogBook
	var made []*LogEntry
	for i := range events {
		if _, entry := book.Add(&events[i]); entry != nil {
			made = append(made, entry)
		}
	}
	entries := make([]LogEntry, 0, len(made))
	for _, entry := range made {
		entries = append(entries, *entry)
	}
	return entries
}

// entryOfTurn returns the entry of the turn that the event grants. Without a readable
// payload it does not say how long the agent waited.
func entryOfTurn(e *event.Event) *LogEntry {
	entry := &LogEntry{Kind: "turn", EventSeq: e.Seq, At: e.CreatedAt, TurnID: e.Turn, Agent: e.To, Event: e.Type, Reason: e.Reason}
	if e.Type == Takeover {
		entry.TakenFrom = e.From
	}
	var p grantPayload
	_ = talk.Decode(e, &p)
	entry.Waited, entry.Grant, entry.Given = &p.Waited, p.Kind, p.Handoff
	return entry
}

// EntryOf returns the entry of an event alone.
func EntryOf(e *event.Event) *LogEntry {
	if e.Type == Claim || e.Type == Takeover {
		return entryOfTurn(e)
	}
	return entryBeside(e)
}

func (l *LogEntry) end(e *event.Event) {
	at := e.CreatedAt
	l.EndedAt, l.EndedBy = &at, e.Type
	l.Duration = max(0, at.Sub(l.At.Time).Milliseconds())
	l.Handoff, l.PassedTo = e.Clone().Handoff, e.To
}

// entryBeside returns the entry of an event that neither grants nor releases a turn.
// Without a readable payload the entry has no text.
func entryBeside(e *event.Event) *LogEntry {
	w := talk.Of(e)
	entry := &LogEntry{Kind: w.Kind, EventSeq: e.Seq, At: e.CreatedAt, Agent: e.From, To: e.To, Event: e.Type, Reason: e.Reason, Text: w.Text}
	switch e.Type {
	case MessageSent:
		var p talk.MessagePayload
		_ = talk.Decode(e, &p)
		entry.Hint = p.Hint
	case NoteAdded:
		var p talk.NotePayload
		_ = talk.Decode(e, &p)
		entry.Kind, entry.NoteID, entry.To, entry.Severity = talk.KindNote, p.ID, cmp.Or(e.To, p.Target), p.Severity
	case NoteResolved:
		var p talk.ResolvedPayload
		_ = talk.Decode(e, &p)
		entry.Kind, entry.NoteID = "note_resolved", p.ID
	case JobEnded:
		entry.Duration = talk.JobOf(e).Duration
	case MemberJoined, MemberLeft, Kicked:
		var p joinedPayload
		if e.Type == MemberJoined {
			_ = talk.Decode(e, &p)
		}
		entry.Kind, entry.Observer = "member", p.Observer
	case PolicyChanged:
		entry.Kind = "policy"
	case JournalDamaged:
		entry.Kind, entry.Text = "room", event.LostOf(e).Words()
	default:
		entry.Kind = "room"
	}
	return entry
}
