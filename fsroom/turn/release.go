package turn

import (
	"encoding/json"
	"slices"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// A ReleaseRequest ends a turn with a handoff.
type ReleaseRequest struct {
	Fence
	Handoff json.RawMessage // as returned by [CheckHandoff]
}

// A ReleaseResult is what release, pass and assign answer.
type ReleaseResult struct {
	Status      string // released, passed
	RoomID      string
	ReservedFor string
	EventSeq    int64
	Unread      Unread // set by the caller
}

// Release ends the turn. If the fairest other active member is ready, the next turn
// is reserved for it. Otherwise the handoff stays pending in an idle room.
func Release(s *State, f Facts, r ReleaseRequest) ([]event.Event, ReleaseResult, error) {
	if err := s.Check(f, r.Fence); err != nil {
		return nil, ReleaseResult{}, err
	}
	e := event.Event{Type: Released, Turn: s.Turn, From: r.Agent, Handoff: r.Handoff}
	p := releasePayload{Clock: clockOf(f.Now)}
	if m := s.fairest(f, r.Agent); m != nil && f.ready(s, m) {
		e.To = m.AgentID
	} else if m != nil {
		p.Preferred = m.AgentID
	}
	e.Payload = payload(&p)
	return []event.Event{e}, ReleaseResult{Status: "released", RoomID: s.RoomID, ReservedFor: e.To, EventSeq: s.Seq + 1}, nil
}

// TargetNext as the target of an assignment means the fairest active member.
const TargetNext = "next"

// Assign ends the turn and reserves the next one for an active member.
func Assign(s *State, f Facts, r ReleaseRequest, target string) ([]event.Event, ReleaseResult, error) {
	if err := s.Check(f, r.Fence); err != nil {
		return nil, ReleaseResult{}, err
	}
	m, err := s.recipient(f, r.Agent, target)
	if err != nil {
		return nil, ReleaseResult{}, err
	}
	e := event.Event{
		Type: Passed, Turn: s.Turn, From: r.Agent, To: m.AgentID, Handoff: r.Handoff,
		Payload: payload(&releasePayload{Clock: clockOf(f.Now)}),
	}
	return []event.Event{e}, ReleaseResult{Status: "passed", RoomID: s.RoomID, ReservedFor: e.To, EventSeq: s.Seq + 1}, nil
}

// recipient returns the active member that the target of an assignment means.
func (s *State) recipient(f Facts, agent, target string) (*Member, error) {
	refuse := func(format, who, hint string) (*Member, error) {
		return nil, code.New(code.UnknownMember, format, who).WithHint("%s", hint).With("to_agent_id", who)
	}
	switch target {
	case TargetNext:
		if m := s.fairest(f, agent); m != nil {
			return m, nil
		}
		return nil, code.New(code.UnknownMember, "nobody else is active in the room").
			WithHint(hintNobodyElse).With("to_agent_id", target)
	case agent:
		return refuse("%s cannot hand the turn to itself", agent, "release it, or name another member")
	}
	m, err := s.named(f, target, agent)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return refuse("%s is not a member of the room", target, s.whoIsThere(f, agent, target))
	case !f.active(s, m):
		return refuse("%s is a member but not active", m.AgentID, s.whoIsThere(f, agent, target))
	}
	return m, nil
}

// fairest returns the active member whose turn it is after the agent's, nil if no
// other member is active. It is never an observer. Members that never held the stick come first, then those
// that held it longest ago. Among equals the order of joining decides, which begins
// behind the agent and goes round.
func (s *State) fairest(f Facts, agent string) *Member {
	var best *Member
	start := slices.IndexFunc(s.Members, func(m Member) bool { return m.AgentID == agent }) + 1
	for i := range s.Members {
		m := &s.Members[(start+i)%len(s.Members)]
		if m.AgentID == agent || m.Observer || (best != nil && m.LastHeld >= best.LastHeld) {
			continue
		}
		if f.active(s, m) {
			best = m
		}
	}
	return best
}
