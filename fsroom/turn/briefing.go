package turn

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// A Briefing is what an agent should know of the room when it gets the turn, apart from
// the handoff.
type Briefing struct {
	Notes      []talk.BriefNote `json:"notes,omitempty"`       // open notes, see [talk.BriefNotes] and [talk.FitNotes]
	NotesTotal int              `json:"notes_total,omitempty"` // how many notes are open
	Unread     talk.Unread      `json:"unread,omitzero"`       // what is not in Notes
	Missed     []MissedHandoff  `json:"missed,omitempty"`
	// Changes are what changed in the tree since the agent's last turn, the newest last, nil without a turn;
	// MoreChanges is how many more there were.
	Changes     []json.RawMessage `json:"changes,omitzero"`
	MoreChanges int               `json:"changes_more,omitempty"`
	// Interrupted is the turn that was taken from its holder by this one, as JSON.
	Interrupted json.RawMessage `json:"interrupted,omitempty"`
}

// AddChange adds a change of the tree, the newest, with its payload.
func (b *Briefing) AddChange(what json.RawMessage) {
	b.Changes = append(b.Changes, ToldChange(what))
	if more := len(b.Changes) - maxBriefChanges; more > 0 {
		b.Changes, b.MoreChanges = b.Changes[more:], b.MoreChanges+more
	}
}

// The limits of a briefing.
const (
	maxMissed       = 10
	maxMissedStatus = 400 // characters
)

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
	handoff []event.Event
}

// Add takes the next event into account.
func (l *MissedList) Add(e *event.Event) {
	switch e.Type {
	case Claim, Takeover, MemberJoined:
		if (e.Type == MemberJoined && e.From == l.Agent) || (e.Type != MemberJoined && e.To == l.Agent) {
			l.handoff = nil
		}
	case Released, Passed:
		var p releasePayload
		if e.From != l.Agent && e.Seq != l.Except && !(talk.Decode(e, &p) == nil && p.Unchanged) {
			l.handoff = append(l.handoff, e.Clone())
			l.handoff = l.handoff[max(0, len(l.handoff)-maxMissed):]
		}
	}
}

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
// agent has missed are among them; both are 0 for one that is no member. While the agent has the
// turn, its last turn is the one before.
func (s *State) MayHaveMissed(agent string) (after, upTo int64) {
	m := s.Member(agent)
	switch {
	case m == nil:
		return 0, 0
	case s.Owner == agent:
		return 0, m.LastHeld - 1
	}
	return m.LastHeld, s.Seq
}
