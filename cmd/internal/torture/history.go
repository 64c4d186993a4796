//go:build linux

package torture

import (
	"encoding/json"
	"fmt"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A grant is a turn as it was granted to an agent.
type grant struct {
	Status   string
	Turn     int64  `json:"turn_id"`
	Lease    string `json:"lease_id"`
	Reason   string
	Guardian int `json:"guardian_pid"`
	Handoff  struct{ Status string }

	agent    string
	host     int
	told     *outcome // of the command
	handover string   // the text with which the agent ended it
}

// A history is what a journal says.
type history struct {
	events   []event.Event
	owner    string
	last     int64                  // turn
	grants   map[int64]*event.Event // by turn
	ends     map[int64]*event.Event // by release or pass
	leases   map[string]int64
	handoffs map[int64]string // by the event that gave them
	said     map[string]int   // how often each handoff was given, each message sent
	joined   map[string]bool
	overtook map[int64]bool // turns that were taken over from an owner
	left     int            // how often somebody left, was kicked, or closed the room
}

// readHistory reads events. The turns in them must be in order: each is granted once, to one
// agent, when nobody has another.
func readHistory(events []event.Event) (*history, error) {
	h := &history{events: events, grants: map[int64]*event.Event{}, ends: map[int64]*event.Event{}, leases: map[string]int64{},
		handoffs: map[int64]string{}, said: map[string]int{}, joined: map[string]bool{}, overtook: map[int64]bool{}}
	for i := range events {
		if err := h.add(&events[i]); err != nil {
			return nil, fmt.Errorf("event %d: %w", events[i].Seq, err)
		}
	}
	return h, nil
}

func (h *history) add(e *event.Event) error {
	switch e.Type {
	case turn.Claim, turn.Takeover:
		lease := claimOf(e).Lease
		switch was, again := h.leases[lease]; {
		case e.Type == turn.Claim && h.owner != "":
			return fmt.Errorf("it gives turn %d to %s while %s has turn %d", e.Turn, e.To, h.owner, h.last)
		case e.Turn != h.last+1:
			return fmt.Errorf("turn %d follows turn %d", e.Turn, h.last)
		case lease == "" || again:
			return fmt.Errorf("the lease %q of turn %d was that of turn %d", lease, e.Turn, was)
		}
		if h.owner != "" {
			h.overtook[e.Turn] = true
		}
		h.owner, h.last, h.leases[lease], h.grants[e.Turn] = e.To, e.Turn, e.Turn, e
	case turn.Released, turn.Passed:
		if e.From != h.owner || e.Turn != h.last {
			return fmt.Errorf("it ends turn %d of %s while %q has turn %d", e.Turn, e.From, h.owner, h.last)
		}
		var handoff struct{ Status string }
		if err := json.Unmarshal(e.Handoff, &handoff); err != nil {
			return fmt.Errorf("its handoff: %w", err)
		}
		h.owner, h.ends[e.Turn], h.handoffs[e.Seq] = "", e, handoff.Status
		h.said[handoff.Status]++
	case turn.MessageSent:
		var p struct{ Body string }
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return fmt.Errorf("its payload: %w", err)
		}
		h.said[p.Body]++
	case turn.MemberJoined:
		h.joined[e.From] = true
	case turn.MemberLeft, turn.Kicked, turn.Closed:
		h.left++
		if gone := e.From; gone == h.owner || e.Type == turn.Closed || e.To == h.owner && e.Type == turn.Kicked {
			h.owner = ""
		}
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
