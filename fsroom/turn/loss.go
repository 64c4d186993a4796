package turn

import (
	"fmt"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// EndsTurn reports whether the event ends the turn that holder owns.
func EndsTurn(e *event.Event, holder string) bool {
	switch e.Type {
	case Released, Passed, Takeover, Closed:
		return true
	}
	return EndsMembership(e, holder)
}

// EndsMembership reports whether the event removes the agent from the room.
func EndsMembership(e *event.Event, agent string) bool {
	return e.Type == MemberLeft && e.From == agent || e.Type == Kicked && e.To == agent
}

// A Loss is how an agent lost what it had: its last turn in this life, or its membership. It is zero if
// it has lost nothing, or has got it again.
type Loss struct {
	Type string     `json:"event_type"` // of the event: Released, Passed, Takeover or Kicked
	Seq  int64      `json:"event_seq"`
	Turn int64      `json:"turn_id,omitempty"` // that ended; 0: none did
	By   string     `json:"by,omitempty"`      // the agent that took it over, or removed the agent
	Kind string     `json:"kind,omitempty"`    // of a takeover
	At   event.Time `json:"at"`
	Why  string     `json:"reason,omitempty"` // of a removal, shortened to mostWhy bytes
}

// mostWhy bounds Loss.Why.
const mostWhy = 200

// lose records how the holder of the turn loses it. Who had it only reserved loses nothing.
func (s *State) lose(l Loss) {
	if m := s.Member(s.Owner); m != nil {
		m.Lost = l
	}
}

// explain adds to a refusal how the agent lost its turn or its membership.
func (s *State) explain(refusal *code.Error, agent string) *code.Error {
	l := Loss{}
	if m := s.Member(agent); m != nil {
		l = m.Lost
	} else if f := memberOf(s.Former, agent); f != nil && f.Removed.Type == Kicked {
		refusal.Message += fmt.Sprintf("; %s removed it (event %d)", f.Removed.By, f.Removed.Seq)
		if f.Removed.Why != "" {
			refusal.Message += ": " + f.Removed.Why
		}
		return refusal.With("kicked_by", f.Removed.By).With("kick_event_seq", f.Removed.Seq)
	}
	switch l.Type {
	case Takeover:
		refusal.Message += fmt.Sprintf("; %s took turn %d over (event %d)", l.By, l.Turn, l.Seq)
		refusal.With("taken_over_by", l.By).With("diff", fmt.Sprintf("tt diff %d", l.Turn))
	case Kicked: // and has joined again since
		refusal.Message += fmt.Sprintf("; %s removed it in turn %d (event %d)", l.By, l.Turn, l.Seq)
		refusal.With("kicked_by", l.By).With("kick_event_seq", l.Seq)
	case Released, Passed:
		refusal.Message += fmt.Sprintf("; it ended turn %d itself (event %d)", l.Turn, l.Seq)
		refusal.WithHint(hintReleased, l.Seq-1).With("released_event_seq", l.Seq)
	}
	return refusal
}

// TakenOver returns the event by which the last turn of an agent was taken over, and that as a sentence to it; 0 if it
// was not.
func (s *State) TakenOver(agent string) (seq int64, words string) {
	m := s.Member(agent)
	if m == nil || m.Lost.Type != Takeover {
		return 0, ""
	}
	l := &m.Lost
	return l.Seq, fmt.Sprintf("Your turn %d was taken over at %s UTC by %s (%s).", l.Turn, l.At.UTC().Format("15:04"), l.By, l.Kind)
}
