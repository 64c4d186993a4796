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

// Endings says how an agent last lost its turn and its membership. It is folded from
// the events of the room. An event without a type means that nothing was lost, or
// that it was regained since.
type Endings struct {
	Agent      string
	Turn       event.Event // the event that ended the agent's last turn
	Membership event.Event // the event that ended its membership

	holds bool // the agent has the turn
}

// Fold takes the next event into account.
func (l *Endings) Fold(e *event.Event) {
	switch {
	case e.Type == Closed:
		*l = Endings{Agent: l.Agent}
	case (e.Type == Claim || e.Type == Takeover) && e.To == l.Agent:
		l.Turn, l.holds = event.Event{}, true
	case e.Type == MemberJoined && e.From == l.Agent:
		l.Membership = event.Event{}
	case (e.Type == Released || e.Type == Passed || e.Type == Takeover) && e.From == l.Agent:
		l.Turn, l.holds = e.Clone(), false
	case EndsMembership(e, l.Agent):
		if l.Membership = e.Clone(); l.holds && e.Type == Kicked {
			l.Turn = e.Clone()
		}
		l.holds = false
	}
}

// NeedsEndings reports whether [Endings.Explain] can add to a refusal with the code.
func NeedsEndings(c code.Code) bool {
	switch c {
	case code.NotJoined, code.NoActiveLease, code.TurnMismatch, code.StaleLease:
		return true
	}
	return false
}

// Explain adds to a refusal of the agent, which holds no turn or is not a member, that
// another agent removed it, or that it released the turn itself.
func (l *Endings) Explain(refusal *code.Error) {
	removed, ended := &l.Membership, &l.Turn
	switch {
	case removed.Type == Kicked:
		refusal.Message += fmt.Sprintf("; %s removed it (event %d)", removed.From, removed.Seq)
		if removed.Reason != "" {
			refusal.Message += ": " + removed.Reason
		}
		refusal.With("kicked_by", removed.From).With("kick_event_seq", removed.Seq)
	case refusal.Code == code.NotJoined:
	case ended.Type == Takeover && wasHeld(ended):
		refusal.Message += fmt.Sprintf("; %s took turn %d over (event %d)", ended.To, ended.Turn-1, ended.Seq)
		refusal.With("taken_over_by", ended.To).With("diff", fmt.Sprintf("tt diff %d", ended.Turn-1))
	case ended.Type == Kicked: // and has joined again since
		refusal.Message += fmt.Sprintf("; %s removed it in turn %d (event %d)", ended.From, ended.Turn, ended.Seq)
		refusal.With("kicked_by", ended.From).With("kick_event_seq", ended.Seq)
	case ended.Type == Released, ended.Type == Passed:
		refusal.Message += fmt.Sprintf("; it ended turn %d itself (event %d)", ended.Turn, ended.Seq)
		refusal.WithHint(hintReleased, ended.Seq-1).With("released_event_seq", ended.Seq)
	}
}

// TakenOver says in a sentence to the agent that its last turn was taken over, "" if it was not.
func (l *Endings) TakenOver() string {
	if l.Turn.Type != Takeover || !wasHeld(&l.Turn) {
		return ""
	}
	var p grantPayload
	_ = decode(&l.Turn, &p)
	return fmt.Sprintf("Your turn %d was taken over at %s UTC by %s (%s).", l.Turn.Turn-1,
		l.Turn.CreatedAt.UTC().Format("15:04"), l.Turn.To, p.Kind)
}

// wasHeld reports whether a takeover took a turn from its holder, and not a reservation.
func wasHeld(e *event.Event) bool {
	var p grantPayload
	_ = decode(e, &p)
	return p.Kind != ReasonClaimTimeout && p.Kind != ReasonRecipientGone
}
