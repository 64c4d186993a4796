package turn

import (
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// Idle reports whether the room has outlived idle_room_ttl: for that long nothing
// happened in it and no member was heard of, and no member is known to be alive.
// Observers do not count.
// Such a room counts as ended. The next agent that joins ends it, see [Enter].
func (s *State) Idle(f Facts) bool {
	if !s.Quiet(f.Now.Wall.Time) {
		return false
	}
	ttl := ms(s.Policy.IdleRoomTTL)
	for i := range s.Members {
		m := &s.Members[i]
		if m.Observer {
			continue
		}
		if f.presence(m.AgentID).Process == Alive || f.silence(m) < ttl || f.isWaiting(m.AgentID) {
			return false
		}
	}
	return s.Owner == "" || f.leaseExpired(s)
}

// Quiet reports whether no event came for idle_room_ttl. Only a quiet room can be idle.
func (s *State) Quiet(now time.Time) bool {
	ttl := ms(s.Policy.IdleRoomTTL)
	return s.Open && ttl > 0 && now.Sub(s.UpdatedAt.Time) >= ttl
}

// Ended reports whether the room is closed, or counts as closed because it is idle.
// It calls facts only if the answer depends on them.
func (s *State) Ended(now time.Time, facts func() Facts) bool {
	return !s.Open || (s.Quiet(now) && s.Idle(facts()))
}

// End closes an idle room. It returns no events for any other.
func End(s *State, f Facts) []event.Event {
	if !s.Idle(f) {
		return nil
	}
	return []event.Event{{Type: Closed, Turn: s.Turn, Reason: "idle for longer than idle_room_ttl"}}
}
