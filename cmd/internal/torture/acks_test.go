//go:build linux

package torture

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// story is a journal: each word is a type, an agent, a turn, a lease or the agent
// that the turn is reserved for.
func story(lines ...string) []event.Event {
	var events []event.Event
	for i, line := range lines {
		var what, who, more string
		var n int64
		_, _ = fmt.Sscan(line, &what, &who, &n, &more)
		e := event.Event{Seq: int64(i) + 1, Type: what, Turn: n}
		switch what {
		case turn.Claim, turn.Takeover:
			e.To, e.Payload = who, fmt.Appendf(nil, `{"lease_id":%q}`, more)
		case turn.Released:
			e.From, e.To = who, more
			e.Handoff, _ = json.Marshal(map[string]string{"status": worked(n)})
		case turn.MessageSent:
			e.From, e.Payload = who, fmt.Appendf(nil, `{"body":%q}`, more)
		default:
			e.From = who
		}
		events = append(events, e)
	}
	return events
}

func worked(n int64) string { return fmt.Sprint("worked in turn ", n) }

func TestCheckSaid(t *testing.T) {
	good := []string{"member_joined a 0", "claim a 1 L1", "release a 1 b", "claim b 2 L2", "takeover c 3 L3", "message_sent a 3 hello"}
	tests := map[string]struct {
		lines []string
		said  map[string]answer
		want  string // part of the error; "": none
	}{
		"in order": {good, map[string]answer{joined("a"): acknowledged, granted("b", 2, "L2"): acknowledged,
			wrote("a", worked(1)): acknowledged, wrote("a", "hello"): doubtful, wrote("b", "hello"): refused}, ""},
		"two owners":             {[]string{"claim a 1 L1", "claim b 2 L2"}, nil, `while "a" has turn 1`},
		"a turn left out":        {[]string{"claim a 1 L1", "takeover b 3 L2"}, nil, `while "a" has turn 1`},
		"a turn twice":           {[]string{"claim a 1 L1", "takeover b 1 L2"}, nil, `while "a" has turn 1`},
		"a lease twice":          {[]string{"claim a 1 L1", "takeover b 2 L1"}, nil, "2 times in the journal: lease L1"},
		"another's turn ended":   {[]string{"claim a 1 L1", "release b 1 a"}, nil, `while "a" has turn 1`},
		"an old turn ended":      {append(good, "release c 1 b"), nil, `while "c" has turn 3`},
		"somebody left":          {append(good, "member_left a 3"), nil, "member_left"},
		"told of no turn":        {good, map[string]answer{granted("a", 5, "L5"): acknowledged}, "turn 5 of a"},
		"told of another lease":  {good, map[string]answer{granted("b", 2, "L1"): acknowledged}, "is 0 times"},
		"told of another's turn": {good, map[string]answer{granted("a", 2, "L2"): acknowledged}, "is 0 times"},
		"a lost text":            {good, map[string]answer{wrote("a", "x"): acknowledged}, "is 0 times"},
		"a text in doubt":        {good, map[string]answer{wrote("a", "x"): doubtful}, ""},
		"refused, and written":   {good, map[string]answer{wrote("a", worked(1)): refused}, "was refused"},
		"written twice":          {append(good, "message_sent a 3 hello"), nil, "2 times in the journal: a wrote hello"},
		"not joined":             {good, map[string]answer{joined("z"): acknowledged}, "z joined"},
	}
	for name, tt := range tests {
		err := checkSaid(tt.said, story(tt.lines...))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
