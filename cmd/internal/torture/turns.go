//go:build linux

package torture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A wait is a `tt wait` that nobody disturbed, from its start to its end.
type wait struct {
	agent        string
	began, ended time.Time
	turn         int64 // that it was granted; 0: none
}

// takers lets each agent take turns.
func (l *load) takers() {
	for _, agent := range agents {
		random := l.random()
		l.lanes.Go(func() {
			for l.takeTurn(agent, random) {
			}
		})
	}
}

// takeTurn waits for the turn and hands it over. It reports false when the load is
// over.
func (l *load) takeTurn(agent string, random *rand.Rand) bool {
	o, ok := l.do(random, []time.Duration{4, 40}[random.IntN(2)]*time.Millisecond, "wait", "--timeout", "5s", "--agent", agent)
	if !ok {
		return false
	}
	g := l.granted(agent, o, l.done(o))
	if g.Status == turn.TakeoverAvailable {
		if o, ok = l.do(random, 4*time.Millisecond, "take", "--reason", "its guardian was killed", "--agent", agent); !ok {
			return false
		}
		g = l.granted(agent, o, l.done(o, "takeover_not_available", "takeover_ineligible", "turn_mismatch"))
	}
	return g.Status != turn.YourTurn || l.haveTurn(g, random)
}

// granted notes and returns what a wait or a take granted, perhaps nothing.
func (l *load) granted(agent string, o *outcome, done bool) (g grant) {
	if done {
		if err := json.Unmarshal([]byte(o.stdout), &g); err != nil {
			l.fail("%v: %v", o.line, err)
			return grant{}
		}
	}
	g.agent, g.told = agent, o
	w := wait{agent: agent, began: o.began, ended: o.ended}
	l.note(func(a *acks) {
		if g.Status == turn.YourTurn {
			a.grants = append(a.grants, g)
			w.turn = g.Turn
		}
		if o.line[0] == "wait" && !o.disturbed {
			a.waits = append(a.waits, w)
		}
	})
	return g
}

// haveTurn is what happens in a turn. At times its guardian is killed or stopped,
// at times the agent forgets its turn and waits again; else it hands over.
func (l *load) haveTurn(g grant, random *rand.Rand) bool {
	dice := random.IntN(10)
	ours := l.killing && owns(l.data, g.Guardian)
	switch {
	case !l.killing:
	case dice == 0:
		if ours {
			_ = syscall.Kill(g.Guardian, syscall.SIGKILL)
		}
		if random.IntN(2) == 0 { // so that the others see it
			time.Sleep(20 * time.Millisecond)
		}
	case dice == 1:
		return true
	case dice < 5 && ours: // its end wakes those who wait for it, and must not be needed
		halt(g.Guardian)
		time.AfterFunc(atLatest+time.Second, func() { _ = syscall.Kill(g.Guardian, syscall.SIGCONT) })
	}
	args := [][]string{{"release"}, {"release"}, {"assign", "next"}}[random.IntN(3)]
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
