package turn

import (
	"cmp"
	"fmt"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A Position says where the stick is. It never contains a lease.
type Position struct {
	State          string      `json:"state"` // one of the State constants
	TurnID         int64       `json:"turn_id"`
	Owner          string      `json:"owner,omitempty"`
	ReservedFor    string      `json:"reserved_for,omitempty"`
	LeaseExpiresAt *event.Time `json:"lease_expires_at,omitzero"`
	ClaimExpiresAt *event.Time `json:"claim_expires_at,omitzero"`
	Trouble        []Trouble   `json:"trouble,omitempty"`
}

// A RoomView is what commands show of a room.
type RoomView struct {
	RoomID        string `json:"room_id"`
	CanonicalPath string `json:"canonical_path"`
	Position
	PendingHandoff int64       `json:"pending_handoff_event_seq,omitempty"` // event_seq; 0: none
	LastEventSeq   int64       `json:"last_event_seq"`
	UpdatedAt      event.Time  `json:"updated_at"`
	OfferedTo      string      // the only member that may claim the free turn for now, "" if any may; not part of the JSON
	OfferedUntil   *event.Time // the same
	Activity       Activity    `json:"activity,omitzero"`      // of the owner
	PathMissing    bool        `json:"path_missing,omitempty"` // no directory is at CanonicalPath; the rules leave it to the caller to set
	// JournalShortened is what the journal has lost; the rules leave it to the caller to set.
	JournalShortened *event.Lost `json:"journal_shortened,omitzero"`
}

// Room returns the view of the room at the moment of the facts.
func (s *State) Room(f Facts) RoomView {
	lease, claim := s.deadlines(f)
	v := RoomView{
		RoomID: s.RoomID, CanonicalPath: cmp.Or(f.Directory, s.CanonicalPath), PendingHandoff: s.Pending.Seq, LastEventSeq: s.Seq,
		UpdatedAt: s.UpdatedAt, Position: Position{s.Status(f), s.Turn, s.Owner, s.ReservedFor, lease, claim, s.Trouble(f)},
	}
	v.OfferedTo, v.OfferedUntil = s.alone(f)
	if s.Owner != "" {
		v.Activity = f.activity(s.Owner)
	}
	return v
}

// Whether a member takes part.
const (
	memberActive   = "active"
	memberInactive = "inactive"
)

// A MemberView is what commands show of a member.
type MemberView struct {
	AgentID     string        `json:"agent_id"`
	DisplayName string        `json:"display_name"`
	Ordinal     int           `json:"ordinal"`
	JoinedAt    event.Time    `json:"joined_at"`
	LastSeenAt  event.Time    `json:"last_seen_at"`
	Waiting     bool          `json:"waiting"`
	Status      string        `json:"status"` // active, inactive
	Process     Process       `json:"process"`
	GoneAt      *event.Time   `json:"gone_at,omitzero"` // when it counts as gone, though its process has ended already; nil: see [State.GoneAt]
	SessionKind string        `json:"session_kind"`
	Observer    bool          `json:"observer,omitempty"`
	Listening   string        `json:"listening,omitempty"` // what listens for it, "" if nothing does
	Reach       string        `json:"reach"`               // how it can be reached, see [State.Reach]
	Within      time.Duration // see [Hearing]; not part of the JSON
	Why         string        `json:"why,omitempty"` // why the member is inactive, or not known to be alive; else ""
	Activity    Activity      `json:"activity,omitzero"`
}

// MemberViews returns the members in the order they joined, the inactive ones
// last. It is never nil.
func (s *State) MemberViews(f Facts) []MemberView {
	active := make([]MemberView, 0, len(s.Members))
	var inactive []MemberView
	for i := range s.Members {
		if v := s.memberView(f, &s.Members[i]); v.Status == memberActive {
			active = append(active, v)
		} else {
			inactive = append(inactive, v)
		}
	}
	return append(active, inactive...)
}

func (s *State) memberView(f Facts, m *Member) MemberView {
	p, gone := f.presence(m.AgentID), f.Gone(s, m)
	v := MemberView{
		AgentID: m.AgentID, DisplayName: m.DisplayName, Ordinal: m.Ordinal, JoinedAt: m.JoinedAt,
		LastSeenAt: event.NewTime(f.lastSeen(m)), Waiting: f.isWaiting(m.AgentID), Status: memberActive,
		Process: p.shown(), GoneAt: s.GoneAt(f, m.AgentID), SessionKind: m.SessionKind, Observer: m.Observer,
		Listening: s.listening(f, m.AgentID), Reach: s.Reach(f, m.AgentID), Within: f.hearing(m.AgentID).Within, Activity: f.activity(m.AgentID),
	}
	switch {
	case f.active(s, m):
		v.Why = doubts(p, v.GoneAt)
	case gone && p.OutlivesProcess:
		v.Status, v.Why = memberInactive, p.ended()+", and it is silent"
	case gone:
		v.Status, v.Why = memberInactive, p.ended()
	default:
		v.Status, v.Why = memberInactive, "silent for longer than the presence time"
	}
	return v
}

// listening returns what tells the member of news while its model is idle, "" if nothing
// does: what listens for it, or its wait.
func (s *State) listening(f Facts, id string) string {
	if how := f.hearing(id).How; how != "" || !f.isWaiting(id) {
		return how
	}
	return "wait"
}

// doubts says why an active member may not go on, "" if nothing speaks against it.
func doubts(p Presence, goneAt *event.Time) string {
	switch {
	case p.Silent > 0:
		return "silent for " + spoken(p.Silent)
	case p.Stopped && p.Guardian:
		return fmt.Sprintf("its guardian, process %d, is stopped", p.PID)
	case p.Stopped:
		return fmt.Sprintf("its process %d is stopped", p.PID)
	case goneAt != nil:
		return p.ended() + "; it counts as gone at " + goneAt.Format(utcClock)
	}
	return ""
}
