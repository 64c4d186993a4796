package turn_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"pgregory.net/rapid"
)

// A game is a room in which agents do what they like, beside the model of it.
type game struct {
	*world
	m      *model
	agents []string
	past   []*turn.State // after every change
}

// TestRandomSchedules lets two to six agents come, go, claim, release, take over,
// talk, die and return in any order, while time passes, clocks are set and the
// machine is booted. After every step every agent would get the answer that the model
// gives, and all promises hold.
func TestRandomSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGame(t)
		t.Repeat(map[string]func(*rapid.T){
			"join":   func(t *rapid.T) { g.comes(t, g.agent(t), false) },
			"watch":  func(t *rapid.T) { g.comes(t, g.agent(t), true) },
			"leave":  func(t *rapid.T) { g.leaves(t, g.rarely(t)) },
			"kick":   func(t *rapid.T) { g.kicks(t, g.rarely(t), g.agent(t), rapid.Bool().Draw(t, "force")) },
			"try":    func(t *rapid.T) { g.claims(t, g.agent(t), false) },
			"try 2":  func(t *rapid.T) { g.claims(t, g.agent(t), rapid.Bool().Draw(t, "park")) },
			"take":   func(t *rapid.T) { g.seizes(t, g.agent(t), rapid.Bool().Draw(t, "operator")) },
			"pass":   func(t *rapid.T) { g.handsOver(t, "") },
			"pass 2": func(t *rapid.T) { g.handsOver(t, "") },
			"assign": func(t *rapid.T) { g.handsOver(t, rapid.SampledFrom(append(g.agents, turn.TargetNext)).Draw(t, "to")) },
			"stale":  func(t *rapid.T) { g.insists(t) },
			"beat":   func(t *rapid.T) { g.beats(t) },
			"talk": func(t *rapid.T) {
				g.talks(t, g.agent(t), rapid.SampledFrom(append(g.agents, turn.Everyone)).Draw(t, "to"))
			},
			"note":   func(t *rapid.T) { g.notes(g.agent(t), rapid.Bool().Draw(t, "resolve")) },
			"fate":   func(t *rapid.T) { g.fate(t, g.agent(t)) },
			"time":   func(t *rapid.T) { g.later(g.span(t)) },
			"time 2": func(t *rapid.T) { g.later(g.span(t)) },
			"clock": func(t *rapid.T) {
				g.set(rapid.SampledFrom([]time.Duration{-time.Hour, time.Hour, -silent, years, -years}).Draw(t, "set"))
			},
			"reboot": func(t *rapid.T) { g.restart(g.rarely(t), g.span(t)) },
			"policy": func(t *rapid.T) { g.rules(t, g.rarely(t)) },
			"end":    func(t *rapid.T) { g.ends() },
			"close":  func(t *rapid.T) { g.closes(t, g.rarely(t), rapid.Bool().Draw(t, "human")) },
			"":       g.verify,
		})
		g.check()
		g.replays(t)
	})
}

func newGame(t *rapid.T) *game {
	w := newWorld(t)
	all := []string{"a", "b", "c", "d", "e", "f"}
	g := &game{world: w, m: &model{w: w}, agents: all[:rapid.IntRange(2, 6).Draw(t, "agents")]}
	for _, id := range g.agents {
		g.comes(t, id, rapid.IntRange(0, 3).Draw(t, "observer") == 0)
	}
	return g
}

func (g *game) agent(t *rapid.T) string { return rapid.SampledFrom(g.agents).Draw(t, "agent") }

// rarely skips most of the actions that would otherwise be all that happens.
func (g *game) rarely(t *rapid.T) string {
	if rapid.IntRange(0, 3).Draw(t, "dice") > 0 {
		t.SkipNow()
	}
	return g.agent(t)
}

// span is a time after which something has usually just come to its end, or not.
func (g *game) span(t *rapid.T) time.Duration {
	d := rapid.SampledFrom([]time.Duration{ms, time.Second, grace, graces, 10 * time.Minute, claimed, leased, silent, 8 * 24 * time.Hour}).Draw(t, "time")
	return max(0, d+rapid.SampledFrom([]time.Duration{-ms, 0, ms}).Draw(t, "off"))
}

func (g *game) told(t *rapid.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: %s, the model says %s", what, got, want)
	}
}

func (g *game) comes(t *rapid.T, id string, observe bool) {
	g.m.join(id, observe)
	g.world.joinAs(id, "", observe)
}

func (g *game) leaves(t *rapid.T, id string) {
	g.seen(id)
	want := g.m.refusal(id, "room_closed")
	if want == "" {
		want = g.m.part(id, "left")
	}
	g.told(t, "leave", parting(g.leave(id)), want)
}

func (g *game) kicks(t *rapid.T, id, target string, force bool) {
	g.seen(id)
	want := g.m.refusal(id, "room_closed")
	switch {
	case id == target:
		want = "cannot_kick_self"
	case want != "":
	case !slices.Contains(g.m.members, target):
		want = "unknown_target"
	case !force && !g.m.kickable(target):
		want = "target_active"
	default:
		want = g.m.part(target, "kicked")
	}
	g.told(t, "kick", parting(g.kick(id, target, force)), want)
}

