package turn

import (
	"cmp"
	"slices"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// The states of a room as they are reported.
const (
	StateIdle          = "idle"
	StateOwned         = "owned"
	StateReserved      = "reserved"
	StateStaleOwner    = "stale_owner"
	StateOwnerGone     = "owner_gone"
	StateRecipientGone = "recipient_gone"
	StateDormant       = "dormant"
	StateClosed        = "closed"
)

// Status derives the reported state, the most actionable first.
func (s *State) Status(f Facts) string {
	switch {
	case !s.Open:
		return StateClosed
	case s.Owner != "":
		return s.ownedStatus(f)
	case s.ReservedFor != "":
		if m := s.Member(s.ReservedFor); m != nil && f.Gone(s, m) {
			return StateRecipientGone
		}
		return StateReserved
	case f.otherActive(s):
		return StateIdle
	}
	return StateDormant
}

func (s *State) ownedStatus(f Facts) string {
	switch m := s.Member(s.Owner); {
	case m != nil && f.Gone(s, m):
		return StateOwnerGone
	case f.leaseExpired(s):
		return StateStaleOwner
	}
	return StateOwned
}

// A RoomView is the projection of a room that commands print. It never carries
// a lease.
type RoomView struct {
	RoomID         string
	CanonicalPath  string
	State          string
	TurnID         int64
	Owner          string
	ReservedFor    string
	LeaseExpiresAt *event.Time
	ClaimExpiresAt *event.Time
	PendingHandoff int64
	LastEventSeq   int64
	UpdatedAt      event.Time
	PathMissing    bool // there is nothing at CanonicalPath; set by who looks at the disk
}

// Room returns the projection at the moment of the facts.
func (s *State) Room(f Facts) RoomView {
	v := RoomView{
		RoomID: s.RoomID, CanonicalPath: s.CanonicalPath, State: s.Status(f), TurnID: s.Turn,
		Owner: s.Owner, ReservedFor: s.ReservedFor, PendingHandoff: s.Pending.Seq,
		LastEventSeq: s.Seq, UpdatedAt: s.UpdatedAt,
	}
	v.LeaseExpiresAt, v.ClaimExpiresAt = s.deadlines(f)
	return v
}

// deadlines are the ends of the lease and of the reservation in wall time; nil
// where there is none.
func (s *State) deadlines(f Facts) (lease, claim *event.Time) {
	if s.Owner != "" {
		t := f.Now.End(f.leaseStart(s), ms(s.Policy.OwnerLeaseTTL))
		lease = &t
	}
	if s.ReservedFor != "" {
		t := f.Now.End(s.Pending.At, ms(s.Policy.ClaimTTL))
		claim = &t
	}
	return lease, claim
}

// A MemberView is the projection of a member.
type MemberView struct {
	AgentID     string
	DisplayName string
	Ordinal     int
	JoinedAt    event.Time
	LastSeenAt  event.Time
	Waiting     bool
	Status      string
	Process     Process
	SessionKind string
	Why         string // why it is inactive
}

// MemberViews returns the members in the order they joined, those that are
// inactive last. It is never nil.
func (s *State) MemberViews(f Facts) []MemberView {
	active := make([]MemberView, 0, len(s.Members))
	var inactive []MemberView
	for i := range s.Members {
		if v := s.memberView(f, &s.Members[i]); v.Status == "active" {
			active = append(active, v)
		} else {
			inactive = append(inactive, v)
		}
	}
	return append(active, inactive...)
}

func (s *State) memberView(f Facts, m *Member) MemberView {
	p, seen := f.presence(m.AgentID), event.NewTime(f.lastSeen(m))
	v := MemberView{
		AgentID: m.AgentID, DisplayName: m.DisplayName, Ordinal: m.Ordinal, JoinedAt: m.JoinedAt, LastSeenAt: seen,
		Waiting: p.Waiting, Status: "active", Process: p.shown(f.Gone(s, m)), SessionKind: m.SessionKind,
	}
	switch {
	case f.active(s, m):
	case f.Gone(s, m):
		v.Status, v.Why = "inactive", whyGone(p)
	default:
		v.Status, v.Why = "inactive", "silent for longer than the presence time"
	}
	return v
}

// Quiet reports whether no event came for longer than idle_room_ttl, without
// which the room cannot be idle.
func (s *State) Quiet(now time.Time) bool {
	ttl := ms(s.Policy.IdleRoomTTL)
	return s.Open && ttl > 0 && now.Sub(s.UpdatedAt.Time) >= ttl
}

// Ended reports whether the room is closed, or counts as closed because it has
// outlived idle_room_ttl. The facts are asked for only if that depends on them.
func (s *State) Ended(now time.Time, facts func() Facts) bool {
	return !s.Open || (s.Quiet(now) && s.Idle(facts()))
}

// Idle reports whether the room has outlived idle_room_ttl: nothing happened in
// it for that long, nobody was heard of, and nobody is known to be alive. Such
// a room counts as ended, and whoever joins next ends it for good.
func (s *State) Idle(f Facts) bool {
	if !s.Quiet(f.Now.Wall.Time) {
		return false
	}
	ttl := ms(s.Policy.IdleRoomTTL)
	for i := range s.Members {
		m := &s.Members[i]
		p := f.presence(m.AgentID)
		if p.Waiting || p.Process == Alive || f.silence(m) < ttl {
			return false
		}
	}
	return s.Owner == "" || f.leaseExpired(s)
}

// NextDeadline is how long, at most, nothing that time alone brings about can change
// what who is told by [Try]. Zero means no such moment is ahead.
func (s *State) NextDeadline(f Facts, who string) time.Duration {
	var next time.Duration
	ahead := func(d time.Duration) {
		if d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	grace := ms(s.Policy.WaiterGrace)
	switch {
	case !s.Open:
	case s.Owner != "":
		ahead(f.Now.Left(f.leaseStart(s), ms(s.Policy.OwnerLeaseTTL)))
		ahead(s.UntilGone(f, s.Owner))
	case s.ReservedFor != "":
		ahead(f.Now.Left(s.Pending.At, ms(s.Policy.ClaimTTL)))
		ahead(s.UntilGone(f, s.ReservedFor))
	case s.Pending.Seq != 0:
		ahead(f.Now.Left(s.Pending.At, grace))
		ahead(f.Now.Left(s.Pending.At, authorGraces*grace))
	}
	if s.Pending.From == who {
		s.nextInactive(f, who, ahead)
	}
	return next
}

// WatchedBy returns the members whose end changes what who is told by [Try] at once:
// the owner or the recipient of the turn, and for the author of a pending handoff,
// which is given it back when it is alone, all others.
func (s *State) WatchedBy(who string) []string {
	var ids []string
	if id := cmp.Or(s.Owner, s.ReservedFor); id != "" && id != who {
		ids = append(ids, id)
	}
	if s.Pending.Seq == 0 || s.Pending.From != who {
		return ids
	}
	for _, id := range s.Others(who) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Why an agent may not change shared files, see [State.Holds].
const (
	NotOwner      = "not_owner"
	LeaseRanOut   = "lease_expired"
	LeaseNotShown = "no_active_lease" // the turn is the agent's, but it was never told its lease
)

// Holds returns "" if the agent holds the stick with a live lease, and can show it;
// else why not. fence is what the agent has recorded, the zero Fence for nothing.
func (s *State) Holds(f Facts, agent string, fence Fence) string {
	switch {
	case !s.Open || s.Owner != agent:
		return NotOwner
	case f.leaseExpired(s):
		return LeaseRanOut
	case fence != Fence{Agent: agent, Turn: s.Turn, Lease: s.Grant.Lease}:
		return LeaseNotShown
	}
	return ""
}

// UntilGone is the time until a member whose process ended, but whose identity
// outlives it, counts as gone; zero where that is not so or has come.
func (s *State) UntilGone(f Facts, id string) time.Duration {
	m, p := s.Member(id), f.presence(id)
	if m == nil || p.Process != Gone || !p.OutlivesProcess {
		return 0
	}
	left := ms(s.Policy.GoneGrace) - f.silence(m) + time.Millisecond
	return max(0, left.Truncate(time.Millisecond)) // the clock of [Facts] knows no finer time
}

// nextInactive is when another member turns inactive, because it was silent for
// too long or counts as gone, which is what the author of a pending handoff may
// be waiting for.
func (s *State) nextInactive(f Facts, who string, ahead func(time.Duration)) {
	for i := range s.Members {
		if m := &s.Members[i]; m.AgentID != who {
			ahead(ms(s.Policy.PresenceTTL) - f.silence(m))
			ahead(s.UntilGone(f, m.AgentID))
		}
	}
}
