package turn

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// A ReleaseRequest ends a turn with a handoff.
type ReleaseRequest struct {
	Fence
	Handoff json.RawMessage // as returned by [CheckHandoff]
	Changed []event.Event   // what the turn has changed, as far as it is known: it goes with the release
	// Auto is set for a turn that a hook ends: it goes to nobody who does not want it.
	// Unchanged is set if the turn is known to have changed nothing.
	Auto, Unchanged bool
}

// A ReleaseResult is what release, pass and assign answer.
type ReleaseResult struct {
	Status      string         `json:"status"` // released, passed
	RoomID      string         `json:"room_id"`
	ReservedFor string         `json:"reserved_for,omitempty"`
	OfferedTo   string         `json:"offered_to,omitempty"` // the recipient, if the turn is not reserved for it
	EventSeq    int64          `json:"event_seq"`
	Recipient   *RecipientView `json:"recipient,omitzero"` // for whom the turn is reserved, or to whom it is offered first; nil: nobody
	Offered     bool           // the recipient listens, and is notified
	Turn        string         `json:"turn,omitempty"` // where the stick is now, and who may have it when; set by the caller
	Hint        string         `json:"hint,omitempty"` // what to do if nothing tells the recipient of an assignment, or why nobody is woken
	// Changes are what changed in the tree during the turn, as a tree_changed event has it;
	// with ChangesPending that is not known yet. Set by the caller.
	Changes        json.RawMessage `json:"changes,omitempty"`
	ChangesPending bool            `json:"changes_pending,omitempty"`
	Verified       json.RawMessage `json:"verified,omitempty"` // the verdicts on the tree that is handed over; set by the caller
	Unread         talk.Unread     `json:"unread,omitzero"`    // set by the caller
}

// Release ends the turn. The next one is for the fairest other active member. If that one
// cannot hear of it, or its model is in a turn, it is for the fairest of the members that can
// begin at once, if there is one. It is reserved for a member that waits, or that
// does not listen but is ready. Otherwise the handoff is pending in an idle room, and is offered
// to that member first. Nobody is woken if [State.AtRest] is true.
func Release(s *State, f Facts, r ReleaseRequest) ([]event.Event, ReleaseResult, error) {
	if err := s.Check(f, r.Fence); err != nil {
		return nil, ReleaseResult{}, err
	}
	e := event.Event{Type: Released, Turn: s.Turn, From: r.Agent, Handoff: r.Handoff}
	p := releasePayload{Clock: clockOf(f.Now)}
	m, short := s.heir(f, r.Agent, anybody), s.shortTurns(f.Now)
	if c, ok := changeAmong(r.Changed); ok && c.wasOfUse() {
		short = 0
	}
	if r.Auto {
		m, short = s.heir(f, r.Agent, wants), 0
		p.Auto, p.Unchanged = true, r.Unchanged
	}
	rest := m != nil && s.listens(f, m) && s.rests(r.Agent, short)
	switch {
	case m == nil:
	case f.isWaiting(m.AgentID), !s.listens(f, m) && f.ready(s, m):
		e.To, rest = m.AgentID, false
	case rest:
		m = nil
	default:
		p.Preferred, p.Listens = m.AgentID, s.listens(f, m)
	}
	e.Payload = payload(&p)
	res := ReleaseResult{Status: "released", RoomID: s.RoomID, ReservedFor: e.To, EventSeq: s.Seq + 1}
	if rest {
		res.Hint = restWords(short) + "; whoever waits gets it"
	}
	if m != nil {
		res.Recipient, res.Offered = s.recipientView(f, m, s.reachOfTurn(f, m.AgentID, r.Agent)), p.Listens
		if e.To == "" {
			res.OfferedTo = m.AgentID
		}
	}
	return append([]event.Event{e}, r.Changed...), res, nil
}

// heir returns the member among those that are wanted that a release by the agent goes to, nil if no other one is
// active: the fairest one. But where members listen, the turn is not left with one that
// cannot hear of it, or whose model is in a turn, while another one is called and can begin: then it is
// the fairest of those. One that has just come and does not listen may have gone on with something else.
func (s *State) heir(f Facts, agent string, wanted func(Facts, *Member) bool) *Member {
	who := func(is func(Facts, *Member) bool) *Member {
		return s.fairestOf(f, agent, func(f Facts, m *Member) bool { return wanted(f, m) && is(f, m) })
	}
	isBusy := func(m *Member) bool { return s.listens(f, m) && f.hearing(m.AgentID).Busy }
	m := who(anybody)
	if m == nil || f.isWaiting(m.AgentID) || s.hears(f, m) && !isBusy(m) || !s.hears(f, m) && who(s.listens) == nil {
		return m
	}
	isCalled := func(f Facts, m *Member) bool { return f.isWaiting(m.AgentID) || s.listens(f, m) && !isBusy(m) }
	return cmp.Or(who(isCalled), who(s.hears), m)
}

