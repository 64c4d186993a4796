package turn

import (
	"cmp"
	"fmt"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A RoomView is what commands show of a room. It never contains a lease.
type RoomView struct {
	RoomID         string
	CanonicalPath  string
	State          string // one of the State constants
	TurnID         int64
	Owner          string
	ReservedFor    string
	LeaseExpiresAt *event.Time
	ClaimExpiresAt *event.Time
	PendingHandoff int64 // event_seq; 0: none
	LastEventSeq   int64
	UpdatedAt      event.Time
	Trouble        []Trouble
	OfferedTo      string      // the only member that may claim the free turn for now, "" if any may; not part of the JSON
	OfferedUntil   *event.Time // the same
	PathMissing    bool        // nothing is at CanonicalPath; the rules leave it to the caller to set
	Activity       Activity    // of the owner
	// JournalShortened is what the journal has lost; the rules leave it to the caller to set.
	JournalShortened *event.Lost
}

// Room returns the view of the room at the moment of the facts.
func (s *State) Room(f Facts) RoomView {
	v := RoomView{
		RoomID: s.RoomID, CanonicalPath: cmp.Or(f.Directory, s.CanonicalPath), State: s.Status(f), TurnID: s.Turn,
		Owner: s.Owner, ReservedFor: s.ReservedFor, PendingHandoff: s.Pending.Seq,
		LastEventSeq: s.Seq, UpdatedAt: s.UpdatedAt, Trouble: s.Trouble(f),
	}
	v.LeaseExpiresAt, v.ClaimExpiresAt = s.deadlines(f)
	if s.Owner == "" && s.ReservedFor == "" && s.prefers(f) {
		until := s.preferredUntil(f)
		v.OfferedTo, v.OfferedUntil = s.Pending.Preferred, &until
	}
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
	AgentID     string
	DisplayName string
	Ordinal     int
	JoinedAt    event.Time
	LastSeenAt  event.Time
	Waiting     bool
	Status      string // active, inactive
	Process     Process
	GoneAt      *event.Time // when it counts as gone, though its process has ended already; nil: see [State.GoneAt]
	SessionKind string
	Observer    bool
	Listening   string        // what listens for it, "" if nothing does
	Reach       string        // how it can be reached, see [State.Reach]
	Within      time.Duration // see [Hearing]; not part of the JSON
	Activity    Activity
	Why         string // why the member is inactive, or not known to be alive; else ""
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
