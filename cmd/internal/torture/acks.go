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
	if err := a.checkTurns(events); err != nil {
		return err
	}
	if err := counted(bodies(events), a.said); err != nil {
		return err
	}
	return e.mended(data)
}

// checkTurns reports the first thing that is wrong with the turns in the journal,
// or with what was acknowledged of them.
func (a acks) checkTurns(events []event.Event) error {
	h := turnsIn{grants: map[int64]*event.Event{}, ends: map[int64]*event.Event{}, leases: map[string]int64{}, handoffs: map[int64]string{}}
	for i := range events {
		if err := h.add(&events[i]); err != nil {
			return err
		}
	}
	for _, g := range a.grants {
		e := h.grants[g.Turn]
		if e == nil || e.To != g.agent || claimOf(e).Lease != g.Lease {
			return fmt.Errorf("%s was granted turn %d with lease %s; the journal: %+v", g.agent, g.Turn, g.Lease, e)
		}
		if want := h.handoffs[claimOf(e).Handoff]; g.Handoff.Status != want && g.Reason != "" && e.Type == turn.Claim {
			return fmt.Errorf("turn %d came with the handoff %q, want %q", g.Turn, g.Handoff.Status, want)
		}
	}
	for _, g := range a.ends {
		if e := h.ends[g.Turn]; e == nil || e.From != g.agent || h.handoffs[e.Seq] != worked(g) {
			return fmt.Errorf("%s handed over turn %d; the journal: %+v", g.agent, g.Turn, e)
		}
	}
	return nil
}

// turnsIn is what a journal says about turns.
type turnsIn struct {
	owner    string
	last     int64
	grants   map[int64]*event.Event
	ends     map[int64]*event.Event // by release or pass
	leases   map[string]int64
	handoffs map[int64]string // by the event that gave them
}

func (h *turnsIn) add(e *event.Event) error {
	switch e.Type {
	case turn.Claim, turn.Takeover:
		lease := claimOf(e).Lease
		switch was, again := h.leases[lease]; {
		case e.Type == turn.Claim && h.owner != "":
			return fmt.Errorf("event %d gives turn %d to %s while %s has turn %d", e.Seq, e.Turn, e.To, h.owner, h.last)
		case e.Turn != h.last+1:
			return fmt.Errorf("event %d: turn %d follows turn %d", e.Seq, e.Turn, h.last)
		case lease == "" || again:
			return fmt.Errorf("event %d: the lease %q of turn %d was that of turn %d", e.Seq, lease, e.Turn, was)
		}
		h.owner, h.last, h.leases[lease], h.grants[e.Turn] = e.To, e.Turn, e.Turn, e
	case turn.Released, turn.Passed:
		if e.From != h.owner || e.Turn != h.last {
			return fmt.Errorf("event %d ends turn %d of %s while %q has turn %d", e.Seq, e.Turn, e.From, h.owner, h.last)
		}
		var handoff struct{ Status string }
		if err := json.Unmarshal(e.Handoff, &handoff); err != nil {
			return fmt.Errorf("event %d: its handoff: %v", e.Seq, err)
		}
		h.owner, h.ends[e.Turn], h.handoffs[e.Seq] = "", e, handoff.Status
	case turn.MemberLeft, turn.Kicked:
		if gone := e.From; gone == h.owner && e.Type == turn.MemberLeft || e.To == h.owner && e.Type == turn.Kicked {
			h.owner = ""
		}
	case turn.Closed:
		h.owner = ""
	}
	return nil
}

// A claim is the payload of an event that grants a turn.
type claim struct {
	Lease   string `json:"lease_id"`
	Handoff int64  `json:"handoff_event_seq"` // the event whose handoff was taken up
}

func claimOf(e *event.Event) (c claim) {
	_ = json.Unmarshal(e.Payload, &c)
	return c
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
