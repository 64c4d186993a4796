package turn

import (
	"cmp"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// The states of a room as they are reported.
const (
	StateIdle          = "idle"
	StateOwned         = "owned"
	StateReserved      = "reserved"
	StateStaleOwner    = "stale_owner"
	StateOwnerGone     = "owner_gone"
	StateRecipientGone = "recipient_gone"
	StateDormant       = "dormant"
	StateClosed        = "closed"
)

// Status returns the reported state. Where several apply, it is the one that a
// reader can do most about.
func (s *State) Status(f Facts) string {
	switch state := grounds[s.takeoverReason(f)].state; {
	case !s.Open:
		return StateClosed
	case state != "":
		return state
	case s.Owner != "":
		return StateOwned
	case s.ReservedFor != "":
		return StateReserved
	case f.otherActive(s):
		return StateIdle
	}
	return StateDormant
}

// deadlines returns the ends of the lease and of the reservation in wall time, nil
// where there is none.
func (s *State) deadlines(f Facts) (lease, claim *event.Time) {
	if s.Owner != "" {
		t := f.lease(s).End(f.Now)
		lease = &t
	}
	if s.ReservedFor != "" {
		t := f.Now.End(s.Pending.At, ms(s.Policy.ClaimTTL))
		claim = &t
	}
	return lease, claim
}

// situation says in words who has the turn.
func (s *State) situation(f Facts) string {
	lease, claim := s.deadlines(f)
	switch {
	case s.Owner != "":
		return "the stick is held by " + s.Owner + ", " + cmp.Or(s.which(f), "lease until "+lease.Format(utcClock))
	case s.ReservedFor != "":
		return "the turn is reserved for " + s.ReservedFor + " until " + claim.Format(utcClock)
	case s.Pending.Preferred != "":
		return "the handoff is offered to " + s.Pending.Preferred + " first"
	case s.Pending.Seq != 0:
		return "the handoff is offered to the other members first"
	}
	return "nobody has the stick"
}

// withSituation adds the turn, its owner and the state of the room to the details
// of a refusal.
func (s *State) withSituation(f Facts, e *code.Error) *code.Error {
	e.With("current_turn_id", s.Turn).With("room_state", s.Status(f))
	if s.Owner != "" {
		e.With("current_owner", s.Owner)
	}
	return e
}

// closedRoom refuses a request to a room that has ended.
func closedRoom(s *State) error {
	return code.New(code.RoomClosed, "the room at %s has ended", s.CanonicalPath).
		WithHint(hintReopen).With("room_id", s.RoomID)
}
