package turn

import (
	"strconv"
	"testing"
	"time"
)

// TestFairestLooksAtFew: of many members only those are looked at on whom the answer depends.
func TestFairestLooksAtFew(t *testing.T) {
	s := &State{Open: true, Policy: DefaultPolicy()}
	now := At(time.UnixMilli(1_700_000_000_000), "boot", time.Hour)
	for i := range 100 {
		s.Members = append(s.Members, Member{AgentID: "m" + strconv.Itoa(i), LastHeld: int64((i*37)%100 + 1)})
	}
	looked := make(map[string]bool)
	f := Facts{Now: now, Presence: func(id string) Presence {
		looked[id] = true
		if id == "m0" { // it held the stick longest ago, and has ended
			return Presence{Seen: now.Wall.Time, Process: Gone}
		}
		return Presence{Seen: now.Wall.Time}
	}}
	if m := s.fairestOf(f, "m99", anybody); m == nil || m.LastHeld != 2 {
		t.Errorf("%+v is next", m)
	}
	if len(looked) > 2 {
		t.Errorf("it looked at %d members", len(looked))
	}
}
