package turn

import (
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// A TakeRequest asks for the turn also against its owner or recipient.
type TakeRequest struct {
	Agent    string
	Lease    string
	Reason   string // why, in the taker's words; it goes into the journal
	Operator bool   // an operator asked for it: no timeout needs to have passed
	Human    bool   // the agent is a person, who need not be a member to take over
	Turn     *int64 // refuse if another turn is the current one; nil: any
	// Join makes a caller that is no member one, with the grant. Without an agent
	// such a caller is refused.
	Join JoinRequest
}

// Take claims the turn if it is there for the asking and takes it over
// otherwise, where the rules allow it.
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
	try := TryRequest{Agent: r.Agent, Lease: r.Lease}
	switch {
	case s.Owner == r.Agent:
		return nil, s.alreadyOwner(), nil
	case s.claimable(f, try), r.Operator && s.Owner == "" && s.ReservedFor == "":
		return s.grant(f, try)
	}
	kind, err := s.mayTake(f, r.Agent)
	if err != nil && !r.Operator {
		return nil, WaitResult{}, err
	}
	if err != nil {
		kind = ReasonOperator
	}
	return s.takeover(f, r, kind)
}

// checkTurn refuses a request that is about a turn which is not the current one.
func (s *State) checkTurn(f Facts, want *int64) error {
	if want == nil || *want == s.Turn {
		return nil
	}
	return s.withSituation(f, code.New(code.TurnMismatch, "the current turn is %d, not %d: %s", s.Turn, *want, s.situation(f)).
		WithHint(`look with "tt state" before you decide again`))
}

// takeAsNewcomer is Take for an agent that is no member. A turn that is free is
// anybody's; to take one from somebody else an agent has to be a member, unless it
// is a person.
func (s *State) takeAsNewcomer(f Facts, r TakeRequest) ([]event.Event, WaitResult, error) {
	if r.Join.Agent != r.Agent {
		return nil, WaitResult{}, NotJoined(s, r.Agent)
	}
	events, joined := Join(s, r.Join), s.Clone()
	for _, e := range events {
		e.Seq, e.CreatedAt = joined.Seq+1, f.Now.Wall
		if err := joined.Apply(&e); err != nil {
			return nil, WaitResult{}, err
		}
	}
	granted, res, err := Take(joined, f, r)
	if takesOver := err != nil || granted[0].Type == Takeover; takesOver && !r.Human {
		return nil, WaitResult{}, NotJoined(s, r.Agent)
	}
	if err != nil {
		return nil, WaitResult{}, err
	}
	return append(events, granted...), res, nil
}

// CheckReason refuses a takeover that does not say why.
func CheckReason(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return code.New(code.ReasonRequired, "a takeover needs a reason").
			WithHint(`say why with --reason "…", or pass --operator-requested if a person asked for it`)
	}
	return checkText(reason)
}

// checkText refuses a reason that could not be written down as it is.
func checkText(reason string) error {
	if !utf8.ValidString(reason) {
		return code.New(code.InvalidBody, "the reason is not valid UTF-8")
	}
	return nil
}

func (s *State) takeover(f Facts, r TakeRequest, kind string) ([]event.Event, WaitResult, error) {
	revoked := s.Owner
	if revoked == "" {
		revoked = s.ReservedFor
	}
	last := s.lastHandoff().Seq
	e := event.Event{
		Type: Takeover, Turn: s.Turn + 1, From: revoked, To: r.Agent, Reason: r.Reason,
		Payload: payload(&grantPayload{Lease: r.Lease, Clock: clockOf(f.Now), Handoff: last, Kind: kind}),
	}
	return []event.Event{e}, WaitResult{
		Status: YourTurn, RoomID: s.RoomID, TurnID: e.Turn, LeaseID: r.Lease,
		Revoked: revoked, Reason: kind, LastHandoff: last,
	}, nil
}

// mayTake says by which right the agent may take over now.
func (s *State) mayTake(f Facts, agent string) (kind string, err error) {
	kind = s.takeoverKind(f, agent)
	if kind == "" {
		return "", s.notAvailable(f, agent)
	}
	if !s.eligible(f, agent, kind) {
		return "", code.New(code.TakeoverIneligible, "%s wrote the pending handoff, and another active member can take it up", agent).
			WithHint(`wait with "tt wait": the turn is yours if nobody else wants it`).
			With("reserved_for", s.ReservedFor).With("room_state", s.Status(f))
	}
	return kind, nil
}

// takeoverKind is what has happened that makes a takeover possible, "" if
// nothing has.
func (s *State) takeoverKind(f Facts, agent string) string {
	switch status := s.Status(f); {
	case s.Owner == agent, s.ReservedFor == agent:
		return ""
	case status == StateOwnerGone:
		return ReasonOwnerGone
	case status == StateStaleOwner:
		return ReasonOwnerTimeout
	case status == StateRecipientGone:
		return ReasonRecipientGone
	case status == StateReserved && f.claimExpired(s):
		return ReasonClaimTimeout
	}
	return ""
}

// eligible keeps the author of a handoff from taking it back while somebody
// else could take it up. The recipient that failed to does not count.
func (s *State) eligible(f Facts, agent, kind string) bool {
	if kind != ReasonClaimTimeout && kind != ReasonRecipientGone {
		return true
	}
	return s.Pending.From != agent || !f.otherActive(s, agent, s.ReservedFor)
}

func (s *State) notAvailable(f Facts, agent string) error {
	status := s.Status(f)
	e := code.New(code.TakeoverNotAvailable, "there is nothing to take over: %s", s.situation(f)).
		With("room_state", status).With("current_turn_id", s.Turn)
	if s.Owner != "" {
		e.With("current_owner", s.Owner)
	}
	if s.ReservedFor != "" {
		e.With("reserved_for", s.ReservedFor)
	}
	return e.WithHint(`wait with "tt wait"; if a person wants it now: "tt take --operator-requested --reason …"`)
}

// situation says in words who has the turn.
func (s *State) situation(f Facts) string {
	lease, claim := s.deadlines(f)
	switch {
	case s.Owner != "" && f.leaseExpired(s):
		return "the stick is held by " + s.Owner + ", whose lease ran out at " + lease.Format("15:04:05") + " UTC"
	case s.Owner != "":
		return "the stick is held by " + s.Owner + ", lease until " + lease.Format("15:04:05") + " UTC"
	case s.ReservedFor != "":
		return "the turn is reserved for " + s.ReservedFor + " until " + claim.Format("15:04:05") + " UTC"
	case s.Pending.Preferred != "":
		return "the handoff is offered to " + s.Pending.Preferred + " first"
	case s.Pending.Seq != 0:
		return "the handoff is offered to the other members first"
	}
	return "nobody has the stick"
}

func closedRoom(s *State) error {
	return code.New(code.RoomClosed, "the room at %s has ended", s.CanonicalPath).
		WithHint(`open it again with "tt join"`).With("room_id", s.RoomID)
}
