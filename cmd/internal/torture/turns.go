//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A grant is a turn as an agent was told of it.
type grant struct {
	Status   string
	Turn     int64  `json:"turn_id"`
	Lease    string `json:"lease_id"`
	Reason   string
	Guardian int `json:"guardian_pid"`
	Handoff  struct{ Status string }

	agent string
}

// A wait is a `tt wait` that nobody disturbed, from its start to its end.
type wait struct {
	agent        string
	began, ended time.Time
	turn         int64 // that it was given; 0: none
}

// waiters lets each agent take turns.
func (l *load) waiters() {
	for _, agent := range agents {
		random := l.random()
		l.lanes.Go(func() { l.takeTurns(agent, random) })
	}
}

// takeTurns waits for the turn and hands it over, again and again. Whoever is
// killed on the way does what an agent does: it waits again.
func (l *load) takeTurns(agent string, random *rand.Rand) {
	for {
		o, ok := l.do(random, []time.Duration{4, 40}[random.IntN(2)]*time.Millisecond, "wait", "--timeout", "5s", "--agent", agent)
		if !ok {
			return
		}
		g := l.granted(agent, o, l.done(o))
		if g.Status == turn.TakeoverAvailable {
			if o, ok = l.do(random, 4*time.Millisecond, "take", "--reason", "its guardian was killed", "--agent", agent); !ok {
				return
			}
			g = l.granted(agent, o, l.done(o, "takeover_not_available", "takeover_ineligible", "turn_mismatch"))
		}
		if g.Status == turn.YourTurn && !l.haveTurn(g, random) {
			return
		}
	}
}

// granted notes what a wait or a take told. The zero grant: nothing.
func (l *load) granted(agent string, o outcome, done bool) (g grant) {
	if done {
		if err := json.Unmarshal([]byte(o.stdout), &g); err != nil {
			l.mu.Lock()
			l.fail("%v: %v", o.args, err)
			l.mu.Unlock()
			return grant{}
		}
	}
	g.agent = agent
	l.note(func(a *acks) {
		if g.Status == turn.YourTurn {
			a.grants = append(a.grants, g)
		}
		if o.args[0] == "wait" && !o.disturbed {
			a.waits = append(a.waits, wait{agent: agent, began: o.began, ended: o.ended, turn: g.Turn * yes(g.Status == turn.YourTurn)})
		}
	})
	return g
}

func yes(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// haveTurn is what happens in a turn: at times its guardian is killed or stopped,
// and then its agent may be late; at times the agent forgets and waits again; in
// the end it hands over.
func (l *load) haveTurn(g grant, random *rand.Rand) bool {
	dice := random.IntN(10)
	if !l.killing {
		dice = 9
	}
	switch dice {
	case 0:
		if l.isOurs(g.Guardian) {
			_ = syscall.Kill(g.Guardian, syscall.SIGKILL)
		}
		if random.IntN(2) == 0 { // so that the others see it
			time.Sleep(20 * time.Millisecond)
		}
	case 1:
		return true
	case 2, 3, 4: // its end wakes who waits for it, and must not be needed
		if l.isOurs(g.Guardian) {
			halt(g.Guardian)
			time.AfterFunc(atLatest+time.Second, func() { _ = syscall.Kill(g.Guardian, syscall.SIGCONT) })
		}
	}
	args := []string{"release"}
	if random.IntN(3) == 0 {
		args = []string{"assign", "next"}
	}
	args = append(args, "--status", worked(g), "--next-action", "go on", "--agent", g.agent)
	o, ok := l.do(random, 4*time.Millisecond, args...)
	if !ok {
		return false
	}
	if l.done(o, "turn_mismatch", "stale_lease", "no_active_lease") {
		l.note(func(a *acks) { a.ends = append(a.ends, g) })
	}
	return true
}

// worked is the handoff of a turn.
func worked(g grant) string { return fmt.Sprintf("%s worked in turn %d", g.agent, g.Turn) }

// isOurs reports whether a process belongs to the data directory.
func (l *load) isOurs(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && strings.Contains(string(b), "TALKING_STICK_DATA_DIR="+l.data+"\x00")
}

// checkJoins: who was told to be a member is one.
func (a acks) checkJoins(events []event.Event) error {
	joined := map[string]bool{}
	for _, e := range events {
		if e.Type == turn.MemberJoined {
			joined[e.From] = true
		}
	}
	for _, id := range a.joined {
		if !joined[id] {
			return fmt.Errorf("acknowledged and not in the journal: %s joined", id)
		}
	}
	return nil
}

// checkTurns reports the first thing that is wrong with the turns in the journal,
// or in what was told of them.
func (a acks) checkTurns(events []event.Event) error {
	h := turnsOf{grants: map[int64]*event.Event{}, ends: map[int64]*event.Event{}, leases: map[string]int64{}, handoffs: map[int64]string{}}
	for i := range events {
		if err := h.add(&events[i]); err != nil {
			return err
		}
	}
	for _, g := range a.grants {
		e := h.grants[g.Turn]
		if e == nil || e.To != g.agent || leaseOf(e) != g.Lease {
			return fmt.Errorf("%s was told that turn %d with lease %s is its own; the journal: %+v", g.agent, g.Turn, g.Lease, e)
		}
		if want := h.handoffs[handoffOf(e)]; g.Handoff.Status != want && g.Reason != "" && e.Type == turn.Claim {
			return fmt.Errorf("turn %d came with the handoff %q, want %q", g.Turn, g.Handoff.Status, want)
		}
	}
	for _, g := range a.ends {
		if e := h.ends[g.Turn]; e == nil || e.From != g.agent || h.handoffs[e.Seq] != worked(g) {
			return fmt.Errorf("%s was told that turn %d is handed over; the journal: %+v", g.agent, g.Turn, e)
		}
	}
	return nil
}

// turnsOf is what a journal says about turns.
type turnsOf struct {
	owner    string
	last     int64
	grants   map[int64]*event.Event
	ends     map[int64]*event.Event // by release or pass
	leases   map[string]int64
	handoffs map[int64]string // by the event that gave them
}

func (h *turnsOf) add(e *event.Event) error {
	switch e.Type {
	case turn.Claim, turn.Takeover:
		lease := leaseOf(e)
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

func leaseOf(e *event.Event) string {
	var p struct {
		Lease string `json:"lease_id"`
	}
	_ = json.Unmarshal(e.Payload, &p)
	return p.Lease
}

// handoffOf is the event whose handoff a turn took up.
func handoffOf(e *event.Event) int64 {
	var p struct {
		Seq int64 `json:"handoff_event_seq"`
	}
	_ = json.Unmarshal(e.Payload, &p)
	return p.Seq
}

// lateness is how long undisturbed waits took after what they waited for: from
// the event that reserved the turn for the waiter until the wait had ended, or
// until somebody else had changed that.
func (a acks) lateness(events []event.Event) []time.Duration {
	var late []time.Duration
	byAgent := map[string][]wait{}
	for _, w := range a.waits {
		byAgent[w.agent] = append(byAgent[w.agent], w)
	}
	for i, e := range events {
		if e.Type != turn.Released && e.Type != turn.Passed || e.To == "" {
			continue
		}
		from, to := e.CreatedAt.Time, reservedUntil(events[i+1:])
		for _, w := range byAgent[e.To] {
			until := w.ended
			if w.turn != e.Turn+1 && to.Before(until) {
				until = to
			}
			if begun := latest(from, w.began); until.After(begun) {
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

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
