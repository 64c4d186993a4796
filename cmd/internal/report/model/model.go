// Package model makes the data of a report from the events of a room. It is pure: it
// reads no file and no clock, and the same events give the same model.
//
// The JSON of a [Model] is what "tt report --format json" prints and what the page has
// in it, so its names are short and part of the contract with other tools.
package model

import (
	"encoding/json"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A Model is the history of a room. Times are milliseconds since 1970 (UTC). An agent is
// an index into Agents. Lists are in the order of the events; what a list item does not
// have is left out.
type Model struct {
	Room      string         `json:"room"` // the room_id
	Path      string         `json:"path"`
	From      int64          `json:"from"`
	To        int64          `json:"to"`     // the last event, or the time of the report while a turn is held or reserved
	Events    int64          `json:"events"` // of the room, in this part of its history
	Agents    []Agent        `json:"agents"`
	Turns     []Turn         `json:"turns"`
	Offered   []Span         `json:"offered"` // from a reservation to its claim
	Here      []Span         `json:"here"`    // from joining to leaving; no end: still a member
	Messages  []Message      `json:"msgs"`
	Notes     []Note         `json:"notes"`
	Questions []Question     `json:"asks"`
	Lives     []Life         `json:"lives"`             // each from opening to close
	Idle      []Gap          `json:"idle"`              // where nothing happened for more than 20 minutes
	Damaged   []Oddity       `json:"damaged,omitempty"` // events that were lost
	Steps     []Oddity       `json:"steps,omitempty"`   // where the clock was set back
	Unknown   map[string]int `json:"unknown,omitempty"` // events of types that this program does not know
	Omitted   int            `json:"omitted_turns"`     // older turns that are left out because there are too many
	Redacted  bool           `json:"redacted,omitempty"`
	Verdicts  []string       `json:"verdicts,omitempty"` // the last ones of the tree, in words
}

// An Agent is somebody who appears in the events.
type Agent struct {
	ID   string `json:"id"`
	Kind string `json:"kind"` // what stands before the colon: claude, codex, human
}

// A Turn lasts from a grant to what ended it.
type Turn struct {
	Number    int64           `json:"n"`
	Agent     int             `json:"a"`
	Start     int64           `json:"s"`
	End       int64           `json:"e,omitempty"`   // none: still held
	EndedBy   string          `json:"by,omitempty"`  // release, pass, takeover, kick, member_left, close; lost: by a damaged event
	To        *int            `json:"to,omitempty"`  // whom a release or pass reserved it for
	Kind      string          `json:"k,omitempty"`   // why it was granted: open_claim, sequence, owner_gone, …; lost: by a damaged event
	TakenFrom *int            `json:"tk,omitempty"`  // of a takeover: whose turn or reservation it was
	Reason    string          `json:"why,omitempty"` // of a takeover
	EndReason string          `json:"ew,omitempty"`  // of a takeover, kick or close that ended it; of the one that is held, what keeps its holder
	Waited    int64           `json:"w,omitempty"`   // how long the agent had waited for it
	Seq       int64           `json:"q"`             // the event_seq of the grant
	Handoff   json.RawMessage `json:"h,omitempty"`   // what it ended with, as it was given
	EndSeq    int64           `json:"hq,omitempty"`  // the event_seq of the end
	Files     int64           `json:"f,omitempty"`   // how many files it changed, as far as that was recorded
	Added     int64           `json:"fa,omitempty"`  // and how many lines
	Removed   int64           `json:"fr,omitempty"`
	Paths     []string        `json:"fp,omitempty"` // of the files, a few of those that the room names
}

// A Span is a time of an agent.
type Span struct {
	Agent    int    `json:"a"`
	Start    int64  `json:"s"`
	End      int64  `json:"e,omitempty"`  // none: it lasts
	EndedBy  string `json:"w,omitempty"`  // the event type
	Observer bool   `json:"ob,omitempty"` // of a membership: it takes no turns
	Seq      int64  `json:"q"`
	endSeq   int64
}

// A Message went to an agent, or to everybody.
type Message struct {
	At        int64  `json:"t"`
	From      int    `json:"f"`
	To        *int   `json:"o,omitempty"` // none: to everybody
	Body      string `json:"b"`
	Interrupt bool   `json:"i,omitempty"`
	Seq       int64  `json:"q"`
}

// A Note was left in the room.
type Note struct {
	At       int64  `json:"t"`
	From     int    `json:"f"`
	For      *int   `json:"o,omitempty"` // none: for everybody
	Body     string `json:"b"`
	Page     bool   `json:"p,omitempty"` // its severity
	Resolved int64  `json:"r,omitempty"` // when
	Seq      int64  `json:"q"`
	id       string
}

// A Question stands in the room's topic of the agent bus, whose events have numbers of
// their own.
type Question struct {
	ID      string   `json:"id"`
	At      int64    `json:"t"`
	From    int      `json:"f"`
	To      *int     `json:"o,omitempty"` // none: to anybody
	Person  bool     `json:"p,omitempty"` // to any person
	Text    string   `json:"b"`
	Status  string   `json:"st"`          // open, answered, cancelled
	Settled int64    `json:"r,omitempty"` // when it was marked answered or cancelled
	Answers []Answer `json:"answers"`
	Reason  string   `json:"ew,omitempty"` // why it was cancelled
}

// An Answer is one to a Question.
type Answer struct {
	At   int64  `json:"t"`
	From int    `json:"f"`
	Text string `json:"b"`
}

// A Life of the room lasts from its opening to its close.
type Life struct {
	Start  int64  `json:"s"`
	End    int64  `json:"e,omitempty"`
	By     *int   `json:"f,omitempty"` // who closed it; none: it ended by itself
	Reason string `json:"ew,omitempty"`
	Seq    int64  `json:"q"`
	endSeq int64
}

// A Gap is a time in which nobody held the stick and nothing happened.
type Gap struct {
	Start int64 `json:"s"`
	End   int64 `json:"e"`
}

// An Oddity is an event that could not be read when the journal was repaired, or one that is
// older than the one before it.
type Oddity struct {
	At   int64 `json:"t"`
	Back int64 `json:"d,omitempty"` // how much older
	Seq  int64 `json:"q"`
	To   int64 `json:"to,omitempty"` // the last one, if the journal has lost several
}

// MaxTurns is the greatest number of turns in a model.
const MaxTurns = 3000

// Finish returns when the turn ended, or the end of the model while it is held.
func (m *Model) Finish(t *Turn) int64 {
	if t.End == 0 {
		return max(t.Start, m.To)
	}
	return t.End
}

// Read returns the turn's handoff, an empty one if it cannot be read.
func (t *Turn) Read() turn.Handoff { return turn.ReadHandoff(t.Handoff) }