func anybody(Facts, *Member) bool { return true }

// listens reports whether something listens for the member that is believed to work, and
// may wake it, so that a turn may be offered to it although it does not wait.
func (s *State) listens(f Facts, m *Member) bool {
	h := f.hearing(m.AgentID)
	return s.Policy.WakeGrace > 0 && h.How != "" && !h.Unheard && h.TurnsSpent == 0
}

// hears reports whether the member, which has not ended, would learn of a turn. One that wants it was promised a call, which
// it gets as long as something listens for it, heard or not.
func (s *State) hears(f Facts, m *Member) bool {
	return !f.ended(m.AgentID) && (f.atHand(s, m) || s.listens(f, m) || f.presence(m.AgentID).Wants && f.hearing(m.AgentID).How != "")
}

// A RecipientView says who is next, and how that member can be reached.
type RecipientView struct {
	AgentID   string `json:"agent_id"`
	Listening string `json:"listening,omitempty"` // what listens for it, "" if nothing does
	Reach     string `json:"reach"`               // by the turn, see [State.Reach]
}

func (s *State) recipientView(f Facts, m *Member, reach string) *RecipientView {
	return &RecipientView{AgentID: m.AgentID, Listening: f.hearing(m.AgentID).How, Reach: reach}
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
	res := ReleaseResult{Status: "passed", RoomID: s.RoomID, ReservedFor: e.To, EventSeq: s.Seq + 1}
	res.Recipient = s.recipientView(f, m, s.reach(f, m.AgentID, false))
	switch res.Recipient.Reach {
	case ReachNone:
		if s.worksOn(f, m.AgentID) {
			break
		}
		fallthrough
	case ReachUnheard, ReachNextPrompt:
		res.Hint = hintNobodyTells(m.AgentID, r.Agent)
	}
	return append([]event.Event{e}, r.Changed...), res, nil
}

// recipient returns the active member that the target of an assignment means.
func (s *State) recipient(f Facts, agent, target string) (*Member, error) {
	refuse := func(format, who string) (*Member, error) {
		hint, _ := s.whoIsThere(f, agent, target)
		return nil, code.New(code.UnknownMember, format, who).WithHint("%s", hint).With("to_agent_id", who)
	}
	switch target {
	case TargetNext:
		if m := s.fairestOf(f, agent, anybody); m != nil {
			return m, nil
		}
		return nil, code.New(code.UnknownMember, "nobody else is active in the room").
			WithHint(hintNobodyElse).With("to_agent_id", target)
	case agent:
		return nil, code.New(code.UnknownMember, "%s cannot hand the turn to itself", agent).WithHint("release it, or name another member").
			With("to_agent_id", agent)
	}
	m, err := s.named(f, target, agent)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return refuse("%s is not a member of the room", target)
	case !f.active(s, m):
		return refuse("%s is a member but not active", m.AgentID)
	}
	return m, nil
}

// fairestOf returns the active member among those that are wanted whose turn it is after the agent's, nil if
// there is none. It is never an observer. A member whose processes have all ended
// comes after those that could hear of the turn. Then members that never held the stick
// come first, then those that held it longest ago. Among equals the order of joining
// decides, which begins behind the agent and goes round. It looks at few of them: where
// another host knows of a member, to look costs a round trip.
func (s *State) fairestOf(f Facts, agent string, wanted func(Facts, *Member) bool) (ended *Member) {
	for _, m := range s.inTurn(agent) {
		switch {
		case !f.active(s, m) || !wanted(f, m):
		case !f.ended(m.AgentID):
			return m
		case ended == nil:
			ended = m
		}
	}
	return ended
}

// inTurn returns the members but observers in the order of their turns after the agent's.
func (s *State) inTurn(agent string) (members []*Member) {
	start := slices.IndexFunc(s.Members, func(m Member) bool { return m.AgentID == agent }) + 1
	for i := range s.Members {
		if m := &s.Members[(start+i)%len(s.Members)]; m.AgentID != agent && !m.Observer {
			members = append(members, m)
		}
	}
	slices.SortStableFunc(members, func(a, b *Member) int { return cmp.Compare(a.LastHeld, b.LastHeld) })
	return members
}
