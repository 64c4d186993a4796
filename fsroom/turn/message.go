package turn

import (
	"cmp"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// Everyone as the recipient of a message means all members.
const Everyone = "room"

// A MessageRequest sends a message to one member or to all.
type MessageRequest struct {
	Agent, Body string
	To          string // an agent id, a display name, or Everyone
	Interrupt   bool
}

// Send adds a message to the room.
func Send(s *State, f Facts, r MessageRequest) ([]event.Event, error) {
	if err := cmp.Or(talk.Check(talk.KindMessage, r.Body), s.checkMember(r.Agent)); err != nil {
		return nil, err
	}
	e := event.Event{Type: MessageSent, Turn: s.Turn, From: r.Agent}
	if r.To != Everyone {
		m, err := s.addressee(f, r.Agent, r.To)
		if err != nil {
			return nil, err
		}
		e.To = m.AgentID
	}
	p := talk.MessagePayload{Body: r.Body, Hint: talk.HintNormal}
	if r.Interrupt {
		p.Hint = talk.HintInterrupt
	}
	e.Payload = payload(&p)
	return []event.Event{e}, nil
}

// addressee returns the member that the recipient of a message or note means.
func (s *State) addressee(f Facts, self, name string) (*Member, error) {
	m, err := s.named(f, name, "")
	if err != nil || m != nil {
		return m, err
	}
	hint, ids := s.whoIsThere(f, self, name)
	e := code.New(code.UnknownRecipient, "no active member matches %q", name).WithHint("%s", hint).With("to_agent_id", name)
	if len(ids) > 0 {
		e.With("candidates", ids)
	}
	return nil, e
}

// Asked returns whom a question is for: an agent id, [talk.AnyPerson], or "" for [Everyone].
func Asked(s *State, f Facts, self, name string) (string, error) {
	switch name {
	case Everyone:
		return "", nil
	case talk.AnyPerson:
		return name, nil
	}
	m, err := s.addressee(f, self, name)
	if err != nil {
		return "", err
	}
	if m.AgentID == self {
		hint, _ := s.whoIsThere(f, self, "")
		return "", code.New(code.UnknownRecipient, "%s is you: nobody answers a question of its own", self).
			WithHint("%s", hint).With("to_agent_id", self)
	}
	return m.AgentID, nil
}

// applyMail folds a message or the end of a job, which the members that it is for read in the journal.
func (s *State) applyMail(e *event.Event) {
	for i := range s.Members {
		if m := &s.Members[i]; talk.MeantFor(e, m.AgentID) {
			m.LastMail = e.Seq
		}
	}
}
