package turn

import (
	"cmp"

	"github.com/talking-stick/tt/journal/event"
)

// An Interruption is a turn that was taken from its holder.
type Interruption struct {
	Turn    int64             `json:"turn_id"`
	Agent   string            `json:"agent_id"`
	Reason  string            `json:"reason"`                      // the kind of the takeover
	Since   event.Time        `json:"since"`                       // when the turn began
	Note    *InterruptionNote `json:"note,omitempty"`              // nil: none
	Handoff int64             `json:"handoff_event_seq,omitempty"` // of the handoff that the turn came with, 0 for none
}

// An InterruptionNote is the last note of the holder in its turn.
type InterruptionNote struct {
	At   event.Time `json:"created_at"`
	Body string     `json:"body"`
}

// maxInterruptions is how many turns are told of that were taken one from the other.
const maxInterruptions = 3

// TakenOver takes into account that the turn in progress of s is being taken over by an event that is not written yet.
func (b *LogBook) TakenOver(s *State, f Facts) {
	if t := b.open; t != nil && t.Agent == s.Owner && t.TurnID == s.Turn {
		b.open = &LogEntry{TurnID: s.Turn + 1, Over: t, Grant: cmp.Or(s.takeoverReason(f), ReasonOperator)}
	}
}

// Interruptions returns the turns that were taken over one from the other and with which the one in progress goes on,
// the newest first.
func (b *LogBook) Interruptions() (list []Interruption) {
	for t := b.open; t != nil && t.Over != nil && t.Over.TurnID == t.TurnID-1 && len(list) < maxInterruptions; t = t.Over {
		list = append(list, Interruption{t.Over.TurnID, t.Over.Agent, t.Grant, t.Over.At, t.Over.Note, t.Over.Given})
	}
	return list
}
