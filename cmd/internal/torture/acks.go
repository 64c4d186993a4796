//go:build linux

package torture

import (
	"fmt"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// acks is what the commands of a load said.
type acks struct {
	joined []string
	said   map[string]answer // of each text that was to be written
	grants []grant           // the turns that were granted
	ends   []grant           // the turns that were handed over
	works  []work            // what agents did in their turns, beside tt
	leaves []leave           // to go on
}

// A work is what an agent did in a turn, from its begin to its end.
type work struct {
	grant
	begin, end time.Time
}

// A leave is an answer that the turn is still the agent's: of tt check, or of the guard of
// edits.
type leave struct {
	grant
	of              string
	asked, answered time.Time
}

// An answer says what a command said of a text that it was to write.
type answer string

const (
	refused      answer = "refused"  // nothing has happened
	doubtful     answer = "in doubt" // it was killed, or could not tell
	acknowledged answer = "acknowledged"
)

func (o *outcome) answer() answer {
	switch {
	case o.exit == 0:
		return acknowledged
	case o.code == "in_doubt" || o.code == "":
		return doubtful
	}
	return refused
}

// written is how many texts were acknowledged.
func (a acks) written() (n int) {
	for _, got := range a.said {
		if got == acknowledged {
			n++
		}
	}
	return n
}

// count is how much was acknowledged.
func (a acks) count() int { return len(a.joined) + a.written() + len(a.grants) }

// check compares a journal with what was said. It reports the first thing that is wrong.
func (a acks) check(events []event.Event) (*history, error) {
	h, err := readHistory(events)
	if err != nil {
		return nil, err
	}
	for _, id := range a.joined {
		if !h.joined[id] {
			return nil, fmt.Errorf("acknowledged and not in the journal: %s joined", id)
		}
	}
	for _, g := range a.grants {
		e := h.grants[g.Turn]
		if e == nil || e.To != g.agent || claimOf(e).Lease != g.Lease {
			return nil, fmt.Errorf("%s was granted turn %d with lease %s; the journal: %+v", g.agent, g.Turn, g.Lease, e)
		}
		if want := h.handoffs[claimOf(e).Handoff]; g.Handoff.Status != want && g.Reason != "" && e.Type == turn.Claim {
			return nil, fmt.Errorf("turn %d came with the handoff %q, want %q", g.Turn, g.Handoff.Status, want)
		}
	}
	for _, g := range a.ends {
		if e := h.ends[g.Turn]; e == nil || e.From != g.agent || h.handoffs[e.Seq] != g.handover {
			return nil, fmt.Errorf("%s handed over turn %d; the journal: %+v", g.agent, g.Turn, e)
		}
	}
	return h, counted(h.said, a.said)
}

// counted reports a text that is not written as often as was said of it, or one that is written
// twice.
func counted(written map[string]int, said map[string]answer) error {
	for text, was := range said {
		if n := written[text]; was == acknowledged && n == 0 || was == refused && n > 0 {
			return fmt.Errorf("%q is %d times in the journal, and was %s", text, n, was)
		}
	}
	for text, n := range written {
		if n > 1 && text != freshText && text != handoffStatus {
			return fmt.Errorf("%d times in the journal: %s", n, text)
		}
	}
	return nil
}
