package turn

import (
	"cmp"
	"slices"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// The classes of what an agent is told although it did not ask. The names are those of
// the variable TT_CLASS.
const (
	ClassTurn    = "turn"    // a turn is offered to it
	ClassLost    = "lost"    // its turn, its membership or the room has ended
	ClassNeeds   = "needs"   // of a person: the holder of a turn waits for something that a person can do
	ClassJob     = "job"     // a job of its own has ended
	ClassMessage = "message" // somebody has written to it
)

// Listeners returns the ids of the agents whose listeners are notified of a change: those
// to which it is [News], once the change is committed.
func Listeners(before, after *State, events []event.Event) (ids []string) {
	if next := after.offeredTo(); next != "" && (next != before.offeredTo() || after.Pending.Seq != before.Pending.Seq) {
		ids = append(ids, next)
	}
	for _, id := range before.Others("") {
		tells := func(e event.Event) bool { return ClassOf(&e, id) != "" }
		if !slices.Contains(ids, id) && slices.ContainsFunc(events, tells) {
			ids = append(ids, id)
		}
	}
	return ids
}

// offeredTo returns the agent that the next turn is reserved for or offered to first, ""
// if there is none.
func (s *State) offeredTo() string {
	if s.Owner != "" {
		return ""
	}
	return cmp.Or(s.ReservedFor, s.Pending.Preferred)
}

// ClassOf returns the class of an event for an agent that is a member when it happens, ""
// for one that the agent is not told of. A message to the room is shown with the next
// command, and wakes nobody unless it is urgent.
func ClassOf(e *event.Event, agent string) string {
	switch {
	case talk.TellsJob(e, agent):
		return ClassJob
	case e.From == agent && e.Type != Takeover, e.Type == Takeover && e.To == agent:
	case e.Type == Takeover && e.From == agent, e.Type == Closed, EndsMembership(e, agent):
		return ClassLost
	case e.To == agent && (e.Type == MessageSent || e.Type == NoteAdded), e.To == "" && talk.Interrupts(e):
		return ClassMessage
	}
	return ""
}

// News is what an agent can be told although it did not ask.
type News struct {
	Offer    int64       // the event_seq of the handoff that comes with a turn it may take; 0: none
	Turn     int64       // the number of that turn
	Call     bool        // it may have the turn for which a write of it was refused
	Plain    bool        // it was released by an agent, which has named nobody
	Lost     string      // the type of the event by which it has lost its turn, its membership or the room; "": none
	Words    talk.Unread // what was said to it
	ByPerson bool        // a person has written one of these
}

// AddWord takes a word into account, unless the agent is not told of it.
func (n *News) AddWord(s *State, w *talk.Word, agent string) {
	if w.Calls(agent) {
		*n.Words.Of(w.Kind)++
		n.ByPerson = n.ByPerson || s.IsPerson(w.From)
	}
}

// Urgent reports whether the agent is woken for the news at once, and however often it was woken before.
func (n News) Urgent() bool {
	return n.Lost != "" || n.Call || n.Offer != 0 && !n.Plain || n.Words.Jobs > 0
}

// IsZero reports whether there is nothing new.
func (n News) IsZero() bool { return n.Class() == "" }

// Class returns the most important class that there is news of, "" if there is none.
func (n News) Class() string { return append(n.classes(), "")[0] }

// classes returns the classes that there is news of, the most important first.
func (n News) classes() []string {
	has := map[string]bool{ClassTurn: n.Offer != 0 || n.Call, ClassLost: n.Lost != "",
		ClassJob: n.Words.Jobs > 0, ClassMessage: n.Words.Written() > 0}
	return slices.DeleteFunc([]string{ClassTurn, ClassLost, ClassJob, ClassMessage}, func(class string) bool { return !has[class] })
}

// Without returns the news without the classes.
func (n News) Without(classes ...string) News {
	for _, class := range classes {
		switch class {
		case ClassTurn:
			n.Offer, n.Turn, n.Plain, n.Call = 0, 0, false, false
		case ClassLost:
			n.Lost = ""
		case ClassJob:
			n.Words.Jobs = 0
		case ClassMessage:
			n.Words, n.ByPerson = talk.Unread{Jobs: n.Words.Jobs}, false
		}
	}
	return n
}

// Like returns the news without the classes in which other has nothing.
func (n News) Like(other News) News {
	has := other.classes()
	return n.Without(slices.DeleteFunc(n.classes(), func(class string) bool { return slices.Contains(has, class) })...)
}

// AddOffer takes into account a turn that the agent may take now, if its handoff comes
// after an event.
func (n *News) AddOffer(s *State, f Facts, agent string, after int64) {
	if s.Pending.Seq > after && s.Offers(f, agent) {
		n.Offer, n.Turn = s.Pending.Seq, s.Turn+1
		n.Plain = !s.Pending.Direct && !s.IsPerson(s.Pending.From) && !f.presence(agent).Wants // which was promised to be called
	}
}

// AddCall takes into account that the agent may have the turn for which a write of it was refused, see [State.Calls].
func (n *News) AddCall(s *State, f Facts, agent string) {
	if s.Calls(f, agent) {
		n.Call, n.Turn = true, s.Turn+1
	}
}

// Offers reports whether the agent may have a turn that comes with a handoff: one that is reserved
// for it, offered to it first, or not taken by the members that came before it.
func (s *State) Offers(f Facts, agent string) bool {
	comes := s.Pending.Seq != 0 && s.Pending.From != agent && s.Member(agent) != nil
	wakes := s.ReservedFor != "" || !s.AtRest() && !s.Pending.forNobody()
	return comes && wakes && s.claimable(f, TryRequest{Agent: agent})
}

// IsPerson reports whether the member is a person.
func (s *State) IsPerson(id string) bool {
	m := s.Member(id)
	return m != nil && m.SessionKind == kindPerson
}

// kindPerson is the session kind of a person.
const kindPerson = "human_cli"
