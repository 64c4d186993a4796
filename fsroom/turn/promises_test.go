package turn_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

func codeOf(err error) string { return string(code.Of(err)) }

// verify holds the room against the model, and every promise against the room.
func (g *game) verify(t *rapid.T) {
	if len(g.past) == 0 || g.past[len(g.past)-1].Seq != g.state.Seq {
		g.past = append(g.past, g.state)
		g.notified(t)
	}
	g.told(t, "status", g.state.Status(g.facts()), g.m.status())
	if g.m.open {
		g.told(t, "owner and recipient", words(g.state.Owner, g.state.ReservedFor), words(g.m.owner, g.m.reserved))
	}
	for _, id := range g.agents {
		g.told(t, id+" tries", g.asks(id, false), g.m.try(id, false))
		g.told(t, id+" parks", g.asks(id, true), g.m.try(id, true))
		g.told(t, id+" takes", g.demands(id), g.m.take(id, false))
		g.unchanging(t, id)
	}
	g.oneOwner(t)
	g.gapless(t)
	g.handoffs(t)
	g.notStuck(t)
}

// asks returns what a try would answer, without trying.
func (g *game) asks(id string, park bool) string {
	_, res, err := turn.Try(g.state, g.facts(), turn.TryRequest{Agent: id, Lease: "none", Park: park})
	return answer(res, err)
}

func (g *game) demands(id string) string {
	_, res, err := turn.Take(g.state, g.facts(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: id, Lease: "none"}, Reason: "why not"})
	return answer(res, err)
}

// notified: every agent to which Try answers something new because of the last change was
// notified. The end of the new owner would be new as well, but the guardian notifies of
// that.
func (g *game) notified(t *rapid.T) {
	if len(g.past) < 2 {
		return
	}
	before, after, f := g.past[len(g.past)-2], g.past[len(g.past)-1], g.facts()
	if g.presence(after.Owner).Process == turn.Gone || g.presence(after.ReservedFor).Process == turn.Gone {
		return
	}
	notified := turn.WhoToNotify(before, after)
	for _, m := range before.Members {
		try := turn.TryRequest{Agent: m.AgentID, Lease: "none"}
		_, then, _ := turn.Try(before, f, try)
		_, now, err := turn.Try(after, f, try)
		if then.Status != turn.NotYet || (err == nil && now.Status == turn.NotYet) {
			continue
		}
		if !slices.Contains(notified, m.AgentID) {
			t.Fatalf("%s is told %q and not %q any more, and sleeps on", m.AgentID, answer(now, err), answer(then, nil))
		}
	}
}

// oneOwner: of all fences that were ever given out at most one holds, and it is
// the owner's.
func (g *game) oneOwner(t *rapid.T) {
	holds := map[turn.Fence]bool{}
	for _, f := range g.fences {
		if g.state.Check(g.facts(), f) == nil {
			holds[f] = true
		}
	}
	want := map[turn.Fence]bool{}
	if g.state.Owner != "" {
		want[g.fence()] = true
	}
	if !maps.Equal(holds, want) {
		t.Fatalf("these fences hold: %v, with the owner's being %v", holds, want)
	}
}

// gapless: event_seq and turn_id go up by one, the latter with each grant, and
// every grant has a lease of its own.
func (g *game) gapless(t *rapid.T) {
	turnID, leases := int64(0), map[string]bool{}
	for i, e := range g.events {
		if e.Type == turn.Claim || e.Type == turn.Takeover {
			turnID++
			if lease := grantOf(e).Lease; lease == "" || leases[lease] {
				t.Fatalf("lease %q was given out before", lease)
			} else {
				leases[lease] = true
			}
		}
		if e.Seq != int64(i+1) || e.Turn != turnID {
			t.Fatalf("event %d of turn %d should be %d of %d", e.Seq, e.Turn, i+1, turnID)
		}
	}
	if g.state.Turn != turnID || g.state.Seq != int64(len(g.events)) {
		t.Fatalf("turn %d and event %d after %d and %d", g.state.Turn, g.state.Seq, turnID, len(g.events))
	}
}

type grant struct {
	Lease   string `json:"lease_id"`
	Handoff int64  `json:"handoff_event_seq"`
}

func grantOf(e event.Event) (gr grant) {
	if err := json.Unmarshal(e.Payload, &gr); err != nil {
		panic(err)
	}
	return gr
}

