package turn

import (
	"cmp"
	"slices"

	"github.com/talking-stick/tt/fsroom/talk"
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

// Interruptions are the turns that were taken over since the last release, folded from events.
type Interruptions struct {
	list []Interruption // the newest last
	now  Interruption   // the turn in progress; zero: none is known
}

// Add takes the next event into account.
func (l *Interruptions) Add(e *event.Event) {
	var p grantPayload
	switch e.Type {
	case Claim, Takeover:
		_ = talk.Decode(e, &p)
		if e.Type == Takeover && l.now.Agent == e.From && l.now.Turn == e.Turn-1 {
			l.now.Reason = p.Kind
			l.list = append(l.list, l.now)
		} else { // it was free, or taken from somebody who had not begun
			l.list = nil
		}
		l.now = Interruption{Turn: e.Turn, Agent: e.To, Since: e.CreatedAt, Handoff: p.Handoff}
	case NoteAdded:
		if e.From == l.now.Agent {
			l.now.Note = &InterruptionNote{e.CreatedAt, talk.Of(e).Text}
		}
	default:
		if l.now.Agent != "" && EndsTurn(e, l.now.Agent) {
			*l = Interruptions{}
		}
	}
}

// Over adds the turn in progress of s, which is being taken over by an event that is not written yet.
func (l *Interruptions) Over(s *State, f Facts) {
	if l.now.Agent == s.Owner && l.now.Turn == s.Turn {
		l.now.Reason = cmp.Or(s.takeoverReason(f), ReasonOperator)
		l.list, l.now = append(l.list, l.now), Interruption{}
	}
}

// List returns the turns that the one in progress goes on with, the newest first.
func (l *Interruptions) List() []Interruption {
	list := slices.Clone(l.list[max(0, len(l.list)-maxInterruptions):])
	slices.Reverse(list)
	return list
}
