package turn

import (
	"fmt"
	"strings"
	"time"
)

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
