//go:build linux

package torture

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// acks is what the commands of a load acknowledged.
type acks struct {
	joined []string
	said   []string
	asked  []string
	grants []grant // the turns that were granted
	ends   []grant // the turns that were handed over
	waits  []wait  // those that nobody disturbed
}

func (a acks) count() int {
	return len(a.joined) + len(a.said) + len(a.asked) + len(a.grants) + len(a.ends)
}

// judge checks a data directory that a load has left: it has all that was
// acknowledged, once, its turns are in order, and a fresh command works.
func (e *env) judge(data string, a acks) error {
	events, err := e.events(data)
	if err != nil {
		return err
	}
	for _, id := range a.joined {
		if !slices.ContainsFunc(events, func(e event.Event) bool { return e.Type == turn.MemberJoined && e.From == id }) {
			return fmt.Errorf("acknowledged and not in the journal: %s joined", id)
		}
	}
	h, err := a.checkTurns(events)
	if err != nil {
		return err
	}
	if err := counted(h.said, a.said); err != nil {
		return err
	}
	return e.mended(data)
}

// checkTurns reports the first thing that is wrong with the turns in the journal,
// or with what was acknowledged of them.
func (a acks) checkTurns(events []event.Event) (*history, error) {
	h, err := readHistory(events)
	if err != nil {
		return nil, err
	}
	for _, g := range a.grants {
		if err := h.had(g); err != nil {
			return nil, err
		}
		e := h.grants[g.Turn]
		if want := h.handoffs[claimOf(e).Handoff]; g.Handoff.Status != want && g.Reason != "" && e.Type == turn.Claim {
			return nil, fmt.Errorf("turn %d came with the handoff %q, want %q", g.Turn, g.Handoff.Status, want)
		}
	}
	for _, g := range a.ends {
		if e := h.ends[g.Turn]; e == nil || e.From != g.agent || h.handoffs[e.Seq] != worked(g) {
			return nil, fmt.Errorf("%s handed over turn %d; the journal: %+v", g.agent, g.Turn, e)
		}
	}
	return h, nil
}

// lateness is how long undisturbed waits took after what they waited for: from
// the event that reserved the turn for the waiter until the wait had returned, or
// until the reservation had ended.
func (a acks) lateness(events []event.Event) []time.Duration {
	var late []time.Duration
	for i, e := range events {
		if e.Type != turn.Released && e.Type != turn.Passed || e.To == "" {
			continue
		}
		from, to := e.CreatedAt.Time, reservedUntil(events[i+1:])
		for _, w := range a.waits {
			if w.agent != e.To {
				continue
			}
			until := w.ended
			if w.turn != e.Turn+1 && to.Before(until) {
				until = to
			}
			begun := from
			if w.began.After(from) {
				begun = w.began
			}
			if until.After(begun) {
				late = append(late, until.Sub(begun))
			}
		}
	}
	return late
}

// reservedUntil is when the reservation that the events follow ended; if it did
// not, long after everything.
func reservedUntil(events []event.Event) time.Time {
	for _, e := range events {
		switch e.Type {
		case turn.Claim, turn.Takeover, turn.MemberLeft, turn.Kicked, turn.Closed:
			return e.CreatedAt.Time
		}
	}
	return time.Now().Add(time.Hour)
}

// checkQuestions reports an error unless each acknowledged question is in the
// journal of a topic exactly once, and no other one twice.
func (a acks) checkQuestions(data string) error {
	journals, err := filepath.Glob(filepath.Join(data, "topics", "*", "journal.jsonl"))
	if err != nil {
		return err
	}
	asked := map[string]int{}
	for _, path := range journals {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			var e struct {
				Payload struct {
					Question string `json:"question_text"`
				}
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Payload.Question != "" {
				asked[e.Payload.Question]++
			}
		}
	}
	return counted(asked, a.asked)
}
