package turn

import "github.com/talking-stick/tt/journal/event"

// EndsTurn reports whether the event ends the turn of the agent that holds it.
func EndsTurn(e *event.Event, holder string) bool {
	switch e.Type {
	case Released, Passed, Takeover, Closed:
		return true
	case MemberLeft:
		return e.From == holder
	case Kicked:
		return e.To == holder
	}
	return false
}

// A Endings says how an agent last lost its turn or its membership. It is the fold of
// the room's events; the zero Endings is that of an agent that lost nothing.
type Endings struct {
	Agent      string
	Turn       event.Event // the event that ended its last turn; without a type: none did
	Membership event.Event // the event that ended its membership; without a type: none did
}

// Fold takes one more event into account.
func (l *Endings) Fold(e *event.Event) {
	switch {
	case e.Type == Closed:
		*l = Endings{Agent: l.Agent}
	case (e.Type == Claim || e.Type == Takeover) && e.To == l.Agent:
		l.Turn = event.Event{}
	case e.Type == MemberJoined && e.From == l.Agent:
		l.Membership = event.Event{}
	case (e.Type == Released || e.Type == Passed || e.Type == Takeover) && e.From == l.Agent:
		l.Turn = e.Clone()
	case e.Type == Kicked && e.To == l.Agent, e.Type == MemberLeft && e.From == l.Agent:
		l.Membership = e.Clone()
	}
}
