package turn

import "github.com/talking-stick/tt/journal/event"

// An Unread counts what has come for an agent and was not shown to it.
type Unread struct {
	Messages  int64 `json:"messages,omitempty"`
	Notes     int64 `json:"notes,omitempty"`     // open ones
	Questions int64 `json:"questions,omitempty"` // that the agent owes an answer
	Answers   int64 `json:"answers,omitempty"`   // to questions of its own
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

// NotesFor returns the open notes for the agent with their bodies, oldest first: at most
// so many, and of those that the agent has seen already, up to the event_seq seen, only as
// many as there is place for. It reads events with at and returns its errors.
func (s *State) NotesFor(agent string, seen int64, most int, at func(seq int64) (*event.Event, error)) ([]NoteView, error) {
	notes := []NoteView{}
	place := most - int(min(s.UnreadNotes(agent, seen), int64(most))) // for seen ones
	for i := range s.Notes {
		n := &s.Notes[i]
		if !n.addresses(agent) || len(notes) == most {
			continue
		}
		if n.Seq <= seen {
			if place == 0 {
				continue
			}
			place--
		}
		p, err := noteAt(n.Seq, at)
		if err != nil {
			return nil, err
		}
		notes = append(notes, NoteView{Note: *n, Body: p.Body})
	}
	return notes, nil
}
