package turn

import (
	"cmp"
	"sort"
)

// An Unread counts what has come for an agent and was not shown to it.
type Unread struct {
	Messages  int64 `json:"messages,omitempty"`
	Notes     int64 `json:"notes,omitempty"`     // open ones, without the pages
	Pages     int64 `json:"pages,omitempty"`     // open notes of severity page
	Questions int64 `json:"questions,omitempty"` // that the agent owes an answer
	Answers   int64 `json:"answers,omitempty"`   // to questions of its own
	Jobs      int64 `json:"jobs,omitempty"`      // of its own that have ended
}

// addresses reports whether the note is for the agent: by another agent, and for all or
// for it.
func (n *Note) addresses(agent string) bool {
	return n.Author != agent && (n.Target == "" || n.Target == agent)
}

// isPage reports whether the note should be read at once.
func (n *Note) isPage() bool { return n.Severity == SeverityPage }

// SeenNotes says which notes an agent was shown: all up to the event_seq Notes, and all
// pages up to the event_seq Pages, which are shown before older notes.
type SeenNotes struct{ Notes, Pages int64 }

// Has reports whether the note was shown.
func (s SeenNotes) Has(n *Note) bool {
	if n.isPage() {
		return n.Seq <= s.Pages
	}
	return n.Seq <= s.Notes
}

// After returns the numbers of the notes up to an event.
func (s SeenNotes) After(seq int64) SeenNotes {
	return SeenNotes{max(s.Notes, seq), max(s.Pages, seq)}
}

// UnreadNotes counts the open notes for the agent that it was not shown: the pages apart.
func (s *State) UnreadNotes(agent string, seen SeenNotes) (notes, pages int64) {
	for i := range s.Notes {
		switch n := &s.Notes[i]; {
		case seen.Has(n) || !n.addresses(agent):
		case n.isPage():
			pages++
		default:
			notes++
		}
	}
	return notes, pages
}

// NotesSeen returns which notes the agent has seen after it is shown those for which shown is
// true. Notes and pages are counted apart, each up to the first open note that is not shown.
func (s *State) NotesSeen(agent string, seen SeenNotes, shown func(*Note) bool) SeenNotes {
	for _, pages := range []bool{false, true} {
		upTo := &seen.Notes
		if pages {
			upTo = &seen.Pages
		}
		for i := range s.Notes {
			n := &s.Notes[i]
			if n.isPage() != pages || seen.Has(n) || !n.addresses(agent) {
				continue
			}
			if !shown(n) {
				break
			}
			*upTo = n.Seq
		}
	}
	return seen
}

// NotesFor returns the open notes for the agent, without their bodies. Those that it was not
// shown come first, of these the pages, and of each the oldest. fresh is how many it was not shown.
func (s *State) NotesFor(agent string, seen SeenNotes) (notes []Note, fresh int) {
	for i := range s.Notes {
		n := &s.Notes[i]
		if !n.addresses(agent) {
			continue
		}
		if notes = append(notes, *n); !seen.Has(n) {
			fresh++
		}
	}
	compare := func(a, b Note) int {
		return cmp.Or(before(!seen.Has(&a), !seen.Has(&b)), before(a.isPage(), b.isPage()))
	}
	sort.SliceStable(notes, func(i, j int) bool { return compare(notes[i], notes[j]) < 0 })
	return notes, fresh
}

// before compares two by a property, so that what has it comes first.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
