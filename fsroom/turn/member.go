package turn

import (
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// A JoinRequest makes an agent a member, and opens the room if it is not open.
type JoinRequest struct {
	Agent, DisplayName, SessionKind string
	Override                        bool // the id was given for this command and not found out

	// For a room that is opened by this join.
	CanonicalPath, WorkspaceRoot string
	Policy                       Policy
}

// Join returns no events when the agent is a member already.
func Join(s *State, r JoinRequest) []event.Event {
	var events []event.Event
	if !s.Open {
		events = append(events, event.Event{
			Type: RoomOpened, Turn: s.Turn, From: r.Agent,
			Payload: payload(&openedPayload{Format: Format, CanonicalPath: r.CanonicalPath, WorkspaceRoot: r.WorkspaceRoot, Policy: r.Policy}),
		})
	} else if s.Member(r.Agent) != nil {
		return nil
	}
	return append(events, event.Event{
		Type: MemberJoined, Turn: s.Turn, From: r.Agent,
		Payload: payload(&joinedPayload{DisplayName: r.DisplayName, SessionKind: r.SessionKind, Override: r.Override}),
	})
}

// A LeaveResult is what leave and kick answer.
type LeaveResult struct {
	Status            string `json:"status"`
	RoomID            string `json:"room_id"`
	CanonicalPath     string `json:"canonical_path"`
	KickedAgentID     string `json:"kicked_agent_id,omitempty"`
	RemainingMembers  int    `json:"remaining_members"`
	TargetWasOwner    *bool  `json:"target_was_owner,omitempty"`
	TargetWasReserved *bool  `json:"target_was_reserved_for,omitempty"`
}

// StatusEnded is the status of a leave or kick that ended the room.
const StatusEnded = "room_ended"

// Leave takes the agent out. The room ends with it when nobody active remains.
func Leave(s *State, f Facts, agent string) ([]event.Event, LeaveResult, error) {
	if !s.Open {
		return nil, LeaveResult{}, closedRoom(s)
	}
	if s.Member(agent) == nil {
		return nil, LeaveResult{}, NotJoined(s, agent)
	}
	events := []event.Event{{Type: MemberLeft, Turn: s.Turn, From: agent, Reason: "left"}}
	events, res := s.parting(f, events, agent, "left")
	return events, res, nil
}

// parting ends the room if nobody active is left once agent is out.
func (s *State) parting(f Facts, events []event.Event, agent, status string) ([]event.Event, LeaveResult) {
	res := LeaveResult{Status: status, RoomID: s.RoomID, CanonicalPath: s.CanonicalPath, RemainingMembers: len(s.Members) - 1}
	if !f.otherActive(s, agent) {
		events = append(events, event.Event{Type: Closed, Turn: s.Turn, Reason: "nobody active remained"})
		res.Status, res.RemainingMembers = StatusEnded, 0
	}
	return events, res
}

// A KickRequest removes somebody else.
type KickRequest struct {
	Agent, Target, Reason string
	Force                 bool
	Turn                  *int64 // refuse if another turn is the current one; nil: any
}

// Kick removes a member that is gone and silent, or whose presence has run
// out; with Force, any other.
func Kick(s *State, f Facts, r KickRequest) ([]event.Event, LeaveResult, error) {
	if err := CheckKick(r); err != nil {
		return nil, LeaveResult{}, err
	}
	target := s.Member(r.Target)
	switch {
	case !s.Open:
		return nil, LeaveResult{}, closedRoom(s)
	case s.Member(r.Agent) == nil:
		return nil, LeaveResult{}, NotJoined(s, r.Agent)
	case s.checkTurn(f, r.Turn) != nil:
		return nil, LeaveResult{}, s.checkTurn(f, r.Turn)
	case target == nil:
		return nil, LeaveResult{}, code.New(code.UnknownTarget, "%s is not a member of the room", r.Target).
			WithHint("%s", s.whoIsThere(f, r.Agent, r.Target)).With("to_agent_id", r.Target)
	case !r.Force && !s.kickable(f, target):
		return nil, LeaveResult{}, s.notKickable(f, target)
	}
	owner, reserved := s.Owner == r.Target, s.ReservedFor == r.Target
	events := []event.Event{{Type: Kicked, Turn: s.Turn, From: r.Agent, To: r.Target, Reason: r.Reason}}
	events, res := s.parting(f, events, r.Target, "kicked")
	res.KickedAgentID, res.TargetWasOwner, res.TargetWasReserved = r.Target, &owner, &reserved
	return events, res, nil
}

// CheckKick refuses what no room could allow.
func CheckKick(r KickRequest) error {
	if r.Agent == r.Target {
		return code.New(code.CannotKickSelf, "an agent cannot kick itself").WithHint(`leave with "tt leave"`)
	}
	return checkText(r.Reason)
}

// notKickable says why a member is not kicked without force.
func (s *State) notKickable(f Facts, m *Member) error {
	e := code.New(code.TargetActive, "%s is active", m.AgentID).
		WithHint("only a member that is gone or long silent is kicked without --force").With("to_agent_id", m.AgentID)
	if p := f.presence(m.AgentID); p.Process == Gone && !p.Waiting {
		silence, grace := f.silence(m), ms(s.Policy.GoneGrace)
		e.Message = ended(m.AgentID, p) + ", but it was last heard of only " + spoken(silence) + " ago"
		e.WithHint("it can be kicked in %s, or now with --force", spoken(grace-silence+time.Second))
	}
	return e
}

func (s *State) kickable(f Facts, m *Member) bool {
	p := f.presence(m.AgentID)
	if p.Waiting {
		return false
	}
	return f.expired(s, m) || (p.Process == Gone && f.silence(m) > ms(s.Policy.GoneGrace))
}

// End closes a room that outlived its idle time; no events if it did not.
func End(s *State, f Facts) []event.Event {
	if !s.Idle(f) {
		return nil
	}
	return []event.Event{{Type: Closed, Turn: s.Turn, Reason: "idle for longer than idle_room_ttl"}}
}

// Enter makes the agent a member. A room that has outlived its idle time is only
// closed, since its journal goes to the archive before a new one begins: then
// again is true, and Enter is to be asked once more.
func Enter(s *State, f Facts, r JoinRequest) (events []event.Event, again bool) {
	if events := End(s, f); len(events) > 0 {
		return events, true
	}
	return Join(s, r), false
}

// SetPolicy changes the room's limits; no events if nothing changes.
func SetPolicy(s *State, agent string, change func(*Policy) error) ([]event.Event, Policy, error) {
	if !s.Open {
		return nil, Policy{}, closedRoom(s)
	}
	p := s.Policy
	if err := change(&p); err != nil {
		return nil, Policy{}, err
	}
	if p == s.Policy {
		return nil, p, nil
	}
	return []event.Event{{Type: PolicyChanged, Turn: s.Turn, From: agent, Payload: payload(&policyPayload{Policy: p})}}, p, nil
}
