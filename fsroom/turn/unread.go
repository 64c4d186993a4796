package turn

// An Unread counts what has come for an agent and was not shown to it.
type Unread struct {
	Messages int64 `json:"messages,omitempty"`
	Notes    int64 `json:"notes,omitempty"` // open ones
}

// addresses reports whether the note is for the agent: by another agent, and for all or
// for it.
func (n *Note) addresses(agent string) bool {
	return n.Author != agent && (n.Target == "" || n.Target == agent)
}

// UnreadNotes counts the open notes for the agent after the event_seq seen.
func (s *State) UnreadNotes(agent string, seen int64) (count int64) {
	for i := range s.Notes {
		if n := &s.Notes[i]; n.Seq > seen && n.addresses(agent) {
			count++
		}
	}
	return count
}

// NotesSeen returns the event_seq up to which the agent has seen the open notes for it,
// if it had seen them up to seen and is now shown those for which shown is true. It
// stops before the first note that is not shown.
func (s *State) NotesSeen(agent string, seen int64, shown func(seq int64) bool) int64 {
	for i := range s.Notes {
		switch n := &s.Notes[i]; {
		case n.Seq <= seen || !n.addresses(agent):
		case !shown(n.Seq):
			return seen
		default:
			seen = n.Seq
		}
	}
	return seen
}
