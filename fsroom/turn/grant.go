package turn

import (
	"encoding/json"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// The statuses of a [WaitResult].
const (
	YourTurn          = "your_turn"
	NotYet            = "not_yet"
	TakeoverAvailable = "takeover_available"
	WaitClosed        = "closed"
	WaitInbox         = "inbox" // something has come for the agent
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
	ReasonOwnerIdle     = "owner_idle"
	ReasonOwnerLimited  = "owner_limited"
	ReasonOperator      = "operator_override"
)

// authorGraces is how many grace times the author of a pending handoff must leave it
// to other active members.
const authorGraces = 6

// A WaitResult is what wait, try and take answer. Status decides which other fields
// are set.
type WaitResult struct {
	Status    string          `json:"status"`
	RoomID    string          `json:"room_id"`
	RoomState string          `json:"room_state,omitempty"`
	TurnID    int64           `json:"turn_id"`
	LeaseID   string          `json:"lease_id,omitempty"`
	Handoff   json.RawMessage `json:"handoff,omitempty"`
	// HandoffLost says that the journal has lost the event HandoffSeq. The caller sets it.
	HandoffLost    bool            `json:"handoff_lost,omitempty"`
	Verified       json.RawMessage `json:"verified,omitempty"` // with your_turn, the verdicts on the tree; set by the caller
	From           string          `json:"from_agent_id,omitempty"`
	Revoked        string          `json:"revoked_agent_id,omitempty"`
	Reason         string          `json:"reason,omitempty"`
	LastHandoff    int64           `json:"last_handoff_event_seq,omitempty"`
	CurrentOwner   string          `json:"current_owner,omitempty"`
	OwnerSince     event.Time      // when the turn of CurrentOwner began, with not_yet; not part of the result's JSON
	ReservedFor    string          `json:"reserved_for,omitempty"`
	LeaseExpiresAt *event.Time     `json:"lease_expires_at,omitzero"`
	ClaimExpiresAt *event.Time     `json:"claim_expires_at,omitzero"`
	GuardianPID    int             `json:"guardian_pid,omitempty"`
	GrantedTo      int             `json:"granted_to_pid,omitempty"` // with not_yet: the pid of the process of the same agent that was granted the turn
	HeldBy         int             `json:"held_by_pid,omitempty"`    // the pid of the process of the agent's session that took the turn, in another window
	Briefing       Briefing        `json:",inline"`                  // with your_turn; set by the caller
	Evidence       Evidence        `json:",inline"`                  // with takeover_available; its Hint also with not_yet, set by the caller
	Inbox          any             `json:"inbox,omitempty"`          // with inbox, and with closed what came just before; set by the caller
	Warning        string          `json:"warning,omitempty"`        // about the room that this command has opened
	Away           string          `json:"engine,omitempty"`         // with not_yet, since when the engine could not be reached; set by the caller

	Parked bool // with not_yet: the agent could have the turn, but asked only for what is meant for it; not part of the result's JSON

	// HandoffSeq is the event_seq of the handoff that came with the turn, 0 if there
	// is none. The caller reads it from the journal and sets Handoff.
	HandoffSeq int64
}

// Shape implements [wire.Shaped].
func (r *WaitResult) Shape() any {
	if r.Status == WaitClosed {
		return &struct {
			Status string `json:"status"`
			RoomID string `json:"room_id"`
			From   string `json:"from_agent_id,omitempty"`
			Reason string `json:"reason,omitempty"`
			Hint   string `json:"hint,omitempty"`
			Inbox  any    `json:"inbox,omitempty"`
		}{r.Status, r.RoomID, r.From, r.Reason, r.Evidence.Hint, r.Inbox}
	}
	type plain WaitResult
	return (*plain)(r)
}

// A TryRequest asks for the turn if the agent may claim it.
type TryRequest struct {
	Agent string
	Lease string // the lease id to issue, never used before
	Park  bool   // claim only a turn that is reserved for the agent or offered to it first

	Waited time.Duration // how long the agent has waited
	Woken  bool          // it was woken for the handoff that is pending
	Auto   bool          // a hook asks for the agent
}

// Try is one pass of waiting. If it returns events they grant the turn; if not, the
// result says what the agent waits for. Try never takes over.
func Try(s *State, f Facts, r TryRequest) ([]event.Event, WaitResult, error) {
	if !s.Open {
		return nil, WaitResult{Status: WaitClosed, RoomID: s.RoomID}, nil
	}
	if s.Member(r.Agent) == nil {
		return nil, WaitResult{}, NotJoined(s, r.Agent)
	}
	switch {
	case s.Owner == r.Agent && f.Window == 0:
		return nil, s.alreadyOwner(), nil
	case s.claimable(f, r):
		return s.grant(f, r)
	}
	if kind := s.takeoverReason(f); kind != "" && s.eligible(f, r.Agent, kind) {
		res := s.offer(f, kind)
		res.HeldBy = f.Window
		return nil, res, nil
	}
	res := s.NotYet(f)
	if r.Park {
		r.Park = false
		res.Parked = s.claimable(f, r)
	}
	return nil, res, nil
}

// claimable reports whether the agent may claim the turn.
func (s *State) claimable(f Facts, r TryRequest) bool {
	switch {
	case s.Owner != "":
		return false
	case s.ReservedFor != "":
		// A reservation is good until a takeover commits, also after its deadline.
		return s.ReservedFor == r.Agent
	case r.Park && s.Pending.Preferred != r.Agent:
		return false
	}
	return !s.deferred(f, r.Agent)
}

// deferred reports whether the pending handoff is offered to other members first.
func (s *State) deferred(f Facts, agent string) bool {
	switch p := s.Pending; {
	case p.Seq == 0:
		return false
	case p.From == agent && !p.Auto: // who releases by a hook leaves it to those who want it
		early := !f.Now.Expired(p.At, authorGraces*ms(s.Policy.WaiterGrace))
		first, _ := s.alone(f)
		return (early || p.Listens && first != "") && f.otherActive(s, agent)
	}
	first, _ := s.alone(f)
	return first != "" && first != agent
}

// alone returns to which member alone the free turn is offered, and until when; "" if any may claim it. One
// that was notified has longer, unless it turns out that it does not hear.
func (s *State) alone(f Facts) (first string, until *event.Time) {
	p := s.Pending
	if s.Owner != "" || s.ReservedFor != "" || p.Preferred == "" || f.Now.Expired(p.At, s.preference()) {
		return "", nil
	}
	if m := s.Member(p.Preferred); p.Listens && (m == nil || !f.isWaiting(m.AgentID) && !s.listens(f, m)) {
		return "", nil
	}
	end := f.Now.End(p.At, s.preference())
	return p.Preferred, &end
}

// preference returns how long the pending handoff is offered to the preferred member.
func (s *State) preference() time.Duration {
	if s.Pending.Listens {
		return ms(s.Policy.WakeGrace)
	}
	return ms(s.Policy.WaiterGrace)
}

// grant returns the claim of the turn.
func (s *State) grant(f Facts, r TryRequest) ([]event.Event, WaitResult, error) {
	reason, from, handoff := ReasonOpen, s.Pending.From, s.Pending.Seq
	switch {
	case s.Pending.Unchanged:
		if handoff, from = s.Pending.Given, s.Pending.GivenFrom; handoff != 0 {
			reason = ReasonSequence
		}
	case s.Pending.Direct:
		reason = ReasonDirect
	case s.Pending.Seq != 0:
		reason = ReasonSequence
	}
	return s.granting(f, event.Event{Type: Claim, From: from}, r, grantPayload{Handoff: handoff, Kind: reason, Woken: r.Woken},
		WaitResult{From: from, HandoffSeq: handoff})
}

// granting returns the event that gives the agent the next turn, and what it is answered, as a claim or a takeover says beside that.
func (s *State) granting(f Facts, e event.Event, r TryRequest, p grantPayload, res WaitResult) ([]event.Event, WaitResult, error) {
	p.Lease, p.TTL, p.Host, p.Clock = r.Lease, s.Policy.OwnerLeaseTTL, f.Host, clockOf(f.Now)
	p.Waited, p.Auto = r.Waited.Milliseconds(), r.Auto
	e.Turn, e.To, e.Payload = s.Turn+1, r.Agent, payload(&p)
	res.Status, res.RoomID, res.TurnID, res.LeaseID, res.Reason = YourTurn, s.RoomID, e.Turn, r.Lease, p.Kind
	return []event.Event{e}, res, nil
}

// alreadyOwner returns the grant again, with its handoff: a wait may have been
// killed between the commit and its output. An expired lease is good until a
// takeover commits.
func (s *State) alreadyOwner() WaitResult {
	return WaitResult{
		Status: YourTurn, RoomID: s.RoomID, TurnID: s.Turn, LeaseID: s.Grant.Lease,
		From: s.Grant.Handoff.From, Reason: ReasonOwner, HandoffSeq: s.Grant.Handoff.Seq,
	}
}

// offer returns the result for an agent that may take over.
func (s *State) offer(f Facts, kind string) WaitResult {
	return WaitResult{
		Status: TakeoverAvailable, RoomID: s.RoomID, TurnID: s.Turn, RoomState: s.Status(f), Reason: kind,
		CurrentOwner: s.Owner, ReservedFor: s.ReservedFor, Evidence: s.evidence(f, kind),
	}
}

// WasClosed returns the result for an agent that asks for the turn of a room of which it was a member when
// that was closed, with so many messages that it has not seen.
func WasClosed(room, by, reason string, unseen int) WaitResult {
	hint := hintReopen
	if unseen > 0 {
		hint += "; " + code.Count(unseen, "message") + " that you have not seen: tt log"
	}
	return WaitResult{Status: WaitClosed, RoomID: room, From: by, Reason: reason, Evidence: Evidence{Hint: hint}}
}

// NotYet returns the result for an agent that has to wait.
func (s *State) NotYet(f Facts) WaitResult {
	r := WaitResult{
		Status: NotYet, RoomID: s.RoomID, RoomState: s.Status(f), TurnID: s.Turn,
		CurrentOwner: s.Owner, OwnerSince: s.Grant.At.Wall, ReservedFor: s.ReservedFor, HeldBy: f.Window,
	}
	r.LeaseExpiresAt, r.ClaimExpiresAt = s.deadlines(f)
	return r
}

// NotJoined refuses an agent that is not a member.
func NotJoined(s *State, agent string) *code.Error {
	return s.explain(code.New(code.NotJoined, "%s is not a member of the room at %s", agent, s.CanonicalPath).
		WithHint(hintJoin).With("agent_id", agent).With("room_id", s.RoomID), agent)
}
