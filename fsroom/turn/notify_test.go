package turn_test

import (
	"slices"
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
)

// TestWhoToNotify: a change notifies the agents for which it makes a difference, and no others.
func TestWhoToNotify(t *testing.T) {
	all := []string{"a", "b", "c"}
	room := func(change func(*turn.State)) *turn.State {
		s := turn.New(roomID)
		s.Open, s.Policy = true, turn.DefaultPolicy()
		for _, id := range all {
			s.Members = append(s.Members, turn.Member{AgentID: id})
		}
		change(s)
		return s
	}
	free := func(s *turn.State) {}
	owned := func(s *turn.State) { s.Turn, s.Owner = 1, "a" }
	reserved := func(s *turn.State) { s.Turn, s.ReservedFor, s.Pending.Seq = 1, "b", 7 }
	without := func(id string, change func(*turn.State)) func(*turn.State) {
		return func(s *turn.State) {
			change(s)
			s.Members = slices.DeleteFunc(s.Members, func(m turn.Member) bool { return m.AgentID == id })
		}
	}
	tests := map[string]struct {
		before, after func(*turn.State)
		want          []string
	}{
		"a message":                   {owned, func(s *turn.State) { owned(s); s.Seq, s.Members[0].LastMail = 9, 9 }, nil},
		"a join":                      {without("c", owned), owned, nil},
		"a claim":                     {reserved, func(s *turn.State) { s.Turn, s.Owner = 2, "b" }, []string{"b"}},
		"a takeover":                  {owned, func(s *turn.State) { s.Turn, s.Owner = 2, "c" }, []string{"c"}},
		"a reservation":               {owned, reserved, []string{"b"}},
		"a release to nobody":         {owned, func(s *turn.State) { s.Turn, s.Pending.Seq = 1, 7 }, all},
		"who waits leaves":            {owned, without("b", owned), []string{"b", "a"}},
		"the owner leaves":            {owned, without("a", free), all},
		"one of the others is kicked": {reserved, without("c", reserved), all},
		"a new policy":                {owned, func(s *turn.State) { owned(s); s.Policy.ClaimTTL++ }, all},
		"the end":                     {owned, func(s *turn.State) { *s = turn.State{} }, all},
	}
	for name, test := range tests {
		if got := turn.WhoToNotify(room(test.before), room(test.after)); !slices.Equal(got, test.want) {
			t.Errorf("%s wakes %v, want %v", name, got, test.want)
		}
	}
}

// TestBystanders: agents that a handoff did not notify are notified when it is over.
func TestBystanders(t *testing.T) {
	room := func(owner, reserved string) *turn.State {
		s := turn.New(roomID)
		s.Open, s.Turn, s.Owner, s.ReservedFor = true, 1, owner, reserved
		for _, id := range []string{"a", "b", "c"} {
			s.Members = append(s.Members, turn.Member{AgentID: id})
		}
		return s
	}
	for _, c := range []struct {
		name  string
		state *turn.State
		want  []string
	}{
		{"a guardian keeps the turn", room("b", ""), []string{"a", "c"}},
		{"the recipient does not wait", room("", "b"), []string{"a", "c"}},
		{"nobody is to take it", room("", ""), nil},
	} {
		if got := c.state.Bystanders(); !slices.Equal(got, c.want) {
			t.Errorf("%s wakes %v, want %v", c.name, got, c.want)
		}
	}
}
