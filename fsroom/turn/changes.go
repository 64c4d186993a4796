package turn

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/journal/event"
)

// The stretches of time that a tree_changed event is about.
const (
	SpanTurn    = "turn"
	SpanOutside = "outside" // between two turns
	SpanUndo    = "undo"
	SpanRestore = "restore"
)

// A TreeChange is a tree_changed event: what changed in the work tree in a stretch of time. What
// it was is in the event.
type TreeChange struct {
	Seq   int64  `json:"event_seq"`
	Turn  int64  `json:"turn_id"` // the turn, or the one that the stretch follows
	Span  string `json:"span"`
	Agent string `json:"agent_id,omitempty"` // who held the turn; "" outside of turns
}

const (
	// maxTreeChanges is how many the state has.
	maxTreeChanges = 32
	// maxBriefChanges is how many come with a turn.
	maxBriefChanges = 8
	// MaxChangePayload is the size of what a tree_changed event says.
	MaxChangePayload = 8 << 10
)

// changePayload is what the fold reads of a tree_changed event. Its turn is that of
// [TreeChange]: the event itself may be of a later one.
type changePayload struct {
	Turn    int64           `json:"turn_id,omitempty"`
	Span    string          `json:"span"`
	Files   int64           `json:"files,omitempty"`
	Head    json.RawMessage `json:"head,omitempty"`      // HEAD was moved
	Before  string          `json:"from_tree,omitempty"` // the tree at the beginning, "" if it is not known
	At      string          `json:"to_tree,omitempty"`   // and at the end
	Unsure  json.RawMessage `json:"unsure,omitempty"`    // paths that may have changed in the stretch
	Unknown string          `json:"unknown,omitempty"`   // why it is not known what changed
}

// changeAmong returns what the tree_changed event among events says, false if there is none that can be read.
func changeAmong(events []event.Event) (p changePayload, ok bool) {
	i := slices.IndexFunc(events, func(e event.Event) bool { return e.Type == TreeChanged })
	if i < 0 {
		return p, false
	}
	p, err := readChange(&events[i])
	return p, err == nil
}

// IsLate reports whether the tree_changed event among events says that the beginning of the turn
// was not recorded in time.
func IsLate(events []event.Event) bool {
	p, _ := changeAmong(events)
	return p.Unknown == "late"
}

// ChangedNothing reports whether a tree_changed event says that nothing changed, and no more.
func ChangedNothing(e *event.Event) bool {
	p, err := readChange(e)
	return err == nil && p.Files == 0 && len(p.Head) == 0 && len(p.Unsure) == 0 && p.Unknown == ""
}

// TreeWords says in a line what a tree_changed event says: "turn 3 of a:1: 2 files changed (a, d/b)".
func TreeWords(e *event.Event) string {
	p, err := readChange(e)
	words := "after turn " + strconv.FormatInt(p.Turn, 10)
	switch p.Span {
	case SpanTurn:
		words = words[len("after "):] + " of " + e.From
	case SpanUndo, SpanRestore:
		words = p.Span + " by " + e.From
	}
	switch {
	case err != nil || p.Unknown != "":
		return words + ": it is not known which files changed"
	case p.Files == 0:
		return words + ": no file changed"
	}
	var named struct{ Paths []struct{ Path string } }
	_ = json.Unmarshal(e.Payload, &named)
	words += ": " + code.Count(int(p.Files), "file") + " changed"
	shown := named.Paths[:min(len(named.Paths), mostNamed)]
	if len(shown) == 0 {
		return words
	}
	for i, f := range shown {
		words += []string{" (", ", "}[min(i, 1)] + f.Path
	}
	if more := int(p.Files) - len(shown); more > 0 {
		words += ", and " + strconv.Itoa(more) + " more"
	}
	return words + ")"
}

// mostNamed is how many files TreeWords names.
const mostNamed = 3

// ToldChange returns what an agent is told of a tree_changed event with the payload: not which
// host has looked, and ids of trees as far as git needs them.
func ToldChange(what json.RawMessage) json.RawMessage {
	told := edited(what, func(key string, value json.RawMessage) json.RawMessage {
		const digits = 12
		switch {
		case key == "host":
			return nil
		case strings.HasSuffix(key, "_tree") && len(value) > digits+2:
			return append(slices.Clone(value[:1+digits]), '"')
		}
		return value
	})
	if told == nil {
		return what
	}
	return told
}

// wasOfUse reports whether a turn has changed something.
func (p *changePayload) wasOfUse() bool {
	return p.Span == SpanTurn && (p.Files > 0 || len(p.Head) > 0)
}

func readChange(e *event.Event) (changePayload, error) {
	var p changePayload
	err := talk.Decode(e, &p)
	p.Turn = cmp.Or(p.Turn, e.Turn)
	return p, err
}

func (s *State) applyTreeChanged(e *event.Event) error {
	p, err := readChange(e)
	if err != nil {
		return err
	}
	s.Changes = append(s.Changes, TreeChange{Seq: e.Seq, Turn: p.Turn, Span: p.Span, Agent: e.From})
	s.Changes = s.Changes[max(0, len(s.Changes)-maxTreeChanges):]
	if p.wasOfUse() {
		s.ShortTurns = 0
	}
	return nil
}

// HasChange reports whether the room has the tree_changed event of the turn and the span.
func (s *State) HasChange(turn int64, span string) bool {
	return slices.ContainsFunc(s.Changes, func(c TreeChange) bool { return c.Turn == turn && c.Span == span })
}

// RecordChange returns the event that says what changed in the tree, none if the room has ended
// or has such an event of that stretch.
func RecordChange(s *State, c TreeChange, what json.RawMessage) []event.Event {
	known := (c.Span == SpanTurn || c.Span == SpanOutside) && s.HasChange(c.Turn, c.Span)
	if !s.Open || known || len(what) > MaxChangePayload {
		return nil
	}
	return []event.Event{{Type: TreeChanged, Turn: s.Turn, From: c.Agent, Payload: what}}
}

// ChangesSince returns what changed in the tree since the agent's last turn, the newest last,
// and how many changes before them there were.
func (s *State) ChangesSince(agent string) (list []TreeChange, more int) {
	first := len(s.Changes)
	for first > 0 && !(s.Changes[first-1].Agent == agent && s.Changes[first-1].Span == SpanTurn) {
		first--
	}
	more = max(0, len(s.Changes)-first-maxBriefChanges)
	return s.Changes[first+more:], more
}
