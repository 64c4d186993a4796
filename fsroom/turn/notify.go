package turn

import (
	"cmp"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// WhoToNotify returns the ids of the agents that have to look because the room has changed. No other
// rule than this and [State.Bystanders] decides who is notified.
//
// They are the agents to which [Try] may answer something
// new, the owner of a new turn, whose guardian waits for it, and agents that are no
// longer members. A turn that is handed over changes nothing for the other waiting
// agents, except which process they watch. They are not notified then, so that they
// do not compete with the recipient for the lock.
func WhoToNotify(before, after *State) []string {
	removed := before.removed(after)
	switch {
	case !after.Open, before.Policy != after.Policy:
		return before.Others("")
	case len(removed) == 0 && before.SameTurn(after):
		return nil
	case after.Owner != "":
		return append(removed, after.Owner)
	case after.ReservedFor != "" && len(removed) == 0:
		return []string{after.ReservedFor}
	}
	return before.Others("")
}

// Bystanders returns the members but the owner or the recipient of the turn, none if there is neither. They are
// notified as soon as it is known that another process renews the lease or none does any more, or that the recipient
// does not claim the turn at once.
func (s *State) Bystanders() []string {
	who := cmp.Or(s.Owner, s.ReservedFor)
	if who == "" {
		return nil
	}
	return s.Others(who)
}

// WhoHasNews returns the ids of the members to which one of the events is a message or a note.
func (s *State) WhoHasNews(events []event.Event) (ids []string) {
	for i := range events {
		for _, id := range s.Others("") {
			if talk.Of(&events[i]).Kind != "" && talk.MeantFor(&events[i], id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Others returns the ids of the members except the agent, of all for "".
func (s *State) Others(agent string) []string {
	ids := make([]string, 0, len(s.Members))
	for i := range s.Members {
		if id := s.Members[i].AgentID; id != agent {
			ids = append(ids, id)
		}
	}
	return ids
}

// removed returns the members of s that are not members after the change.
func (s *State) removed(after *State) []string {
	return slices.DeleteFunc(s.Others(""), func(id string) bool { return after.Member(id) != nil })
}

// SameTurn reports whether a change that led to after left the turn as it is.
func (s *State) SameTurn(after *State) bool {
	return s.Open == after.Open && s.Turn == after.Turn && s.Owner == after.Owner &&
		s.ReservedFor == after.ReservedFor && s.Pending == after.Pending
}

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
