package turn

import (
	"encoding/json"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// What a wait can end with.
const (
	YourTurn          = "your_turn"
	NotYet            = "not_yet"
	TakeoverAvailable = "takeover_available"
	WaitClosed        = "closed"
)

// Why a turn was granted, and why a takeover is possible.
const (
	ReasonOpen     = "open_claim"
	ReasonSequence = "sequence"
	ReasonDirect   = "direct_pass"
	ReasonOwner    = "already_owner"

	ReasonClaimTimeout  = "claim_timeout"
	ReasonOwnerTimeout  = "owner_timeout"
	ReasonOwnerGone     = "owner_gone"
	ReasonRecipientGone = "recipient_gone"
	ReasonOperator      = "operator_override"
)

// authorGraces is how many waiter graces the author of a pending handoff stays
// behind the others.
const authorGraces = 6

// A WaitResult is what wait, try and take answer. Which fields are set depends
// on Status.
type WaitResult struct {
	Status         string
	RoomID         string
	RoomState      string
	TurnID         int64
	LeaseID        string
	Handoff        json.RawMessage
	From           string
	Revoked        string
	Reason         string
	LastHandoff    int64
	CurrentOwner   string
	ReservedFor    string
	LeaseExpiresAt *event.Time
	ClaimExpiresAt *event.Time
	GuardianPID    int
	Evidence       Evidence // of takeover_available
	Warning        string   // about the room that this command has made

	// HandoffSeq is where the handoff that came with the turn stands in the
	// journal; the caller fetches it. Zero: none.
	HandoffSeq int64
}

// A TryRequest asks for the turn if it is there to be had.
type TryRequest struct {
	Agent string
	Lease string // the lease id to issue, never used before
	Park  bool   // only take what is meant for me: a reservation or a preference

	Waited time.Duration // for how long the agent has waited for this
}

// Try is one pass of waiting. With events it grants the turn; without, it says
// how things stand. It never takes over.
func Try(s *State, f Facts, r TryRequest) ([]event.Event, WaitResult, error) {
	if !s.Open {
		return nil, WaitResult{Status: WaitClosed, RoomID: s.RoomID}, nil
	}
	if s.Member(r.Agent) == nil {
		return nil, WaitResult{}, NotJoined(s, r.Agent)
	}
	switch {
	case s.Owner == r.Agent:
		return nil, s.alreadyOwner(), nil
	case s.claimable(f, r):
		return s.grant(f, r)
	}
	if kind := s.takeoverKind(f, r.Agent); kind != "" && s.eligible(f, r.Agent, kind) {
		return nil, s.offer(f, kind), nil
	}
	return nil, s.NotYet(f), nil
}

// claimable reports whether the turn is the agent's for the asking.
func (s *State) claimable(f Facts, r TryRequest) bool {
	switch {
	case s.Owner != "":
		return false
	case s.ReservedFor != "":
		// Also after the claim time: a reservation stands until a takeover commits.
		return s.ReservedFor == r.Agent
	case r.Park && s.Pending.Preferred != r.Agent:
		return false
	}
	return !s.deferred(f, r.Agent)
}

// deferred reports whether the pending handoff is still kept for others.
func (s *State) deferred(f Facts, agent string) bool {
	grace := ms(s.Policy.WaiterGrace)
	switch p := s.Pending; {
	case p.Seq == 0:
		return false
	case p.From == agent:
		return !f.Now.Expired(p.At, authorGraces*grace) && f.otherActive(s, agent)
	default:
		return p.Preferred != "" && p.Preferred != agent && !f.Now.Expired(p.At, grace)
	}
}

func (s *State) grant(f Facts, r TryRequest) ([]event.Event, WaitResult, error) {
	reason := ReasonOpen
	switch {
	case s.Pending.Direct:
		reason = ReasonDirect
	case s.Pending.Seq != 0:
		reason = ReasonSequence
	}
	e := event.Event{
		Type: Claim, Turn: s.Turn + 1, From: s.Pending.From, To: r.Agent,
		Payload: payload(&grantPayload{Lease: r.Lease, Clock: clockOf(f.Now), Handoff: s.Pending.Seq, Kind: reason, Waited: r.Waited.Milliseconds()}),
	}
	res := WaitResult{
		Status: YourTurn, RoomID: s.RoomID, TurnID: e.Turn, LeaseID: r.Lease,
		From: s.Pending.From, Reason: reason, HandoffSeq: s.Pending.Seq,
	}
	return []event.Event{e}, res, nil
}

// alreadyOwner repeats the grant with its handoff: a wait that was killed before
// it could print has told nobody. The lease may have expired; it is good until
// somebody takes over.
func (s *State) alreadyOwner() WaitResult {
	return WaitResult{
		Status: YourTurn, RoomID: s.RoomID, TurnID: s.Turn, LeaseID: s.Grant.Lease,
		From: s.Grant.Handoff.From, Reason: ReasonOwner, HandoffSeq: s.Grant.Handoff.Seq,
	}
}

func (s *State) offer(f Facts, kind string) WaitResult {
	return WaitResult{
		Status: TakeoverAvailable, RoomID: s.RoomID, TurnID: s.Turn, RoomState: s.Status(f), Reason: kind,
		CurrentOwner: s.Owner, ReservedFor: s.ReservedFor, Evidence: s.evidence(f, kind),
	}
}

// NotYet is the result of a request for a turn that is not to be had.
func (s *State) NotYet(f Facts) WaitResult {
	r := WaitResult{
		Status: NotYet, RoomID: s.RoomID, RoomState: s.Status(f), TurnID: s.Turn,
		CurrentOwner: s.Owner, ReservedFor: s.ReservedFor,
	}
	r.LeaseExpiresAt, r.ClaimExpiresAt = s.deadlines(f)
	return r
}

// NotJoined refuses an agent that is not a member.
func NotJoined(s *State, agent string) error {
	return code.New(code.NotJoined, "%s is not a member of the room at %s", agent, s.CanonicalPath).
		WithHint(`join it with "tt join"`).With("agent_id", agent).With("room_id", s.RoomID)
}
