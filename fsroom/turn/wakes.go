package turn

import "slices"

// Wakes returns who has to look at once because of a change: whoever [Try] may
// tell something new, the owner of a new turn, whose guardian waits for it, and
// whoever is no member any more.
//
// A turn that goes from hand to hand makes no difference to the others who wait,
// except that they have somebody else to keep an eye on. They are not among
// these: the one whose turn it is need not compete with them. They have until
// the new owner could end, see [State.Others].
func Wakes(before, after *State) []string {
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
