package talk

import (
	"cmp"
	"slices"

	"github.com/talking-stick/tt/journal/wire"
)

// The limits of the notes that come with a turn.
const (
	maxBriefNotes     = 5
	maxBriefNoteBytes = 2 << 10 // of all notes as JSON
)

// A BriefNote is a note that comes with a turn. Its body may be cut.
type BriefNote struct {
	Seq       int64  // the event that added it
	ID        string `json:"note_id"`
	Turn      int64  `json:"turn_id,omitempty"`
	Author    string `json:"author_agent_id"`
	Target    string `json:"target_agent_id,omitempty"`
	Severity  string `json:"severity"`
	Body      string `json:"body"`
	Truncated bool   `json:"truncated,omitempty"` // the body was cut, and ends with "…"
}

// BriefNotes returns the open notes that the agent is shown with a turn, the most
// important first: the pages, then what the agent has not seen, then the oldest.
func BriefNotes(open []Note, agent string, seen *Seen) []BriefNote {
	rank := func(n *Note) (r int) {
		if n.Kind() != KindPage {
			r = 2
		}
		if seen.Has(n.Kind(), n.Seq) || !n.isFor(agent) {
			r++
		}
		return r
	}
	sorted := slices.Clone(open)
	slices.SortStableFunc(sorted, func(a, b Note) int { return cmp.Compare(rank(&a), rank(&b)) })
	var notes []BriefNote
	for _, n := range sorted[:min(len(sorted), maxBriefNotes)] {
		notes = append(notes, BriefNote{Seq: n.Seq, ID: n.ID, Turn: n.Turn, Author: n.Author, Target: n.Target, Severity: n.Severity})
	}
	return notes
}

// FitNotes cuts the bodies of the notes so that their JSON has at most 2 KiB. If ids
// leave too little room for bodies, it leaves out the last notes.
func FitNotes(notes []BriefNote) []BriefNote {
	for ; len(notes) > 0; notes = notes[:len(notes)-1] {
		if fitted := fitNotes(notes); fitted != nil {
			return fitted
		}
	}
	return nil
}

// fitNotes is FitNotes for all of the notes, or nil. Each has the same share. What a short note does
// not need of it is left to the longer ones.
func fitNotes(notes []BriefNote) []BriefNote {
	fitted := slices.Clone(notes)
	shortest := make([]*BriefNote, len(fitted))
	for i := range fitted {
		shortest[i] = &fitted[i]
	}
	slices.SortFunc(shortest, func(a, b *BriefNote) int { return cmp.Compare(a.size(), b.size()) })
	left := maxBriefNoteBytes - len("[]")
	for i, n := range shortest {
		if !n.cut(left/(len(shortest)-i) - len(",")) {
			return nil
		}
		left -= n.size() + len(",")
	}
	return fitted
}

func (n *BriefNote) size() int { return len(wire.Append(nil, n)) }

// cut cuts the body so that the note has at most size bytes as JSON. It reports whether
// some of a body that is too long is left.
func (n *BriefNote) cut(size int) bool {
	const least = 32 // bytes of a body that is worth showing
	if n.size() <= size {
		return true
	}
	short := *n
	short.Body, short.Truncated = "…", true
	left := size - short.size()
	if left < least {
		return false
	}
	end := 0
	for i, r := range n.Body {
		end = i
		if left -= len(wire.AppendString(nil, string(r))) - len(`""`); left < 0 {
			break
		}
	}
	n.Body, n.Truncated = n.Body[:end]+"…", true
	return true
}
