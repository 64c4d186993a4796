package turn

import (
	"cmp"
	"slices"

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
		for _, id := range s.ids() {
			if talk.Of(&events[i]).Kind != "" && talk.MeantFor(&events[i], id) {
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
