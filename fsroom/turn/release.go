package turn

import (
	"encoding/json"
	"slices"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// A Fence is what an owner shows to act on its turn.
type Fence struct {
	Agent string
	Turn  int64
	Lease string
}

// Check reports whether the fence still holds: turn_mismatch when the turn is
// not the current one, stale_lease when it is not the agent's with this lease.
// An expired lease holds until a takeover commits.
func (s *State) Check(f Facts, fence Fence) error {
	switch {
	case !s.Open:
		return closedRoom(s)
	case fence.Turn != s.Turn:
		return s.overtaken(f, code.TurnMismatch, "turn %d is over: %s", fence.Turn, s.situation(f))
	case s.Owner != fence.Agent || s.Grant.Lease != fence.Lease:
		return s.overtaken(f, code.StaleLease, "%s no longer holds turn %d: %s", fence.Agent, fence.Turn, s.situation(f))
	}
	return nil
}

func (s *State) overtaken(f Facts, c code.Code, format string, args ...any) error {
	return s.withSituation(f, code.New(c, format, args...).WithHint(`stop changing shared files, look with "tt state", wait with "tt wait"`))
}

// withSituation adds to a refusal whose turn it is.
func (s *State) withSituation(f Facts, e *code.Error) *code.Error {
	e.With("current_turn_id", s.Turn).With("room_state", s.Status(f))
	if s.Owner != "" {
		e.With("current_owner", s.Owner)
	}
	return e
}

// NoActiveLease refuses an agent that holds no turn.
func NoActiveLease(s *State, f Facts, agent string) error {
	return s.withSituation(f, code.New(code.NoActiveLease, "%s holds no turn here", agent).
		WithHint(`get one with "tt wait"; if you had it before a crash, "tt wait" gives it back`).With("agent_id", agent))
}

// A ReleaseRequest ends a turn with a handoff.
type ReleaseRequest struct {
	Fence
	Handoff json.RawMessage // as checked by [CheckHandoff]
}

// A ReleaseResult is what release, pass and assign answer.
type ReleaseResult struct {
	Status      string
	RoomID      string
	ReservedFor string
	EventSeq    int64
}

// Release ends the turn and reserves it for the fairest other active member if
// that one is ready for it; else the room is idle with the handoff pending.
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

// Assign ends the turn and reserves it for one active member.
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

func (s *State) recipient(f Facts, agent, target string) (*Member, error) {
	if target == TargetNext {
		if m := s.fairest(f, agent); m != nil {
			return m, nil
		}
		return nil, code.New(code.UnknownMember, "nobody else is active in the room").
			WithHint(`hand over to whoever comes with "tt release"`).With("to_agent_id", target)
	}
	if target == agent {
		return nil, code.New(code.UnknownMember, "%s cannot hand the turn to itself", agent).
			WithHint(`release it, or name another member`).With("to_agent_id", target)
	}
	m, err := s.named(f, target, agent)
	if code.Of(err) == code.AmbiguousRecipient {
		return nil, err
	}
	switch {
	case m == nil:
		return nil, code.New(code.UnknownMember, "%s is not a member of the room", target).
			WithHint("%s", s.whoIsThere(f, agent, target)).With("to_agent_id", target)
	case !f.active(s, m):
		return nil, code.New(code.UnknownMember, "%s is a member but not active", m.AgentID).
			WithHint("%s", s.whoIsThere(f, agent, target)).With("to_agent_id", m.AgentID)
	}
	return m, nil
}

// fairest is the active member whose turn it is after agent: who never held the
// stick comes first, then who held it longest ago, then the order of joining,
// beginning behind agent and going round. Nil if there is no other.
func (s *State) fairest(f Facts, agent string) *Member {
	var best *Member
	start := s.rankOf(agent) + 1
	for i := range s.Members {
		m := &s.Members[(start+i)%len(s.Members)]
		if m.AgentID == agent || (best != nil && m.LastHeld >= best.LastHeld) {
			continue
		}
		if f.active(s, m) {
			best = m
		}
	}
	return best
}

// rankOf is the place of the agent in the order of joining. Members are kept in
// that order; their ordinals have gaps when somebody left.
func (s *State) rankOf(agent string) int {
	return slices.IndexFunc(s.Members, func(m Member) bool { return m.AgentID == agent })
}