// handoffs: the last handoff of a life is pending or with the owner, and every
// one before it was given to the author of the next.
func (g *game) handoffs(t *rapid.T) {
	var last int64
	given := map[int64]bool{}
	for _, e := range g.events {
		switch e.Type {
		case turn.RoomOpened:
			last = 0
		case turn.Released, turn.Passed:
			if last != 0 && !given[last] {
				t.Fatalf("handoff %d was lost before %d", last, e.Seq)
			}
			last = e.Seq
		case turn.Claim, turn.Takeover:
			given[grantOf(e).Handoff] = true
		}
	}
	s := g.state
	if !s.Open {
		return
	}
	if there := s.Pending.Seq + s.Grant.Handoff.Seq; there != last {
		t.Fatalf("handoff %d was lost: pending %d, given %d", last, s.Pending.Seq, s.Grant.Handoff.Seq)
	}
	if s.ReservedFor != "" && s.Pending.Seq == 0 {
		t.Fatalf("reserved for %s without a handoff", s.ReservedFor)
	}
}

// would runs do in the world as it might be some time later; nothing of it stays.
func (g *game) would(later time.Duration, do func(*world)) {
	w := g.in(later)
	w.here = map[string]*present{}
	for id, p := range g.here {
		c := *p
		w.here[id] = &c
	}
	do(&w)
}

// in is the world some time later, to be looked at only.
func (g *game) in(later time.Duration) world {
	w := *g.world
	w.later(later)
	return w
}

// unchanging: until the moment that NextDeadline names, or for ever, time alone changes
// nothing in the answer to the agent.
func (g *game) unchanging(t *rapid.T, id string) {
	told := func(w *world) string {
		_, res, err := turn.Try(w.state, w.facts(), turn.TryRequest{Agent: id})
		return words(res.Status, res.Reason, codeOf(err))
	}
	now, next := told(g.world), g.state.NextDeadline(g.facts(), id)
	if next < 0 {
		t.Fatalf("next is %v", next)
	}
	for _, d := range []time.Duration{ms, time.Second, grace, graces, 11 * time.Minute, claimed, leased, silent, years, next - ms} {
		if d > 0 && (next == 0 || d < next) {
			w := g.in(d)
			if then := told(&w); then != now {
				t.Fatalf("%s is told %q now and %q in %v, before the next moment in %v", id, now, then, d, next)
			}
		}
	}
}

// notStuck: wherever the room is, once enough time has passed, every agent that
// lives can go on if the others fell silent, and one can if they wait on.
func (g *game) notStuck(t *rapid.T) {
	live := slices.DeleteFunc(slices.Clone(g.m.members), func(id string) bool {
		return g.presence(id).Process == turn.Gone && !g.presence(id).Waiting
	})
	if !g.m.open || len(live) == 0 {
		return
	}
	goesOn := func(w *world, id string) bool {
		w.seen(id)
		_, res, err := turn.Try(w.state, w.facts(), turn.TryRequest{Agent: id})
		if err == nil && res.Status != turn.YourTurn {
			_, res, err = turn.Take(w.state, w.facts(), turn.TakeRequest{TryRequest: turn.TryRequest{Agent: id}, Reason: "nobody else does"})
		}
		return err == nil && res.Status == turn.YourTurn
	}
	for _, id := range live {
		g.would(g.forever(), func(w *world) {
			for _, p := range w.here {
				p.Waiting = false
			}
			if !goesOn(w, id) {
				t.Fatalf("%s is stuck for ever: %+v", id, g.state)
			}
		})
	}
	g.would(g.forever(), func(w *world) {
		for _, id := range live {
			w.presence(id).Waiting = true
		}
		if !slices.ContainsFunc(live, func(id string) bool { return goesOn(w, id) }) {
			t.Fatalf("%s are stuck for ever: %+v", strings.Join(live, ", "), g.state)
		}
	})
}

// forever is long enough for everything to come to its end, also for what was
// noted when the clock was far ahead.
func (g *game) forever() time.Duration {
	last := g.wall
	for _, e := range g.events {
		if e.CreatedAt.After(last) {
			last = e.CreatedAt.Time
		}
	}
	for _, p := range g.here {
		for _, at := range []time.Time{p.Seen, p.Waited, g.lease.Renewed.Wall.Time} {
			if at.After(last) {
				last = at
			}
		}
	}
	return last.Sub(g.wall) + years
}

// replays: from whatever state one starts, the rest of the journal leads to the
// same room.
func (g *game) replays(t *rapid.T) {
	events := g.onDisk()
	for _, s := range g.past {
		s := s.Clone()
		for _, e := range events[s.Seq:] {
			if err := s.Apply(&e); err != nil {
				t.Fatalf("replay: %v", err)
			}
		}
		if !reflect.DeepEqual(s.Clone(), g.state.Clone()) {
			t.Fatalf("a replay gives\n%+v\nnot\n%+v", s, g.state)
		}
	}
}
