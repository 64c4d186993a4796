package turn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// A Hearing says how an agent can hear of news although it runs no command, as far as the
// machine knows. It is zero for an agent of which nothing is known.
type Hearing struct {
	How     string        // what listens for it while its model is idle; "": nothing
	Hooks   bool          // the hooks of its harness show it news when its model works
	Busy    bool          // its model is in a turn
	Asks    bool          // its model waits for an answer of its user
	Stopped bool          // its user has ended the last turn, and it takes nothing up until its user's next prompt
	Unheard bool          // it did not answer the last notification
	Within  time.Duration // how long its harness may take until it sees what How has for it; 0: it is told at once
	// How long it is until it is woken again for messages of agents, and for turns that agents
	// release: it was as often lately as it may be. 0: it is woken, or was for the turn that is free.
	// Spent is negative if no message wakes it, see tt listen --off.
	Spent, TurnsSpent time.Duration
	// UnheardIn is how long it is until the listener counts as unheard, if it does not
	// notice the last notification; 0: it has noticed it, or is unheard.
	UnheardIn time.Duration
	Notified  time.Time // when the listener was last notified; zero: never
}

// ByHold is the [Hearing.How] of a hook that holds the end of a turn.
const ByHold = "hold"

// Soon says when the model of an agent that is ready is told: at once, or within a time.
func Soon(within time.Duration) string {
	if within == 0 {
		return "at once"
	}
	return "within " + spoken(within)
}

// How an agent can be reached.
const (
	ReachWaiting    = "waiting"     // it is in tt wait
	ReachReady      = "ready"       // it listens, and its model is idle
	ReachBusy       = "busy"        // it listens, and its model is in a turn
	ReachUnheard    = "unheard"     // it listens, but did not answer the last notification
	ReachNextPrompt = "next_prompt" // the hooks of its harness show it news when its model works; also one that was woken too often lately
	ReachNone       = "none"        // nothing tells it
)

// reaches are the words for the ways in which an agent can be reached: in a word or two, and when and by what it is told.
var reaches = map[string]struct{ short, told string }{
	ReachWaiting:    {"", "waits"},
	ReachReady:      {"ready", "{soon} by {how}"},
	ReachBusy:       {"busy", "with the next use of a tool, by {how}"},
	ReachUnheard:    {"unheard", "by {how}, which did not answer the last time"},
	ReachNextPrompt: {"next prompt", "at the next prompt"},
	ReachNone:       {"deaf", "only when it asks"},
}

// ReachWords say when and by what an agent is told of news that [State.Reach] found to be reached so, and in a
// word or two how, "" if it waits.
func ReachWords(reach, how string, within time.Duration) (told, short string) {
	r := reaches[reach]
	return strings.NewReplacer("{soon}", Soon(within), "{how}", how).Replace(r.told), r.short
}

// Note says why an agent may not hear of news as soon as it seems, "" if nothing is known.
func (h Hearing) Note() string {
	switch {
	case h.Asks:
		return "it asks its user for a permission"
	case h.Stopped:
		return "its user has stopped it or closed its window"
	case h.How == "":
	case h.Spent > 0 && h.TurnsSpent > 0:
		return fmt.Sprintf("it was woken often lately: messages of agents wake it again %s, and turns that they release %s", Soon(h.Spent), Soon(h.TurnsSpent))
	case h.Spent > 0:
		return "it was woken often lately: messages of agents wake it again " + Soon(h.Spent)
	case h.Spent < 0:
		return "it listens for turns alone"
	case h.TurnsSpent > 0:
		return "it was woken often lately: turns that agents release wake it again " + Soon(h.TurnsSpent)
	}
	return ""
}

// Reach returns how a member can be reached at this moment by a message of an agent, one of the
// Reach constants. An agent that is gone or no member cannot be.
func (s *State) Reach(f Facts, id string) string { return s.reach(f, id, f.hearing(id).Spent != 0) }

