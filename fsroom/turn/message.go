package turn

import (
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// MaxMessage is the size of the longest message body, in bytes.
const MaxMessage = 4096

// Everyone as the recipient of a message means all members.
const Everyone = "room"

// How urgent a message is.
const (
	HintNormal    = "normal"
	HintInterrupt = "interrupt"
)

// A MessageRequest sends a message to one member or to all.
type MessageRequest struct {
	Agent, Body string
	To          string // an agent id, a display name, or Everyone
	Interrupt   bool
}

type messagePayload struct {
	Body string `json:"body"`
	Hint string `json:"delivery_hint"`
}

// CheckMessage refuses a body that no room accepts.
func CheckMessage(body string) error {
	return CheckText("message", body, "bytes", len(body), MaxMessage, code.MessageTooLarge, hintLongMessage)
}

// CheckText refuses what is blank or no text, and what has more than most units: that with the code
// tooLarge and the hint.
func CheckText(what, text, unit string, size, most int, tooLarge code.Code, hint string) error {
	switch {
	case size > most:
		return code.New(tooLarge, "the %s has %d %s, at most %d are allowed", what, size, unit, most).With("supplied", size).WithHint("%s", hint)
	case !utf8.ValidString(text):
		return code.New(code.InvalidBody, "the %s is not valid UTF-8", what)
	case strings.TrimSpace(text) == "":
		return code.New(code.InvalidBody, "the %s is empty", what)
	}
	return nil
}

// Send adds a message to the room.
func Send(s *State, f Facts, r MessageRequest) ([]event.Event, error) {
	if err := CheckMessage(r.Body); err != nil {
		return nil, err
	}
	if !s.Open {
		return nil, closedRoom(s)
	}
	if s.Member(r.Agent) == nil {
		return nil, NotJoined(s, r.Agent)
	}
	e := event.Event{Type: MessageSent, Turn: s.Turn, From: r.Agent}
	if r.To != Everyone {
		m, err := s.addressee(f, r.Agent, r.To)
		if err != nil {
			return nil, err
		}
		e.To = m.AgentID
	}
	p := messagePayload{Body: r.Body, Hint: HintNormal}
	if r.Interrupt {
		p.Hint = HintInterrupt
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
	e := code.New(code.UnknownRecipient, "no active member matches %q", name).
		WithHint("%s", s.whoIsThere(f, self, name)).With("to_agent_id", name)
	if ids := s.activeIDs(f, self); len(ids) > 0 {
		e.With("candidates", ids)
	}
	return nil, e
}

// AnyPerson as the recipient of a question means any person.
const AnyPerson = "human"

// Asked returns whom a question is for: an agent id, [AnyPerson], or "" for [Everyone].
func Asked(s *State, f Facts, self, name string) (string, error) {
	switch name {
	case Everyone:
		return "", nil
	case AnyPerson:
		return name, nil
	}
	m, err := s.addressee(f, self, name)
	if err != nil {
		return "", err
	}
	if m.AgentID == self {
		return "", code.New(code.UnknownRecipient, "%s is you: nobody answers a question of its own", self).
			WithHint("%s", s.whoIsThere(f, self, "")).With("to_agent_id", self)
	}
	return m.AgentID, nil
}

func (s *State) activeIDs(f Facts, except string) []string {
	var ids []string
	for i := range s.Members {
		if m := &s.Members[i]; m.AgentID != except && f.active(s, m) {
			ids = append(ids, m.AgentID)
		}
	}
	return ids
}

func (s *State) applyMessage(e *event.Event) error {
	if e.To != "" {
		if m := s.Member(e.To); m != nil {
			m.Direct++
		}
		return nil
	}
	s.Broadcasts++
	if m := s.Member(e.From); m != nil {
		m.Sent++
	}
	return nil
}

// IsMail reports whether the event is a message that [State.Mail] counts for the
// agent.
func IsMail(e *event.Event, agent string) bool {
	return e.Type == MessageSent && MeantFor(e, agent)
}

// Interrupts reports whether the event is a message that was sent as urgent.
func Interrupts(e *event.Event) bool {
	var p messagePayload
	return e.Type == MessageSent && decode(e, &p) == nil && p.Hint == HintInterrupt
}

// Body returns the text of a message or of a note, "" for another event.
func Body(e *event.Event) string {
	switch e.Type {
	case MessageSent:
		var p messagePayload
		_ = decode(e, &p)
		return p.Body
	case NoteAdded:
		var p NotePayload
		_ = decode(e, &p)
		return p.Body
	}
	return ""
}
