package turn

import "github.com/talking-stick/tt/journal/event"

// Format is the version of the journal's events and of the state. A room of a
// higher one is refused and left untouched.
const Format = 1

// A State is one room, as its journal tells it. It holds no time that passes by
// itself: what depends on the clock is derived with [Facts].
type State struct {
	RoomID        string
	CanonicalPath string
	WorkspaceRoot string
	Open          bool // false: before the first join and after the end
	Seq           int64
	Turn          int64
	Owner         string
	ReservedFor   string
	Grant         Grant
	Pending       PendingHandoff
	Policy        Policy
	Members       []Member
	Former        []Former // former members that held the stick in this life, the last to leave last
	NextOrdinal   int
	Broadcasts    int64  // messages to the room in this life
	Notes         []Note // the open ones, oldest first
	LastNote      int64
	UpdatedAt     event.Time
}

// Held is the turn in progress. It is zero when nobody owns the stick.
type Grant struct {
	Lease   string
	At      Instant        // when it was granted
	Handoff PendingHandoff // the handoff it took up, if any
}

// Pending is the handoff that waits for its reader. It is zero when there is
// none; a reservation always has one.
type PendingHandoff struct {
	Seq    int64
	From   string
	Direct bool // assigned by name, not by fairness
	At     Instant
	// Preferred is the fairest member when it was not ready at the release. For
	// the waiter grace only it is granted the turn.
	Preferred string
}

// A Member is one agent of the room.
type Member struct {
	AgentID     string
	DisplayName string
	SessionKind string
	Ordinal     int
	JoinedAt    event.Time
	LastHeld    int64 // its last grant; 0: never held
	// The messages meant for this member are Direct plus the broadcasts since
	// it joined that were not its own; see State.Mail.
	Direct     int64
	Sent       int64
	Broadcasts int64
}

// A Former is an agent that held the stick and left. Leaving makes nobody new
// again: should it come back, those who never held the stick are before it.
type Former struct {
	AgentID  string
	LastHeld int64
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
	c.Former = append([]Former(nil), s.Former...)
	c.Notes = append([]Note(nil), s.Notes...)
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
	s.RoomID, s.Seq, s.Turn, s.UpdatedAt = last.RoomID, last.Seq, last.Turn, last.CreatedAt
}
