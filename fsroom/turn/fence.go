package turn

import "github.com/talking-stick/tt/fsroom/code"

// A Fence is what an owner shows to act on its turn: the fencing token.
type Fence struct {
	Agent string `json:"agent_id,omitempty"`
	Turn  int64  `json:"turn_id"`
	Lease string `json:"lease_id,omitempty"`
}

// Check returns nil if the fence is that of the turn in progress. It refuses with
// turn_mismatch if another turn is the current one, and with stale_lease if the
// agent does not own the current one under this lease. An expired lease is good
// until a takeover commits.
func (s *State) Check(f Facts, fence Fence) error {
	switch {
	case !s.Open:
		return closedRoom(s)
	case fence.Turn != s.Turn:
		return s.overtaken(f, fence, code.TurnMismatch, "turn %d is over: %s", fence.Turn, s.situation(f))
	case s.Owner != fence.Agent || s.Grant.Lease != fence.Lease:
		return s.overtaken(f, fence, code.StaleLease, "%s no longer holds turn %d: %s", fence.Agent, fence.Turn, s.situation(f))
	}
	return nil
}

// HeldByWindow refuses an agent of which another window, the process pid of its session, has the
// turn.
func HeldByWindow(s *State, f Facts) error {
	return s.withSituation(f, code.New(code.StaleLease, "turn %d is held by this session, in another window (process %d)", s.Turn, f.Window).
		WithHint(hintOtherWindow).With("held_by_pid", f.Window))
}

func (s *State) overtaken(f Facts, fence Fence, c code.Code, format string, args ...any) error {
	return s.explain(s.withSituation(f, code.New(c, format, args...).WithHint(hintStop)), fence.Agent)
}

// NoActiveLease refuses an agent that holds no turn, or that was not told of the one it has.
func NoActiveLease(s *State, f Facts, agent string) *code.Error {
	e := code.New(code.NoActiveLease, "%s holds no turn here", agent).WithHint(hintGetTurn)
	if s.Owner == agent {
		e = code.New(code.NoActiveLease, "%s has turn %d, but no record of its lease", agent, s.Turn).WithHint(hintToldTurn)
	}
	return s.explain(s.withSituation(f, e.With("agent_id", agent)), agent)
}

// HostOf returns the host on which an agent has the turn, "" if that is the one given or it has none. An agent is
// on one host.
func (s *State) HostOf(agent, here string) string {
	if here == "" || s.Owner != agent || s.Grant.Host == here {
		return ""
	}
	return s.Grant.Host
}

// AgentElsewhere refuses an agent that has the turn on another host.
func (s *State) AgentElsewhere(f Facts) *code.Error {
	host := s.Grant.Host
	return s.withSituation(f, code.New(code.AgentElsewhere, "%s has turn %d on host %s", s.Owner, s.Turn, host).
		WithHint(hintElsewhere, host).With("agent_id", s.Owner).With("host", host))
}

// Why an agent may not change shared files, see [State.Holds].
const (
	NotOwner      = "not_owner"
	LeaseRanOut   = "lease_expired"
	HeldElsewhere = "agent_elsewhere" // the agent has the turn on another host
	HeldInWindow  = "other_window"    // another window of the agent's session has the turn
	LeaseNotShown = "no_active_lease" // the agent owns the turn, but has no record of its lease
)

// Holds returns "" if the agent owns the turn, its lease has not expired, and fence
// shows it; otherwise it returns why not. The fence is what the agent has recorded,
// the zero Fence if it has recorded nothing.
func (s *State) Holds(f Facts, agent string, fence Fence) string {
	switch {
	case !s.Open || s.Owner != agent:
		return NotOwner
	case s.LeaseExpired(f):
		return LeaseRanOut
	case fence != Fence{Agent: agent, Turn: s.Turn, Lease: s.Grant.Lease}:
		return LeaseNotShown
	}
	return ""
}

// checkTurn refuses a request about a turn which is not the current one.
func (s *State) checkTurn(f Facts, want *int64) error {
	if want == nil || *want == s.Turn {
		return nil
	}
	return s.withSituation(f, code.New(code.TurnMismatch, "the current turn is %d, not %d: %s", s.Turn, *want, s.situation(f)).
		WithHint(hintLookAgain))
}
