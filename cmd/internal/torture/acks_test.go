//go:build linux

package torture

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// begin is when the stories below begin; each event is a second after the last.
var begin = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// story is a journal: each word is a type, an agent, a turn, a lease or the agent
// that the turn is reserved for.
func story(lines ...string) []event.Event {
	var events []event.Event
	for i, line := range lines {
		var what, who, more string
		var n int64
		_, _ = fmt.Sscan(line, &what, &who, &n, &more)
		e := event.Event{Seq: int64(i) + 1, Type: what, Turn: n, CreatedAt: event.NewTime(begin.Add(time.Duration(i) * time.Second))}
		switch what {
		case turn.Claim, turn.Takeover:
			e.To, e.Payload = who, fmt.Appendf(nil, `{"lease_id":%q,"handoff_event_seq":%d}`, more, i)
		case turn.Released:
			e.From, e.To = who, more
			e.Handoff, _ = json.Marshal(map[string]string{"status": worked(who, n)})
		default:
			e.From = who
		}
		events = append(events, e)
	}
	return events
}

func worked(agent string, n int64) string { return fmt.Sprintf("%s worked in turn %d", agent, n) }

func TestCheck(t *testing.T) {
	good := []string{"claim a 1 L1", "release a 1 b", "claim b 2 L2", "takeover c 3 L3", "member_left c 3", "claim a 4 L4"}
	given := grant{agent: "b", Turn: 2, Lease: "L2", Reason: "sequence"}
	given.Handoff.Status = worked("a", 1)
	lost := given
	lost.Handoff.Status = "something else"
	tests := map[string]struct {
		lines []string
		acks  acks
		want  string // part of the error; "": none
	}{
		"in order":               {good, acks{grants: []grant{given}, ends: []grant{{agent: "a", Turn: 1, handover: worked("a", 1)}}}, ""},
		"two owners":             {[]string{"claim a 1 L1", "claim b 2 L2"}, acks{}, "while a has turn 1"},
		"a turn left out":        {[]string{"claim a 1 L1", "takeover b 3 L2"}, acks{}, "turn 3 follows turn 1"},
		"a turn twice":           {[]string{"claim a 1 L1", "takeover b 1 L2"}, acks{}, "turn 1 follows turn 1"},
		"a lease twice":          {[]string{"claim a 1 L1", "takeover b 2 L1"}, acks{}, "was that of turn 1"},
		"another's turn ended":   {[]string{"claim a 1 L1", "release b 1 a"}, acks{}, `while "a" has turn 1`},
		"told of no turn":        {good, acks{grants: []grant{{agent: "a", Turn: 5, Lease: "L5"}}}, "granted turn 5"},
		"told of another lease":  {good, acks{grants: []grant{{agent: "b", Turn: 2, Lease: "L1"}}}, "granted turn 2"},
		"told of another's turn": {good, acks{grants: []grant{{agent: "a", Turn: 2, Lease: "L2"}}}, "granted turn 2"},
		"another handoff":        {good, acks{grants: []grant{lost}}, "came with the handoff"},
		"a lost text":            {good, acks{said: map[string]answer{"x": acknowledged}}, "is 0 times"},
		"a text in doubt":        {good, acks{said: map[string]answer{"x": doubtful}}, ""},
		"refused, and written":   {good, acks{said: map[string]answer{worked("a", 1): refused}}, "was refused"},
		"written twice":          {append(good, "release a 4 b", "claim b 5 L5", "release a 1 b"), acks{}, "ends turn 1"},
		"not joined":             {good, acks{joined: []string{"z"}}, "z joined"},
		"not handed over":        {good, acks{ends: []grant{{agent: "b", Turn: 2}}}, "handed over"},
	}
	for name, tt := range tests {
		_, err := tt.acks.check(story(tt.lines...))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
