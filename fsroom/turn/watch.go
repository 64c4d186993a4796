package turn

import (
	"cmp"
	"slices"
	"time"
)

// NextDeadline returns how long the answer of [Try] to an agent stays the same if
// no event comes and no process starts, waits or ends. It is zero if time alone
// never changes that answer.
func (s *State) NextDeadline(f Facts, agent string) (next time.Duration) {
	switch {
	case !s.Open:
	case s.Owner != "":
		next = Soonest(f.lease(s).Left(f.Now), s.UntilGone(f, s.Owner), s.nextOffer(f))
	case s.ReservedFor != "":
		next = Soonest(f.Now.Left(s.Pending.At, ms(s.Policy.ClaimTTL)), s.UntilGone(f, s.ReservedFor))
	case s.Pending.Seq != 0:
		next = Soonest(f.Now.Left(s.Pending.At, s.preference()), f.Now.Left(s.Pending.At, authorGraces*ms(s.Policy.WaiterGrace)))
		if s.Pending.Listens {
			next = Soonest(next, f.hearing(s.Pending.Preferred).UnheardIn)
		}
	}
	if s.Pending.From == agent { // it gets the handoff back when no other member is active
		for _, id := range s.rivals(agent) {
			next = Soonest(next, ms(s.Policy.PresenceTTL)-f.silence(s.Member(id)), s.UntilGone(f, id))
		}
	}
	return next
}

// Soonest returns the shortest of times, of which 0 and less stand for none; 0 if there is none.
func Soonest(times ...time.Duration) (first time.Duration) {
	for _, d := range times {
		if d > 0 && (first == 0 || d < first) {
			first = d
		}
	}
	return first
}

// rivals returns the other members that take turns.
func (s *State) rivals(agent string) (ids []string) {
	for i := range s.Members {
		if m := &s.Members[i]; m.AgentID != agent && s.takesTurns(m) {
			ids = append(ids, m.AgentID)
		}
	}
	return ids
}

// WatchedBy returns the members whose end changes at once what [Try] answers an
// agent: the owner or the recipient of the turn, the member that listens and to which the
// turn is offered first, and all other members for the
// author of a pending handoff, who gets it back when no other member is active.
func (s *State) WatchedBy(agent string) []string {
	var ids []string
	id := cmp.Or(s.Owner, s.ReservedFor)
	if id == "" && s.Pending.Listens {
		id = s.Pending.Preferred
	}
	if id != "" && id != agent {
		ids = append(ids, id)
	}
	if s.Pending.Seq == 0 || s.Pending.From != agent {
		return ids
	}
	for _, id := range s.rivals(agent) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
