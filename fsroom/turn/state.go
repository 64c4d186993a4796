package turn

import (
	"cmp"
	"time"

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
	RoomID        string
	CanonicalPath string
	WorkspaceRoot string
	Open          bool   // false: before the first join and after the end
	Seq           int64  // event_seq of the last event
	Turn          int64  // the last turn that was granted; 0: none in any life
	Owner         string // the agent that holds the stick, "" if none does
	ReservedFor   string // the recipient of the next turn, "" if there is none
	Grant         Grant
	Pending       PendingHandoff
	ShortTurns    int64 // how many turns in a row, up to the last one, were of no use to agents that were woken for them
	Policy        Policy
	Members       []Member
	Former        []Former     // former members that held the stick in this life or were removed, in the order they left
	NextOrdinal   int          // of the next member to join
	Broadcasts    int64        // messages to the room in this life
	Notes         []Note       // the open ones, oldest first
	LastNote      int64        // the last event about a note, see [NotePayload]
	Changes       []TreeChange // of the tree, the newest last
	Jobs          []ToldJobs   // whose end was told, by the hosts that ran them
	UpdatedAt     event.Time
}

// A Grant is the turn in progress. It is zero if no agent owns the stick.
type Grant struct {
	Lease   string
	At      Instant        // when the turn was granted
	TTL     time.Duration  // of the lease; 0: an older program granted the turn
	Host    string         // that of the owner; "" without an engine
	Handoff PendingHandoff // the handoff that came with the turn, zero if none did
	Woken   bool           // the agent was woken for the turn
	Auto    bool           // a hook has taken the turn for the agent
}

// A PendingHandoff is a handoff that no turn has taken up yet. It is zero if there is
// none. A reservation always has one.
type PendingHandoff struct {
	Seq    int64 // the event with the handoff
	From   string
	Direct bool // assigned to a named member, not to the fairest
	At     Instant
	// Preferred is the member that the turn is offered to first, if the turn is not
	// reserved. For the grace time no other agent can claim the turn.
	Preferred string
	Listens   bool // Preferred listened at the release, and was notified
	Auto      bool // a hook has released the turn
	// Unchanged is set if nothing was changed: it is no handoff to anybody. Given and GivenFrom
	// are those that came with that turn, which the next one gets again.
	Unchanged bool
	Given     int64
	GivenFrom string
}

// A Member is one agent of the room.
type Member struct {
	AgentID     string
	DisplayName string
	SessionKind string
	Ordinal     int
	JoinedAt    event.Time
	Observer    bool  // takes part in the talk, not in the turns, see [JoinRequest]
	LastHeld    int64 // the event of its last grant; 0: it never held the stick
	Direct      int64 // messages to it alone
	Sent        int64 // messages from it to the room
	Broadcasts  int64 // messages to the room before it joined
	Jobs        int64 // jobs of its own of whose end it was told
	LastJob     int64 // the event of the last one
	Lost        Loss  // how its last turn ended
}

// A Former is an agent that held the stick or was removed, and is no longer a member. If it joins
// again, it still comes after the members that never held the stick.
type Former struct {
	AgentID  string
	LastHeld int64 // the event of its last grant; 0: it never held the stick
	Lost     Loss  // how its last turn ended
	Removed  Loss  // how it was removed; zero: it left by itself
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

// Mail returns how many messages have been meant for the member since it joined:
// those to it alone, and those of other members to the room.
func (s *State) Mail(id string) int64 {
	m := s.Member(id)
	if m == nil {
		return 0
	}
	return m.Direct + s.Broadcasts - m.Broadcasts - m.Sent
}

// Clone returns a copy. Apply changes nothing that the two share.
func (s *State) Clone() *State {
	c := *s
	c.Members = append([]Member(nil), s.Members...)
	c.Former = append([]Former(nil), s.Former...)
	c.Notes = append([]Note(nil), s.Notes...)
	c.Changes = append([]TreeChange(nil), s.Changes...)
	c.Jobs = append([]ToldJobs(nil), s.Jobs...)
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
