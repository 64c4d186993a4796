package turn

import (
	"cmp"
	"fmt"
	"strings"
	"time"

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

// Words says where the stick is, for the agent: who has it, who may have it and when, and
// whether it is the agent's to take.
func (s *State) Words(f Facts, agent string) string {
	which, held := s.which(f), spoken(max(time.Second, f.Now.Since(s.Grant.At)))
	if which != "" {
		which = ", " + which + ": it may be taken over"
	}
	switch {
	case !s.Open:
		return "the room has ended"
	case s.Owner == "" && s.ReservedFor == "":
		return s.freeWords(f, agent)
	case s.Owner == agent && agent != "" && f.Window != 0:
		return fmt.Sprintf("held by this session for %s, in another window (process %d)", held, f.Window)
	case s.Owner == agent && agent != "":
		return "yours, held for " + held
	case s.Owner != "" && which != "":
		return "held by " + s.Owner + which
	case s.Owner != "":
		return strings.Join(append([]string{"held by " + s.Owner + " for " + held}, s.troubleFacts(f, "")...), "; ")
	case s.ReservedFor == agent && agent != "":
		return "reserved for you, yours to take"
	case which == "":
		_, claim := s.deadlines(f)
		which = " until " + claim.Format(utcClock) + ", then takeover"
	}
	if !s.eligible(f, agent, ReasonClaimTimeout) && !IsPerson(agent) { // who may do so all the same
		which += " by another member"
	}
	return "reserved for " + s.ReservedFor + which
}

// freeWords is [State.Words] of a turn that nobody has and that is reserved for nobody.
func (s *State) freeWords(f Facts, agent string) string {
	first, until := s.alone(f)
	switch mine := s.claimable(f, TryRequest{Agent: agent}); {
	case first != "" && first == agent:
		return "offered to you until " + until.Format(utcClock) + ", yours to take"
	case mine:
		return "free, yours to take"
	case s.Pending.From == agent && agent != "":
		again := "; yours to take again from " + f.Now.End(s.Pending.At, authorGraces*ms(s.Policy.WaiterGrace)).Format(utcClock)
		if first != "" {
			return fmt.Sprintf("offered to %s until %s%s", first, until.Format(utcClock), again)
		}
		return "free, for whoever else waits" + again
	case first != "":
		return fmt.Sprintf("offered to %s until %s, then free", first, until.Format(utcClock))
	}
	return "free, for whoever waits"
}
