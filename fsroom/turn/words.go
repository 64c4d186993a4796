package turn

import (
	"fmt"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// Words says where the stick is, for the agent: who has it, who may have it and when, and
// whether it is the agent's to take.
func (s *State) Words(f Facts, agent string) string {
	lease, claim := s.deadlines(f)
	switch status := s.Status(f); {
	case status == StateClosed:
		return "the room has ended"
	case s.Owner == agent && s.Owner != "":
		return "yours for " + s.heldFor(f)
	case status == StateOwnerGone:
		return fmt.Sprintf("held by %s, which is gone: it may be taken over", s.Owner)
	case status == StateStaleOwner:
		return fmt.Sprintf("held by %s, whose lease ran out at %s: it may be taken over", s.Owner, lease.Format(utcClock))
	case s.Owner != "":
		return s.heldWords(f)
	case s.ReservedFor == agent && agent != "":
		return "reserved for you, yours to take"
	case status == StateRecipientGone:
		return fmt.Sprintf("reserved for %s, which is gone: it may be taken over", s.ReservedFor)
	case s.ReservedFor != "" && f.claimExpired(s):
		return fmt.Sprintf("reserved for %s, which did not come by %s: it may be taken over", s.ReservedFor, claim.Format(utcClock))
	case s.ReservedFor != "":
		return fmt.Sprintf("reserved for %s until %s, then takeover", s.ReservedFor, claim.Format(utcClock))
	}
	return s.freeWords(f, agent)
}

// heldWords is [State.Words] of a turn that somebody has.
func (s *State) heldWords(f Facts) string {
	words := fmt.Sprintf("held by %s for %s", s.Owner, s.heldFor(f))
	for _, fact := range s.troubleFacts(f) {
		words += "; " + fact
	}
	return words
}

// heldFor is for how long the turn has been held.
func (s *State) heldFor(f Facts) string {
	return spoken(max(time.Second, f.Now.Since(s.Grant.At)))
}

// freeWords is [State.Words] of a turn that nobody has and that is reserved for nobody.
func (s *State) freeWords(f Facts, agent string) string {
	first := s.Pending.Preferred
	switch mine := s.claimable(f, TryRequest{Agent: agent}); {
	case first != "" && first == agent && s.prefers(f):
		return "offered to you until " + s.preferredUntil(f).Format(utcClock) + ", yours to take"
	case mine:
		return "free, yours to take"
	case first != "" && s.prefers(f):
		return fmt.Sprintf("offered to %s until %s, then free", first, s.preferredUntil(f).Format(utcClock))
	case s.Pending.From == agent && agent != "":
		return "free, for whoever else waits; yours to take again from " + s.authorFrom(f).Format(utcClock)
	}
	return "free, for whoever waits"
}

// preferredUntil returns when the pending handoff is no longer offered to one member alone.
func (s *State) preferredUntil(f Facts) event.Time { return f.Now.End(s.Pending.At, s.preference()) }

// authorFrom returns when the author of the pending handoff may claim the turn although
// other members are active.
func (s *State) authorFrom(f Facts) event.Time {
	return f.Now.End(s.Pending.At, authorGraces*ms(s.Policy.WaiterGrace))
}
