package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// A TakeRequest asks for the turn, also when another agent owns it or is its recipient. To one with Auto a reservation
// for an agent that cannot be reached counts as free.
type TakeRequest struct {
	TryRequest               // that would claim it
	Reason     string        // why, in the taker's words; it goes into the journal
	Operator   bool          // an operator asked for it: no timeout needs to have passed
	Human      bool          // the agent is a person, who need not be a member to take over
	Turn       *int64        // refuse if another turn is the current one; nil: any
	Changed    []event.Event // what the turn that is taken over has changed, as far as it is known: it goes before the takeover
	// Join makes an agent that is not a member join in the same change. If its Agent
	// is empty, such an agent is refused.
	Join JoinRequest
}

// Take claims the turn if the agent may claim it, and otherwise takes it over if the
// rules allow that.
func Take(s *State, f Facts, r TakeRequest) ([]event.Event, WaitResult, error) {
	if err := CheckReason(r.Reason); err != nil {
		return nil, WaitResult{}, err
	}
	if !s.Open {
		return nil, WaitResult{}, closedRoom(s)
	}
	if err := s.checkTurn(f, r.Turn); err != nil {
		return nil, WaitResult{}, err
	}
	if s.Member(r.Agent) == nil {
		return s.takeAsNewcomer(f, r)
	}
	elsewhere := s.HostOf(r.Agent, f.Host)
	switch {
	case s.Owner == r.Agent && elsewhere == "" && f.Window == 0:
		return nil, s.alreadyOwner(), nil
	case s.claimable(f, r.TryRequest), r.Operator && s.Owner == "" && s.ReservedFor == "":
		return s.grant(f, r.TryRequest)
	}
	kind, err := s.mayTake(f, r.Agent)
	if f.Window != 0 && err != nil && !r.Operator {
		return nil, s.NotYet(f), nil
	}
	if elsewhere != "" { // an agent that has lost its host takes the turn from itself as another one would
		if kind, err = s.takeoverReason(f), nil; kind == "" {
			err = s.AgentElsewhere(f)
		}
	}
	reserved := s.Owner == "" && s.ReservedFor != ""
	unreached := []string{ReachUnheard, ReachNextPrompt, ReachNone}
	if err != nil && r.Auto && reserved && slices.Contains(unreached, s.Reach(f, s.ReservedFor)) &&
		(s.eligible(f, r.Agent, ReasonClaimTimeout) || s.Pending.Auto && !s.IsWanted(f, r.Agent)) {
		kind, err = ReasonClaimTimeout, nil
	}
	if err != nil && !r.Operator {
		return nil, WaitResult{}, err
	}
	if err != nil {
		kind = ReasonOperator
	}
	revoked, last := cmp.Or(s.Owner, s.ReservedFor), s.lastHandoff().Seq
	c, _ := changeAmong(r.Changed)
	events, res, err := s.granting(f, event.Event{Type: Takeover, From: revoked, Reason: r.Reason}, r.TryRequest,
		grantPayload{Handoff: last, Kind: kind, Before: c.Before, At: c.At}, WaitResult{Revoked: revoked, LastHandoff: last})
	return append(slices.Clip(r.Changed), events...), res, err
}

// takeAsNewcomer is Take for an agent that is not a member. Any agent may claim a free turn, and take over
// one that any member may. To take it from an agent that works, for an operator, it must be a member, or a person.
func (s *State) takeAsNewcomer(f Facts, r TakeRequest) (events []event.Event, res WaitResult, err error) {
	if r.Join.Agent != r.Agent {
		return nil, WaitResult{}, NotJoined(s, r.Agent)
	}
	events, err = Joining(s, f, r.Join, func(joined *State) (granted []event.Event, err error) {
		granted, res, err = Take(joined, f, r)
		if (err != nil || res.Reason == ReasonOperator) && !r.Human {
			return nil, NotJoined(s, r.Agent)
		}
		return granted, err
	})
	if err != nil {
		return nil, WaitResult{}, err
	}
	return events, res, nil
}

// CheckReason refuses a blank reason, and one that is not UTF-8.
func CheckReason(reason string) error {
	return checkReason(reason, "a takeover", hintGiveReason)
}

func checkReason(reason, of, hint string) error {
	if strings.TrimSpace(reason) == "" {
		return code.New(code.ReasonRequired, "%s needs a reason", of).WithHint("%s", hint)
	}
	return checkText(reason)
}

// checkText refuses a reason that the journal could not keep unchanged.
func checkText(reason string) error {
	if !utf8.ValidString(reason) {
		return code.New(code.InvalidBody, "the reason is not valid UTF-8")
	}
	return nil
}

