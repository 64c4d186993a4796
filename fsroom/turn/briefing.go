package turn

import (
	"cmp"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A Briefing is what an agent should know of the room when it gets the turn, apart from
// the handoff.
type Briefing struct {
	Notes      []BriefNote     `json:"notes,omitempty"`       // open notes, see [State.BriefNotes] and [FitNotes]
	NotesTotal int             `json:"notes_total,omitempty"` // how many notes are open
	Unread     Unread          `json:"unread,omitzero"`       // what is not in Notes
	Missed     []MissedHandoff `json:"missed,omitempty"`
	// Changes are what changed in the tree since the agent's last turn, as a JSON array, the
	// newest last; MoreChanges is how many more there were.
	Changes     json.RawMessage `json:"changes,omitempty"`
	MoreChanges int             `json:"changes_more,omitempty"`
	// Interrupted is the turn that was taken from its holder by this one, as JSON.
	Interrupted json.RawMessage `json:"interrupted,omitempty"`
}

// AddChange adds a change of the tree, the newest, with its payload.
func (b *Briefing) AddChange(what json.RawMessage) {
	var list []json.RawMessage
	_ = json.Unmarshal(b.Changes, &list)
	list = append(list, ToldChange(what))
	if more := len(list) - maxBriefChanges; more > 0 {
		list, b.MoreChanges = list[more:], b.MoreChanges+more
	}
	b.Changes, _ = json.Marshal(list)
}

// The limits of a briefing.
const (
	maxBriefNotes     = 5
	maxBriefNoteBytes = 2 << 10 // of all notes as JSON
	maxMissed         = 10
	maxMissedStatus   = 400 // characters
)

// A BriefNote is a note in a briefing. Its body may be cut.
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

// BriefNotes returns the open notes that a briefing of the agent shows, the most
// important first: the pages, then what the agent has not seen, then the oldest.
func (s *State) BriefNotes(agent string, seen SeenNotes) []BriefNote {
	unread := func(n *Note) bool { return !seen.Has(n) && n.addresses(agent) }
	sorted := slices.Clone(s.Notes)
	compare := func(a, b Note) int {
		return cmp.Or(before(a.isPage(), b.isPage()), before(unread(&a), unread(&b)))
	}
	sort.SliceStable(sorted, func(i, j int) bool { return compare(sorted[i], sorted[j]) < 0 })
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

// A MissedHandoff is a handoff between two turns of an agent.
type MissedHandoff struct {
	TurnID int64  `json:"turn_id"`
	Agent  string `json:"agent_id"`
	Status string `json:"status"` // its beginning
}

// A MissedList collects the handoffs that an agent has missed: those of other agents
// since its last turn, or since it joined if that was later.
type MissedList struct {
	Agent   string
	Except  int64 // the event_seq of the handoff that the agent gets
	Found   bool  // the agent's last turn, or its joining, was among the events
	handoff []event.Event
}

// Add takes the next event into account.
func (l *MissedList) Add(e *event.Event) {
	switch e.Type {
	case Claim, Takeover, MemberJoined:
		if (e.Type == MemberJoined && e.From == l.Agent) || (e.Type != MemberJoined && e.To == l.Agent) {
			l.Found, l.handoff = true, nil
		}
	case Released, Passed:
		var p releasePayload
		if e.From != l.Agent && e.Seq != l.Except && !(decode(e, &p) == nil && p.Unchanged) {
			l.handoff = append(l.handoff, e.Clone())
			l.handoff = l.handoff[max(0, len(l.handoff)-maxMissed):]
		}
	}
}

// Full reports whether the list has as many handoffs as it can have.
func (l *MissedList) Full() bool { return len(l.handoff) == maxMissed }

// List returns the last ten handoffs, oldest first.
func (l *MissedList) List() []MissedHandoff {
	var list []MissedHandoff
	for i := range l.handoff {
		e := &l.handoff[i]
		list = append(list, MissedHandoff{TurnID: e.Turn, Agent: e.From, Status: cutAtWord(ReadHandoff(e.Handoff).Status, maxMissedStatus)})
	}
	return list
}

// cutAtWord cuts a text behind the last word that ends within so many characters, and marks
// that by an ellipsis.
func cutAtWord(text string, most int) string {
	text = strings.TrimSpace(text)
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	cut := string(runes[:most])
	if i := strings.LastIndexFunc(cut, unicode.IsSpace); i > 0 && !unicode.IsSpace(runes[most]) {
		cut = cut[:i]
	}
	return strings.TrimRightFunc(cut, unicode.IsSpace) + "…"
}

// MayHaveMissed returns a range of events: those after after, up to upTo. The handoffs that the
// agent has missed are among them; both are 0 if it has missed none. While the agent has the
// turn, its last turn is the one before.
func (s *State) MayHaveMissed(agent string) (after, upTo int64) {
	const fewest = 4 // takeover, release, claim, release
	m := s.Member(agent)
	if m == nil {
		return 0, 0
	}
	after, upTo = m.LastHeld, s.Seq
	if s.Owner == agent {
		after, upTo = 0, m.LastHeld-1
	}
	others := false
	for i := range s.Members {
		others = others || s.Members[i].AgentID != agent && s.Members[i].LastHeld > after
	}
	for _, h := range s.Former {
		others = others || h.LastHeld > after
	}
	if !others || upTo-after < fewest {
		return 0, 0
	}
	return after, upTo
}