// reachOfTurn is Reach for a turn that an agent has released, or would.
func (s *State) reachOfTurn(f Facts, id, from string) string {
	named := s.Owner == "" && s.Pending.Direct && s.ReservedFor == id
	return s.reach(f, id, !named && !s.IsPerson(from) && !f.presence(id).Wants && f.hearing(id).TurnsSpent != 0)
}

// reach is Reach for something of which the agent is not told as long as it is spent.
func (s *State) reach(f Facts, id string, spent bool) string {
	h, m := f.hearing(id), s.Member(id)
	if m == nil {
		return ReachNone
	}
	switch {
	case f.isWaiting(id):
		return ReachWaiting
	case h.How == "" && !h.Hooks, f.Gone(s, m):
		return ReachNone
	case h.How != "" && h.Unheard:
		return ReachUnheard
	case f.presence(id).Stopped: // once it goes on
		return ReachNextPrompt
	case h.How != "" && h.Busy:
		return ReachBusy
	case h.How != "" && !spent:
		return ReachReady
	}
	return ReachNextPrompt
}

// When the recipient of a message hears of it.
const (
	DeliveryWaiting      = "waiting"        // at once: it ends its wait
	DeliveryListening    = "listening"      // at once: its listener is notified
	DeliveryNextToolCall = "next_tool_call" // when its model next uses a tool
	DeliveryNextPrompt   = "next_prompt"    // when its model next works, or it runs a command
	DeliveryNextCommand  = "next_command"   // with its next command, which it is likely to run soon
	DeliveryNobody       = "nobody"         // when it asks by itself
)

// atWork is for how long after its last command an agent is likely to run another one.
const atWork = 5 * time.Minute

// deliveries are all, the soonest first.
var deliveries = []string{DeliveryWaiting, DeliveryListening, DeliveryNextToolCall, DeliveryNextPrompt, DeliveryNextCommand, DeliveryNobody}

// Delivery returns when a message is heard of, one of the Delivery constants: by its
// recipient, or by the first of the other members if it is to the room. A message to the
// room wakes no idle model unless it is urgent. For next_prompt and nobody it also
// returns a hint for the sender, and for listening where that may not be at once.
func (s *State) Delivery(f Facts, message *event.Event) (delivery, hint string) {
	if message.To != "" {
		delivery = s.delivery(f, message.From, message.To, true)
		if delivery == DeliveryListening {
			return delivery, listeningHint(f.hearing(message.To), message.To)
		}
		return delivery, deliveryHint(delivery, message.To, message.From)
	}
	best := len(deliveries) - 1
	for _, id := range s.Others(message.From) {
		if i := slices.Index(deliveries[:best], s.delivery(f, message.From, id, talk.Interrupts(message))); i >= 0 {
			best = i
		}
	}
	return deliveries[best], deliveryHint(deliveries[best], Everyone, message.From)
}

// delivery returns when one member hears of a message. wakes is whether the message
// notifies listeners.
func (s *State) delivery(f Facts, from, id string, wakes bool) string {
	spent := f.hearing(id).Spent
	reach := s.reach(f, id, spent < 0 || spent > 0 && !s.IsPerson(from))
	switch {
	case reach == ReachWaiting && f.presence(id).Inbox:
		return DeliveryWaiting
	case reach == ReachReady && wakes:
		return DeliveryListening
	case reach == ReachBusy:
		return DeliveryNextToolCall
	case reach == ReachWaiting, reach == ReachReady, reach == ReachNextPrompt:
		return DeliveryNextPrompt
	case reach == ReachNone && s.worksOn(f, id):
		return DeliveryNextCommand
	}
	return DeliveryNobody
}

// worksOn reports whether the member is likely to run a command soon: it ran one lately, or
// holds the turn with a process or a guardian that lives.
func (s *State) worksOn(f Facts, id string) bool {
	m, p := s.Member(id), f.presence(id)
	switch {
	case m == nil, p.Stopped, p.Process == Gone && !p.Guardian, f.Gone(s, m):
		return false
	case f.silence(m) <= atWork:
		return true
	}
	return s.Owner == id && (p.Process == Alive || f.Support != nil && f.Support().Guardian == Alive)
}
