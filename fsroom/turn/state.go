package turn

import (
	"cmp"
	"time"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// Format is the version of the events and of the state. A room with a higher one is
// refused and left untouched.
const Format = 1

// A State is one room, folded from its journal. RoomID is the name of the room as it was
// opened with [New], also if it had another one when its first events were written: a room that
// was moved keeps its lines as they are. What depends on the time that has
// passed is not in it, and is derived with [Facts].
type State struct {
	RoomID        string          `json:"room_id"`
	CanonicalPath string          `json:"canonical_path"`
	WorkspaceRoot string          `json:"workspace_root"`
	Open          bool            `json:"open"`                   // false: before the first join and after the end
	Seq           int64           `json:"last_event_seq"`         // event_seq of the last event
	Turn          int64           `json:"turn_id"`                // the last turn that was granted; 0: none in any life
	Owner         string          `json:"owner,omitempty"`        // the agent that holds the stick, "" if none does
	ReservedFor   string          `json:"reserved_for,omitempty"` // the recipient of the next turn, "" if there is none
	Grant         Grant           `json:"held,omitzero"`
	Pending       PendingHandoff  `json:"pending,omitzero"`
	ShortTurns    int64           `json:"short_turns,omitempty"` // how many turns in a row, up to the last one, were of no use to agents that were woken for them
	Policy        Policy          `json:"policy"`
	Members       []Member        `json:"members,omitempty"`
	Former        []Member        `json:"former_holders,omitempty"` // former members that held the stick in this life or were removed, in the order they left
	NextOrdinal   int             `json:"next_ordinal"`             // of the next member to join
	Notes         []talk.Note     `json:"notes,omitempty"`          // the open ones, oldest first
	Changes       []TreeChange    `json:"changes,omitempty"`        // of the tree, the newest last
	Jobs          []talk.ToldJobs `json:"told_jobs,omitempty"`      // whose end was told, by the hosts that ran them
	UpdatedAt     event.Time      `json:"updated_at"`
}

// A Grant is the turn in progress. It is zero if no agent owns the stick.
type Grant struct {
	Lease   string         `json:"lease_id"`
	At      Instant        `json:"at"`                    // when the turn was granted
	TTL     time.Duration  `json:"lease_ttl_ms,omitzero"` // of the lease
	Host    string         `json:"host,omitempty"`        // that of the owner; "" without an engine
	Handoff PendingHandoff `json:"given,omitzero"`        // the handoff that came with the turn, zero if none did
	Woken   bool           `json:"woken,omitempty"`       // the agent was woken for the turn
	Auto    bool           `json:"auto,omitempty"`        // a hook has taken the turn for the agent
}

// A PendingHandoff is a handoff that no turn has taken up yet. It is zero if there is
// none. A reservation always has one.
type PendingHandoff struct {
	Seq    int64   `json:"event_seq"` // the event with the handoff
	From   string  `json:"from_agent_id"`
	Direct bool    `json:"direct,omitempty"` // assigned to a named member, not to the fairest
	At     Instant `json:"at"`
	// Preferred is the member that the turn is offered to first, if the turn is not
	// reserved. For the grace time no other agent can claim the turn.
	Preferred string `json:"preferred,omitempty"`
	Listens   bool   `json:"preferred_listens,omitempty"` // Preferred listened at the release, and was notified
	Auto      bool   `json:"auto,omitempty"`              // a hook has released the turn
	// Unchanged is set if nothing was changed: it is no handoff to anybody. Given and GivenFrom
	// are those that came with that turn, which the next one gets again.
	Unchanged bool   `json:"unchanged,omitempty"`
	Given     int64  `json:"given_event_seq,omitempty"`
	GivenFrom string `json:"given_from,omitempty"`
}

// A Member is one agent of the room.
type Member struct {
	AgentID     string     `json:"agent_id"`
	DisplayName string     `json:"display_name,omitempty"`
	SessionKind string     `json:"session_kind,omitempty"`
	Ordinal     int        `json:"ordinal"`
	JoinedAt    event.Time `json:"joined_at"`
	Observer    bool       `json:"observer,omitempty"`            // takes part in the talk, not in the turns, see [JoinRequest]
	Joined      int64      `json:"joined_event_seq,omitempty"`    // the event by which it became one
	LastHeld    int64      `json:"last_held_event_seq,omitempty"` // the event of its last grant; 0: it never held the stick
	LastMail    int64      `json:"last_mail_event_seq,omitempty"` // no message for it, and no end of a job of its own, came after this event
	Lost        Loss       `json:"lost,omitzero"`                 // how its last turn ended
	Removed     Loss       `json:"removed,omitzero"`              // of a former one: how it was removed; zero: it left by itself
}

// Member returns the member with the id, nil if there is none. The pointer is
// valid until the next Apply.
func (s *State) Member(id string) *Member { return memberOf(s.Members, id) }

func memberOf(list []Member, id string) *Member {
	for i := range list {
		if list[i].AgentID == id {
			return &list[i]
		}
	}
	return nil
}

// After returns the room as events of one change at a time would leave it, which need no numbers yet.
func (s *State) After(events []event.Event, now event.Time) (*State, error) {
	after := s.Clone()
	for _, e := range events {
		e.Seq, e.CreatedAt = after.Seq+1, now
		if err := after.Apply(&e); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// Clone returns a copy. Apply changes nothing that the two share.
func (s *State) Clone() *State {
	c := *s
	c.Members = append([]Member(nil), s.Members...)
	c.Former = append([]Member(nil), s.Former...)
	c.Notes = append([]talk.Note(nil), s.Notes...)
	c.Changes = append([]TreeChange(nil), s.Changes...)
	c.Jobs = append([]talk.ToldJobs(nil), s.Jobs...)
	return &c
}

// New returns the state of a room that was never opened.
func New(room string) *State { return &State{RoomID: room} }

// Live reports whether a life of the room is in progress: it was opened and has not
// ended.
func (s *State) Live() bool { return s.Open }

// Continue makes s the state between two lives of the room. The counters go on from the
// last event of the life that has ended.
func (s *State) Continue(last *event.Event) {
	s.RoomID, s.Seq, s.Turn, s.UpdatedAt = cmp.Or(s.RoomID, last.RoomID), last.Seq, last.Turn, last.CreatedAt
}
