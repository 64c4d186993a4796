package turn

import (
	"github.com/talking-stick/tt/journal"
)

// Format is the version of the journal's events and of the state. A room of a
// higher one is refused and left untouched.
const Format = 1

// A State is one room, as its journal tells it. It holds no time that passes by
// itself: what depends on the clock is derived with [Facts].
type State struct {
	RoomID        string       `json:"room_id"`
	CanonicalPath string       `json:"canonical_path"`
	WorkspaceRoot string       `json:"workspace_root"`
	Open          bool         `json:"open"` // false: before the first join and after the end
	Seq           int64        `json:"last_event_seq"`
	Turn          int64        `json:"turn_id"`
	Owner         string       `json:"owner,omitempty"`
	ReservedFor   string       `json:"reserved_for,omitempty"`
	Held          Held         `json:"held,omitzero"`
	Pending       Pending      `json:"pending,omitzero"`
	Policy        Policy       `json:"policy"`
	Members       []Member     `json:"members,omitempty"`
	NextOrdinal   int          `json:"next_ordinal"`
	Broadcasts    int64        `json:"broadcasts,omitempty"` // messages to the room in this life
	Notes         []Note       `json:"notes,omitempty"`      // the open ones, oldest first
	LastNote      int64        `json:"last_note_event_seq,omitempty"`
	UpdatedAt     journal.Time `json:"updated_at"`
}

// Held is the turn in progress. It is zero when nobody owns the stick.
type Held struct {
	Lease  string  `json:"lease_id"`
	At     Instant `json:"at"`             // when it was granted
	Reason string  `json:"reason"`         // why it was granted
	Given  Pending `json:"given,omitzero"` // the handoff it took up, if any
}

// Pending is the handoff that waits for its reader. It is zero when there is
// none; a reservation always has one.
type Pending struct {
	Seq    int64   `json:"event_seq"`
	From   string  `json:"from_agent_id"`
	Direct bool    `json:"direct,omitempty"` // assigned by name, not by fairness
	At     Instant `json:"at"`
	// Preferred is the fairest member when it was not ready at the release. For
	// the waiter grace only it is granted the turn.
	Preferred string `json:"preferred,omitempty"`
}

// A Member is one agent of the room.
type Member struct {
	AgentID     string       `json:"agent_id"`
	DisplayName string       `json:"display_name,omitempty"`
	SessionKind string       `json:"session_kind,omitempty"`
	Ordinal     int          `json:"ordinal"`
	JoinedAt    journal.Time `json:"joined_at"`
	LastHeld    int64        `json:"last_held_event_seq,omitempty"` // its last grant; 0: never held
	// The messages meant for this member are Direct plus the broadcasts since
	// it joined that were not its own; see State.Mail.
	Direct     int64 `json:"direct,omitempty"`
	Sent       int64 `json:"sent_broadcasts,omitempty"`
	Broadcasts int64 `json:"broadcasts_before,omitempty"`
}

// Member returns the member with the id, nil if there is none. The pointer is
// valid until the next Apply.
func (s *State) Member(id string) *Member {
	for i := range s.Members {
		if s.Members[i].AgentID == id {
			return &s.Members[i]
		}
	}
	return nil
}

// Mail is how many messages have been meant for the member since it joined.
func (s *State) Mail(id string) int64 {
	m := s.Member(id)
	if m == nil {
		return 0
	}
	return m.Direct + s.Broadcasts - m.Broadcasts - m.Sent
}

// Clone returns a copy that shares nothing that Apply changes.
func (s *State) Clone() *State {
	c := *s
	c.Members = append([]Member(nil), s.Members...)
	c.Notes = append([]Note(nil), s.Notes...)
	return &c
}

// New returns the state of a room that was never opened.
func New(room string) *State { return &State{RoomID: room} }

// Live reports whether the room has a life in progress.
func (s *State) Live() bool { return s.Open }

// Counts takes over the counters of an archived life from its last event.
func (s *State) Counts(last *journal.Event) {
	s.RoomID, s.Seq, s.Turn, s.UpdatedAt = last.RoomID, last.Seq, last.Turn, last.CreatedAt
}