// mayTake returns the reason why the agent may take over now, or a refusal.
func (s *State) mayTake(f Facts, agent string) (kind string, err error) {
	if kind = s.takeoverReason(f); kind == "" {
		return "", s.notAvailable(f)
	}
	if !s.eligible(f, agent, kind) {
		return "", code.New(code.TakeoverIneligible, "%s wrote the pending handoff, and another active member can take it up", agent).
			WithHint(hintOthersFirst).
			With("reserved_for", s.ReservedFor).With("room_state", s.Status(f))
	}
	return kind, nil
}

// eligible reports whether the agent may take over for the reason kind. The author
// of a handoff may not take it back while another active member could take it up,
// apart from the recipient that did not.
func (s *State) eligible(f Facts, agent, kind string) bool {
	if kind != ReasonClaimTimeout && kind != ReasonRecipientGone {
		return true
	}
	return s.Pending.From != agent || !f.otherActive(s, agent, s.ReservedFor)
}

// notAvailable refuses a takeover for which there is no reason.
func (s *State) notAvailable(f Facts) error {
	why := s.situation(f)
	if list := s.Trouble(f); len(list) > 0 && list[0].Until != nil { // which is before the end of the lease
		why = list[0].Sentence()
	}
	e := s.withSituation(f, code.New(code.TakeoverNotAvailable, "there is nothing to take over: %s", why))
	if s.ReservedFor != "" {
		e.With("reserved_for", s.ReservedFor)
	}
	return e.WithHint(hintNoTakeover)
}

// Evidence says why a takeover is possible. An agent reads it before it decides
// whether to take over.
type Evidence struct {
	LastSeenAt *event.Time `json:"last_seen_at,omitzero"` // when the owner or recipient was last heard of
	GoneSince  *event.Time `json:"gone_since,omitzero"`   // nil: not gone, or it is not known since when
	Sentence   string      `json:"evidence,omitempty"`    // what has ended, or for how long there was silence
	Hint       string      `json:"hint,omitempty"`        // how to make sure
}

// evidence returns the evidence for a takeover of the given kind, one of the
// takeover reasons.
func (s *State) evidence(f Facts, kind string) Evidence {
	who := cmp.Or(s.Owner, s.ReservedFor)
	e := Evidence{Hint: fill(hintMakeSure, who, 0)}
	m := s.Member(who)
	if m == nil {
		return e
	}
	p := f.presence(who)
	if f.Gone(s, m) && !p.OutlivesProcess {
		e.Hint = fill(hintEnded, who, 0)
	}
	e.LastSeenAt, e.GoneSince = known(f.lastSeen(m)), f.goneSince(s, m)
	var sentences []string
	if words := grounds[kind].evidence; words != "" {
		sentences = append(sentences, fill(words, who, 0, "{past}", spoken(f.Now.Wall.Sub(f.lease(s).End(f.Now).Time)), "{since}",
			f.activity(who).Since.UTC().Format(utcClock), "{ttl}", spoken(ms(s.Policy.ClaimTTL))))
	}
	if sentences = append(sentences, s.troubleFacts(f, kind)...); len(sentences) == 0 {
		over := ended(who, p)
		sentences = append(sentences, over.Fact())
	}
	silent := fmt.Sprintf("%s was last heard of %s ago", who, spoken(f.silence(m)))
	e.Sentence = strings.Join(append(sentences, silent), "; ")
	return e
}

// troubleFacts says in words what is wrong with the holder, but for one ground. A guardian ends with its agent:
// that is no fact of its own.
func (s *State) troubleFacts(f Facts, but string) (facts []string) {
	ended := false
	for _, t := range s.Trouble(f) {
		ended = ended || t.What == HarnessEnded
		if (t.What != GuardianEnded || !ended) && (t.row == "" || t.row != but) {
			facts = append(facts, t.Fact())
		}
	}
	return facts
}

// ended says in words that a member has ended.
func (p Presence) ended() string {
	switch {
	case p.SessionEnded:
		return "its session has ended"
	case p.Guardian:
		return "its guardian has ended"
	}
	return "its process has ended"
}

// goneSince returns when the member began to count as gone. It is nil if the member
// is not gone, or if the end of its process was not seen.
func (f Facts) goneSince(s *State, m *Member) *event.Time {
	if !f.Gone(s, m) {
		return nil
	}
	p := f.presence(m.AgentID)
	since := p.EndedAt
	if p.OutlivesProcess {
		if silent := f.lastSeen(m).Add(ms(s.Policy.GoneGrace)); silent.After(since) {
			since = silent
		}
	}
	if since.After(f.Now.Wall.Time) {
		return nil
	}
	return known(since)
}
