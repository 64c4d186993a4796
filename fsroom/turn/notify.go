package turn

import (
	"slices"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// A Change is something that waiting agents, and the guardian of the turn, may have
// to learn of. Exactly one of three kinds is meant: a change of the room from Before
// to After, or, with one of the flags set, something that happens in After.
type Change struct {
	Before, After *State
	// GuardianChanged: another process renews the lease of the turn, or no process
	// does so any more.
	GuardianChanged bool
	// Unclaimed: the turn has been handed over, and the agent that it is reserved for
	// does not claim it at once.
	Unclaimed bool
}

// WhoToNotify returns the ids of the agents that have to look because of a change.
// No other rule decides who is notified.
//
// For a change of the room they are the agents to which [Try] may answer something
// new, the owner of a new turn, whose guardian waits for it, and agents that are no
// longer members. A turn that is handed over changes nothing for the other waiting
// agents, except which process they watch. They are not notified then, so that they
// do not compete with the recipient for the lock. They are notified as soon as it is
// known which process renews the lease, or that the recipient does not claim the turn.
func WhoToNotify(c Change) []string {
	switch {
	case c.GuardianChanged && c.After.Owner != "":
		return c.After.Others(c.After.Owner)
	case c.Unclaimed && c.After.ReservedFor != "":
		return c.After.Others(c.After.ReservedFor)
	case c.GuardianChanged, c.Unclaimed:
		return nil
	}
	before, after := c.Before, c.After
	removed := before.removed(after)
	switch {
	case !after.Open, before.Policy != after.Policy:
		return before.ids()
	case len(removed) == 0 && before.SameTurn(after):
		return nil
	case after.Owner != "":
		return append(removed, after.Owner)
	case after.ReservedFor != "" && len(removed) == 0:
		return []string{after.ReservedFor}
	}
	return before.ids()
}

// WhoHasNews returns the ids of the members to which one of the events is a message or a note.
func (s *State) WhoHasNews(events []event.Event) (ids []string) {
	for i := range events {
		for j := range s.Members {
			if id := s.Members[j].AgentID; talk.Of(&events[i]).Kind != "" && talk.MeantFor(&events[i], id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Others returns the ids of the members except the agent.
func (s *State) Others(agent string) []string {
	return slices.DeleteFunc(s.ids(), func(id string) bool { return id == agent })
}

func (s *State) ids() []string {
	ids := make([]string, len(s.Members))
	for i := range s.Members {
		ids[i] = s.Members[i].AgentID
	}
	return ids
}

// removed returns the members of s that are not members after the change.
func (s *State) removed(after *State) []string {
	return slices.DeleteFunc(s.ids(), func(id string) bool { return after.Member(id) != nil })
}

// SameTurn reports whether a change that led to after left the turn as it is.
func (s *State) SameTurn(after *State) bool {
	return s.Open == after.Open && s.Turn == after.Turn && s.Owner == after.Owner &&
		s.ReservedFor == after.ReservedFor && s.Pending == after.Pending
}
