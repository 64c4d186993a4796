package turn

import (
	"cmp"
	"fmt"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// A JoinRequest makes an agent a member, and opens the room if it is closed.
//
// An observer takes part in the talk, and not in the turns: it can be written to and
// asked, and a turn can be assigned to it by name, but it is never the fairest member,
// it is not the other active member for whom an author has to wait, and it does not keep
// the room open. It may take the turn, and is the holder like any other then.
type JoinRequest struct {
	Agent, DisplayName, SessionKind string
	Override                        bool // the agent id was given with the command, not detected
	Observer                        bool // as an observer, if it is not a member yet

	// For a room that is opened by this join.
	CanonicalPath, WorkspaceRoot string
	Policy                       Policy
}

// Join makes the agent a member, and an observer that joins without Observer a full
// member. It returns no events for an agent that is one already.
func Join(s *State, r JoinRequest) []event.Event {
	var events []event.Event
	if !s.Open {
		events = append(events, event.Event{
			Type: RoomOpened, Turn: s.Turn, From: r.Agent,
			Payload: payload(&openedPayload{Format: Format, CanonicalPath: r.CanonicalPath, WorkspaceRoot: r.WorkspaceRoot, Policy: r.Policy}),
		})
	} else if m := s.Member(r.Agent); m != nil && (!m.Observer || r.Observer) {
		return nil
	}
	return append(events, event.Event{
		Type: MemberJoined, Turn: s.Turn, From: r.Agent,
		Payload: payload(&joinedPayload{DisplayName: r.DisplayName, SessionKind: r.SessionKind, Override: r.Override, Observer: r.Observer}),
	})
}

// Joining lets an agent join and act in one change: it returns the events of the join,
// if the agent is not a member of the open room, and those that act decides on the room
// after it. If act refuses, nothing happens, and the agent does not join either.
func Joining(s *State, f Facts, r JoinRequest, act func(*State) ([]event.Event, error)) ([]event.Event, error) {
	if !s.Open || s.Member(r.Agent) != nil {
		return act(s)
	}
	events := Join(s, r)
	joined, err := s.After(events, f.Now.Wall)
	if err != nil {
		return nil, err
	}
	acted, err := act(joined)
	if err != nil || len(acted) == 0 {
		return nil, err
	}
	return append(events, acted...), nil
}

// checkMember refuses an agent that is no member, and every agent once the room has ended.
func (s *State) checkMember(agent string) error {
	if !s.Open {
		return closedRoom(s)
	}
	if s.Member(agent) == nil {
		return NotJoined(s, agent)
	}
	return nil
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
	Warning           string `json:"warning,omitempty"` // set by the caller
}

// StatusEnded is the status of a leave, kick or close that ended the room.
const StatusEnded = "room_ended"

// ReasonLeft is the reason of a [MemberLeft] event of an agent that left by itself.
const ReasonLeft = "left"

// Leave removes the agent. The room ends with it when no active member remains that
// takes turns; observers do not keep it open.
func Leave(s *State, f Facts, agent string) ([]event.Event, LeaveResult, error) {
	if err := s.checkMember(agent); err != nil {
		return nil, LeaveResult{}, err
	}
	events := []event.Event{{Type: MemberLeft, Turn: s.Turn, From: agent, Reason: ReasonLeft}}
	events, res := s.endIfEmpty(f, events, agent, "left")
	return events, res, nil
}

// endIfEmpty adds the end of the room to the events that remove an agent, if no
// other member is active.
func (s *State) endIfEmpty(f Facts, events []event.Event, agent, status string) ([]event.Event, LeaveResult) {
	res := LeaveResult{Status: status, RoomID: s.RoomID, CanonicalPath: cmp.Or(f.Directory, s.CanonicalPath),
		RemainingMembers: len(s.Members) - 1}
	if !f.otherActive(s, agent) {
		events = append(events, event.Event{Type: Closed, Turn: s.Turn, Reason: "nobody active remained"})
		res.Status, res.RemainingMembers = StatusEnded, 0
	}
	return events, res
}

// A KickRequest removes another member.
type KickRequest struct {
	Agent, Target, Reason string
	Force                 bool
	Turn                  *int64 // refuse if another turn is the current one; nil: any
}

// Kick removes another member. Without Force that member must be gone and silent
// for the grace time, or silent for the whole presence time, and must not hold the stick
// with a live lease.
func Kick(s *State, f Facts, r KickRequest) ([]event.Event, LeaveResult, error) {
	if err := cmp.Or(CheckKick(r), s.checkMember(r.Agent), s.checkTurn(f, r.Turn)); err != nil {
		return nil, LeaveResult{}, err
	}
	target := s.Member(r.Target)
	switch {
	case target == nil:
		hint, _ := s.whoIsThere(f, r.Agent, r.Target)
		return nil, LeaveResult{}, code.New(code.UnknownTarget, "%s is not a member of the room", r.Target).
			WithHint("%s", hint).With("to_agent_id", r.Target)
	case !r.Force && !s.kickable(f, target):
		return nil, LeaveResult{}, s.notKickable(f, target)
	}
	owner, reserved := s.Owner == r.Target, s.ReservedFor == r.Target
	events := []event.Event{{Type: Kicked, Turn: s.Turn, From: r.Agent, To: r.Target, Reason: r.Reason}}
	events, res := s.endIfEmpty(f, events, r.Target, "kicked")
	res.KickedAgentID, res.TargetWasOwner, res.TargetWasReserved = r.Target, &owner, &reserved
	return events, res, nil
}

// CheckKick refuses what no room allows. It needs no state.
func CheckKick(r KickRequest) error {
	if r.Agent == r.Target {
		return code.New(code.CannotKickSelf, "an agent cannot kick itself").WithHint(hintLeave)
	}
	return checkText(r.Reason)
}

// notKickable refuses to kick a member without force.
func (s *State) notKickable(f Facts, m *Member) error {
	e := code.New(code.TargetActive, "%s is active", m.AgentID).
		WithHint(hintForce).With("to_agent_id", m.AgentID)
	if s.holdsLease(f, m) {
		e.Message = fmt.Sprintf("%s has the turn, and its lease is good until %s", m.AgentID, f.lease(s).End(f.Now).Format("15:04:05 UTC"))
		return e
	}
	if f.ended(m.AgentID) {
		silence, grace, over := f.silence(m), ms(s.Policy.GoneGrace), ended(m.AgentID, f.presence(m.AgentID))
		e.Message = over.Fact() + ", but it was last heard of only " + spoken(silence) + " ago"
		e.WithHint(hintKickableSoon, spoken(grace-silence+time.Second))
	}
	return e
}

// holdsLease reports whether the member has the turn with a live lease.
func (s *State) holdsLease(f Facts, m *Member) bool {
	return s.Owner == m.AgentID && !s.LeaseExpired(f)
}

func (s *State) kickable(f Facts, m *Member) bool {
	if s.holdsLease(f, m) || f.isWaiting(m.AgentID) {
		return false
	}
	return f.expired(s, m) || f.ended(m.AgentID) && f.silence(m) > ms(s.Policy.GoneGrace)
}

// Enter makes the agent a member. An idle room is only closed, because its journal
// is archived before the next life begins: then again is true, and the caller
// commits the events and calls Enter once more.
func Enter(s *State, f Facts, r JoinRequest) (events []event.Event, again bool) {
	if events := End(s, f); len(events) > 0 {
		return events, true
	}
	return Join(s, r), false
}

// Reopen returns the event that would open the room as the state knows it, in place
// of one that was damaged. It has the present policy: where that was changed later,
// the journal says so again.
func Reopen(s *State) event.Event {
	e := event.Event{Type: RoomOpened, Payload: payload(&openedPayload{
		Format: Format, CanonicalPath: s.CanonicalPath, WorkspaceRoot: s.WorkspaceRoot, Policy: s.Policy,
	})}
	if len(s.Members) > 0 {
		e.From = s.Members[0].AgentID
	}
	return e
}

// Idle reports whether the room has outlived idle_room_ttl: for that long nothing
// happened in it and no member was heard of, and no member is known to be alive.
// Observers do not count.
// Such a room counts as ended. The next agent that joins ends it, see [Enter].
func (s *State) Idle(f Facts) bool {
	if !s.Quiet(f.Now.Wall.Time) {
		return false
	}
	ttl := ms(s.Policy.IdleRoomTTL)
	for i := range s.Members {
		m := &s.Members[i]
		if m.Observer {
			continue
		}
		if f.presence(m.AgentID).Process == Alive || f.silence(m) < ttl || f.isWaiting(m.AgentID) {
			return false
		}
	}
	return s.Owner == "" || s.LeaseExpired(f)
}

// Quiet reports whether no event came for idle_room_ttl. Only a quiet room can be idle.
func (s *State) Quiet(now time.Time) bool {
	ttl := ms(s.Policy.IdleRoomTTL)
	return s.Open && ttl > 0 && now.Sub(s.UpdatedAt.Time) >= ttl
}

// Ended reports whether the room is closed, or counts as closed because it is idle.
// It calls facts only if the answer depends on them.
func (s *State) Ended(now time.Time, facts func() Facts) bool {
	return !s.Open || (s.Quiet(now) && s.Idle(facts()))
}

// End closes an idle room. It returns no events for any other.
func End(s *State, f Facts) []event.Event {
	if !s.Idle(f) {
		return nil
	}
	return []event.Event{{Type: Closed, Turn: s.Turn, Reason: "idle for longer than idle_room_ttl"}}
}