// closes ends the room. The owner shows its lease, or a lease of old.
func (g *game) closes(t *rapid.T, id string, human bool) {
	fence := turn.Fence{}
	if g.m.owner == id {
		fence = rapid.SampledFrom(append(slices.Clone(g.fences), g.fence())).Draw(t, "fence")
	}
	want := g.m.closing(id, human, fence == g.fence())
	_, err := g.close(turn.CloseRequest{Agent: id, Reason: "done", Human: human, Fence: fence})
	switch got := codeOf(err); {
	case want == "" && got == "":
		g.m.open = false
	case want == "stale" && got != "":
	default:
		g.told(t, "close", got, want)
	}
}

func (g *game) claims(t *rapid.T, id string, park bool) {
	g.seen(id)
	want := g.m.try(id, park)
	g.told(t, "try", answer(g.tryWith(turn.TryRequest{Agent: id, Lease: g.newID("lease"), Park: park})), want)
	g.grant(id, want)
}

func (g *game) seizes(t *rapid.T, id string, operator bool) {
	g.seen(id)
	want := g.m.take(id, operator)
	g.told(t, "take", answer(g.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: id}, Reason: "why not", Operator: operator})), want)
	g.grant(id, want)
}

func (g *game) grant(id, told string) {
	if strings.HasPrefix(told, turn.YourTurn) && !strings.HasSuffix(told, turn.ReasonOwner) {
		g.m.granted(id)
	}
}

// handsOver ends the owner's turn, to the fairest member or to a named one.
func (g *game) handsOver(t *rapid.T, target string) {
	if g.m.owner == "" || !g.m.open {
		t.Skip("nobody has it")
	}
	g.seen(g.m.owner)
	next := g.m.fairest(g.m.owner)
	if target == "" {
		to, kept, want := next, "", "reserved for "+next
		switch {
		case next == "":
			want = "open"
		case !g.m.ready(next):
			to, kept, want = "", next, "kept for "+next
		}
		g.told(t, "release", g.releases(), want)
		g.m.released(to, kept, false)
		return
	}
	if target != turn.TargetNext {
		next = target
	}
	if !slices.Contains(g.m.members, next) || !g.m.active(next) || target == g.m.owner {
		g.told(t, "assign", g.assigns(target), "unknown_member")
		return
	}
	g.told(t, "assign", g.assigns(target), "reserved for "+next)
	g.m.released(next, "", true)
}

// insists: an agent that once had a turn acts on it again.
func (g *game) insists(t *rapid.T) {
	if len(g.fences) == 0 {
		t.Skip("nobody ever had it")
	}
	fence := rapid.SampledFrom(g.fences).Draw(t, "fence")
	if fence == g.fence() && g.m.open {
		t.Skip("it holds")
	}
	want := "turn_mismatch"
	switch {
	case !g.m.open:
		want = "room_closed"
	case fence.Turn == g.state.Turn:
		want = "stale_lease"
	}
	before := mustJSON(g.state)
	_, err := g.release(fence)
	g.told(t, "stale release", g.next(err), want)
	_, err = g.assign(fence, g.agents[0])
	g.told(t, "stale assignment", g.next(err), want)
	g.told(t, "room after it", mustJSON(g.state), before)
}

func (g *game) beats(t *rapid.T) {
	if g.m.owner == "" || !g.m.open {
		t.Skip("nobody has it")
	}
	g.beat()
	g.m.since, g.m.lease = g.m.now(), g.m.policy.OwnerLeaseTTL
}

func (g *game) talks(t *rapid.T, id, to string) {
	want := g.m.refusal(id, "room_closed")
	if want == "" && to != turn.Everyone && !slices.Contains(g.m.members, to) {
		want = "unknown_recipient"
	}
	g.told(t, "send", codeOf(g.send(id, to, "hello")), want)
}

func (g *game) notes(id string, resolve bool) {
	if resolve && len(g.state.Notes) > 0 {
		_, _ = g.resolve(id, g.state.Notes[0].ID)
		return
	}
	_, _ = g.addNote(turn.NoteRequest{Agent: id, Body: "remember"})
}

// fate changes what the machine knows of an agent.
func (g *game) fate(t *rapid.T, id string) {
	p := g.presence(id)
	switch rapid.IntRange(0, 6).Draw(t, "fate") {
	case 0:
		p.Process, p.Waiting = turn.Gone, false
	case 1:
		p.Process = turn.Alive
	case 2:
		p.Process = turn.Unknown
	case 3:
		p.OutlivesProcess = !p.OutlivesProcess
	case 4:
		p.Waiting, p.Waited = true, g.wall
	case 5:
		p.Waiting, p.Waited = false, g.wall
	case 6:
		g.seen(id)
	}
}

// restart boots the machine: no process lives on.
func (g *game) restart(_ string, off time.Duration) {
	for _, id := range g.agents {
		p := g.presence(id)
		p.Waiting = false
		if p.Process == turn.Alive {
			p.Process = turn.Gone
		}
	}
	g.reboot(off)
}

// rules changes one limit of the room.
func (g *game) rules(t *rapid.T, id string) {
	if !g.m.open {
		t.Skip("there is no room")
	}
	l := rapid.SampledFrom(turn.Limits()).Draw(t, "limit")
	d := rapid.SampledFrom([]int64{1, 1000, 60_000, 3_600_000, *l.Field(&g.policy)}).Draw(t, "value")
	g.setPolicy(id, func(p *turn.Policy) { *l.Field(p) = d })
	*l.Field(&g.m.policy) = d
}

// ends closes the room if it outlived its time.
func (g *game) ends() {
	if g.commit(turn.End(g.state, g.facts()), nil).Type == turn.Closed {
		g.m.open = false
	}
}
