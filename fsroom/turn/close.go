package turn

import (
	"errors"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/journal/event"
)

// A CloseRequest ends the room because the work is done.
type CloseRequest struct {
	Agent  string
	Reason string // why, in the agent's words; it goes into the journal
	Human  bool   // the agent is a person, who may close any room and need not be a member
	Fence  Fence  // what the agent has recorded, the zero Fence if it has recorded nothing
	// MovedAt is the last event of a room that goes on elsewhere; 0 for one that does not. Nobody
	// may hold the turn then, and the error is [ErrWentOn] if the room has later events.
	MovedAt int64
}

// MovedTo begins the reason of the close of a room that goes on elsewhere. What follows is
// where.
const MovedTo = "moved to "

// MovedBack is the reason of the close of a room that several hosts shared and that one host
// goes on with. On that host it is one of many closes.
const MovedBack = MovedTo + "one host"

// GoOnAt says where to go on with a room that was closed with the reason: "" if nowhere. shared is
// whether several hosts share that room.
func GoOnAt(reason string, shared bool) string {
	where, moved := strings.CutPrefix(reason, MovedTo)
	switch {
	case reason == MovedBack && shared:
		return "go on without TALKING_STICK_ENGINE, on the host that has imported it"
	case moved && strings.Contains(where, "://"):
		return "go on there: TALKING_STICK_ENGINE=" + where
	}
	return ""
}

// ErrWentOn means that a room has changed since its events were copied elsewhere.
var ErrWentOn = errors.New("the room went on")

// A CloseResult is what close answers.
type CloseResult struct {
	Status   string   `json:"status"` // always [WaitClosed]
	RoomID   string   `json:"room_id"`
	EventSeq int64    `json:"event_seq"` // of the close event
	Told     []string `json:"told"`      // the agents that waited, and learn of it so
}

// Close ends the room. A person may always close it. A member may close it while nobody
// holds the turn and no assignment waits for its recipient within the claim time, and while it
// holds the turn itself with a lease that is good for [State.Check].
func Close(s *State, f Facts, r CloseRequest) ([]event.Event, CloseResult, error) {
	if err := CheckClose(r.Reason); err != nil {
		return nil, CloseResult{}, err
	}
	if err := s.mayClose(f, r); err != nil {
		return nil, CloseResult{}, err
	}
	e := event.Event{Type: Closed, Turn: s.Turn, From: r.Agent, Reason: r.Reason}
	res := CloseResult{Status: WaitClosed, RoomID: s.RoomID, EventSeq: s.Seq + 1, Told: []string{}}
	res.Told = append(res.Told, slices.DeleteFunc(s.Others(r.Agent), func(id string) bool { return !f.isWaiting(id) })...)
	return []event.Event{e}, res, nil
}

// mayClose refuses an agent that may not close the room.
func (s *State) mayClose(f Facts, r CloseRequest) error {
	switch {
	case !s.Open:
		return closedRoom(s)
	case r.MovedAt > 0 && s.Owner != "":
		return s.withSituation(f, code.New(code.TurnMismatch, "a room is moved while nobody holds the turn: %s", s.situation(f)).
			WithHint(`release it first: "tt release"`))
	case r.MovedAt > 0 && r.MovedAt != s.Seq:
		return ErrWentOn
	case r.Human:
		return nil
	case s.Member(r.Agent) == nil:
		return NotJoined(s, r.Agent)
	case s.Owner == "" && s.ReservedFor != "" && s.Pending.Direct && !s.ClaimExpired(f):
		return s.withSituation(f, code.New(code.TurnMismatch, "the turn was assigned to %s, which has not taken it up yet: %s", s.ReservedFor,
			s.situation(f)).WithHint(hintCloseLater))
	case s.Owner == "":
		return nil
	case s.Owner != r.Agent:
		return s.withSituation(f, code.New(code.TurnMismatch, "only the holder of the turn closes the room: %s", s.situation(f)).
			WithHint(hintCloseLater))
	case r.Fence == Fence{}:
		return NoActiveLease(s, f, r.Agent)
	}
	return s.Check(f, r.Fence)
}

// CheckClose refuses a blank reason, and one that is not UTF-8. It needs no state.
func CheckClose(reason string) error {
	return checkReason(reason, "closing the room", hintCloseReason)
}
