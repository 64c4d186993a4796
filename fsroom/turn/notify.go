package turn

import "slices"

// A Change is what has happened that agents who wait, and the guardian of the turn,
// may have to learn of.
type Change struct {
	Before, After *State
	// GuardianChanged: not the room has changed, but another process keeps the turn of
	// After, or none does any more.
	GuardianChanged bool
	// Unclaimed: the change is over, and the agent that the turn of After is reserved
	// for does not take it up at once.
	Unclaimed bool
}

// WhoToNotify returns the agents that have to look because of a change. It is the only
// rule about who is woken.
//
// When a change is about to be committed they are those to whom [Try] may tell
// something new, the owner of a new turn, whose guardian waits for it, and agents
// that are no members any more. A turn that goes from hand to hand makes no
// difference to the others who wait, except that another process is to be watched.
// They are not among these, so that the agent whose turn it is need not compete
// with them. They are woken when it is known which process keeps the turn, or that
// nobody takes it up.
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
	case len(removed) == 0 && before.sameTurn(after):
		return nil
	case after.Owner != "":
		return append(removed, after.Owner)
	case after.ReservedFor != "" && len(removed) == 0:
		return []string{after.ReservedFor}
	}
	return before.ids()
}

// Others returns the members besides one.
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

// removed returns the members that are none after the change.
func (s *State) removed(after *State) (ids []string) {
	for i := range s.Members {
		if id := s.Members[i].AgentID; after.Member(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// sameTurn reports whether nothing happened to the turn.
func (s *State) sameTurn(after *State) bool {
	return s.Open == after.Open && s.Turn == after.Turn && s.Owner == after.Owner &&
		s.ReservedFor == after.ReservedFor && s.Pending == after.Pending
}
