package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// patience is the time within which who wants the turn has it or is called once nothing goes wrong any
// more: the longest limit of the policy and some.
const patience = time.Hour

// finale is the end of a run. Nothing more goes wrong: stopped processes go on, calls of tools end, models
// end their turns, and harnesses do what hooks and files ask of them. Who was refused and told that it
// will be called is called then.
func (w *world) finale() {
	for _, p := range w.procs {
		p.frozen, p.failAt = false, 0
	}
	id, acted := 0, false
	do := func(x *window, verb string, more ...string) {
		id++
		x.stopping = false // it is still, if its hook was killed before it began
		acted = w.apply(newAct(verb, append([]string{x.name, fmt.Sprintf("e%03d", id)}, more...)...)) || acted
	}
	for end := time.Now().Add(patience); time.Now().Before(end) && w.class == "" && w.steps < 200_000; {
		if w.drain(); w.class != "" {
			return
		}
		waits := false
		acted = false
		for _, x := range w.windows {
			waits = waits || x.alive && x.refused
			switch {
			case !x.alive, w.runsFor(x):
			case x.inTurn && x.called && x.refused: // its model was woken, and tries again
				if x.called = false; strings.Contains(x.reason, "Do: tt take") {
					do(x, "tt", "take", "--reason", "x")
				} else {
					do(x, "edit", "1000")
				}
			case x.offered:
				x.offered = false
				do(x, "tt", "wait", "--timeout", "1s")
			case x.hand:
				x.hand = false
				do(x, "tt", "release", "--status", "s", "--next-action", "n")
			case x.inTurn:
				do(x, "idle")
			case x.unheard:
				do(x, "listen")
			case x.rings():
				do(x, "bell")
			}
		}
		if !acted && !waits {
			break
		}
		if !acted {
			w.pass(time.Minute)
		}
	}
	w.drain()
	has := func(t string) bool { return slices.Contains(w.truths, t) }
	st := w.state
	// Of a holder that has ended, and whose guardian has, nobody is left that could tell.
	// Nor of the turn of a copy that was put back, whose guardian it does not have.
	silent := st != nil && has("guardian of "+st.Owner) && (w.back == st.Turn || has("harness of "+st.Owner))
	for _, x := range w.windows {
		called := func(y *window) bool { return y.agent == x.agent && y.called }
		waits := x.alive && x.refused && strings.Contains(x.reason, "you are called")
		assigned := st != nil && st.ReservedFor != "" && st.Pending.From == x.agent // it waits for that session
		if waits && !silent && !assigned && !slices.ContainsFunc(w.windows, called) {
			w.find("who wants the turn is not called", "%s was refused: %s", x.name, x.reason)
		}
	}
	if w.class == "" {
		w.history()
	}
}

// drain lets all processes run until they wait.
func (w *world) drain() {
	for busy := true; busy && w.class == ""; {
		busy = false
		for _, p := range slices.Clone(w.procs) {
			busy = w.step(p, 0) || busy
		}
	}
}

// runsFor reports whether a process runs of which the model of a window waits for the end.
func (w *world) runsFor(x *window) bool {
	return slices.ContainsFunc(w.procs, func(p *proc) bool {
		return p.window == x && !strings.HasPrefix(p.detail, "listen") && !strings.HasPrefix(p.detail, "bell")
	})
}
