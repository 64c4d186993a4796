//go:build linux

package torture

import (
	"encoding/json"
	"fmt"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// An answer says what a command said of a fact that it was to make.
type answer string

const (
	refused      answer = "refused"  // nothing has happened
	doubtful     answer = "in doubt" // it was killed, or could not tell
	acknowledged answer = "acknowledged"
)

func (p *process) answer() answer {
	switch code := p.code(); {
	case p.exit == 0:
		return acknowledged
	case code == "in_doubt" || code == "":
		return doubtful
	}
	return refused
}

// These are the facts of a journal: each is there once at most.
func granted(agent string, turn int64, lease string) string {
	return fmt.Sprintf("turn %d of %s with lease %s", turn, agent, lease)
}
func wrote(agent, text string) string { return agent + " wrote " + text }
func joined(agent string) string      { return agent + " joined" }

// facts returns how often each fact is in a journal. Its events are numbered, each turn is granted once, when
// nobody has another, unless it is taken over, and nobody leaves, which no load asks for.
func facts(events []event.Event) (map[string]int, error) {
	all, owner, last := map[string]int{}, "", int64(0)
	for i, e := range events {
		var payload struct {
			Lease string `json:"lease_id"`
			Body  string
		}
		var handoff struct{ Status string }
		_, _ = json.Unmarshal(e.Payload, &payload), json.Unmarshal(e.Handoff, &handoff)
		inOrder := e.Seq == int64(i)+1
		had := fmt.Sprintf("%q has turn %d", owner, last)
		switch e.Type {
		case turn.Claim, turn.Takeover:
			inOrder = inOrder && e.Turn == last+1 && (owner == "" || e.Type == turn.Takeover)
			owner, last = e.To, e.Turn
			all[granted(owner, last, payload.Lease)]++
			all["lease "+payload.Lease]++
		case turn.Released, turn.Passed:
			inOrder = inOrder && e.From == owner && e.Turn == last
			owner = ""
			all[wrote(e.From, handoff.Status)]++
		case turn.MessageSent:
			all[wrote(e.From, payload.Body)]++
		case turn.MemberJoined:
			all[joined(e.From)]++
		case turn.MemberLeft, turn.Kicked, turn.Closed:
			inOrder = false
		}
		if !inOrder {
			return nil, fmt.Errorf("the journal has as event %d: %s %d, turn %d, of %q to %q, while %s", i+1, e.Type, e.Seq, e.Turn, e.From, e.To, had)
		}
	}
	return all, nil
}

// checkSaid compares a journal with what was said. It reports the first thing that is wrong.
func checkSaid(said map[string]answer, events []event.Event) error {
	all, err := facts(events)
	for fact, was := range said {
		if n := all[fact]; err == nil && (was == acknowledged && n == 0 || was == refused && n > 0) {
			err = fmt.Errorf("%q is %d times in the journal, and was %s", fact, n, was)
		}
	}
	for fact, n := range all {
		if n > 1 {
			err = fmt.Errorf("%d times in the journal: %s", n, fact)
		}
	}
	return err
}
