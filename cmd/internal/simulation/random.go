package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A generator makes up a trace. Each seed has its own taste: how many windows there are, which acts
// and faults happen, and how often processes are switched. Few switches at chosen depths find more than many
// at random: most processes run until they wait.
type generator struct {
	*rand.Rand
	left    int            // acts
	weights map[string]int // of acts that begin something
	total   int
	rare    float64 // of ten thousand switches, those within a process
	windows []string
	opened  int
	ids     int
	last    string // process that ran last
	sleepy  int    // of a hundred acts, time passes although processes could run
	busy    int    // of a hundred, something begins although processes could run
	copied  bool
	begun   bool
}

// kinds are the acts that begin something, with their weight where a seed has them.
var kinds = []struct {
	verb   string
	weight int
	fault  bool
}{
	{"edit", 40, false}, {"shell", 6, false}, {"idle", 20, false}, {"fails", 2, false}, {"listen", 8, false}, {"bell", 30, false},
	{"tt wait --timeout 110s", 8, false}, {"tt try", 6, false}, {"tt take --reason x", 5, false}, {"tt take --reason x --operator-requested", 2, false},
	{"tt release --status s --next-action n", 12, false}, {"tt assign next --status s --next-action n", 4, false}, {"tt status", 6, false}, {"tt state", 6, false},
	{"tt why", 6, false}, {"tt list", 2, false}, {"tt job run test -- true", 3, false}, {"touch", 4, false}, {"tt join", 3, false}, {"tt leave", 2, false},
	{"tt close --reason done", 1, false}, {"tt kick", 1, false}, {"tt undo last --yes", 4, false},
	{"clear", 2, false}, {"quit", 2, false}, {"resume", 8, false}, {"twin", 1, false},
	{"die", 3, true}, {"kill", 4, true}, {"killguard", 4, true}, {"freeze", 6, true}, {"thaw", 6, true}, {"fail", 4, true}, {"suspend", 2, true},
	{"power", 1, true}, {"cut", 1, true}, {"lose", 1, true}, {"copy", 2, true}, {"back", 1, true}, {"older", 1, true},
}

func newGenerator(seed uint64, acts int, without []string) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), left: acts, weights: map[string]int{}}
	g.windows = []string{"a", "b", "c"}[:2+g.IntN(2)]
	for _, k := range kinds {
		if slices.Contains(without, strings.Fields(k.verb)[0]) {
			continue
		}
		if k.verb == "edit" || k.verb == "idle" || k.verb == "resume" || k.verb == "thaw" || k.verb == "bell" || g.IntN(3) > 0 && (!k.fault || g.IntN(2) > 0) {
			g.weights[k.verb] = k.weight
			g.total += k.weight
		}
	}
	g.rare = []float64{.02, .1, .5, .9}[g.IntN(4)]
	g.sleepy, g.busy = []int{0, 2, 10}[g.IntN(3)], []int{3, 10, 30}[g.IntN(3)]
	return g
}

// next returns the next act.
func (g *generator) next(w *world) (act, bool) {
	if !g.begun {
		if g.begun = true; g.IntN(3) == 0 {
			return newAct("policy", ledgerVariable, "on"), true
		} else if g.IntN(2) == 0 {
			return newAct("policy", "TALKING_STICK_IDLE_TTL", []string{"20s", "2m"}[g.IntN(2)]), true
		}
	}
	if g.left--; g.left < 0 {
		return act{}, false
	}
	var can []string
	for _, p := range w.procs {
		if w.canRun(p) {
			can = append(can, p.name)
		}
	}
	switch n := g.IntN(100); {
	case len(can) == 0 && n < 50, len(can) > 0 && n < g.sleepy:
		return g.sleep(w), true
	case len(can) == 0, n < g.sleepy+g.busy && len(w.procs) < 12:
		for range 20 {
			if a, ok := g.begin(w); ok {
				return a, true
			}
		}
		return g.sleep(w), true
	}
	name := can[g.IntN(len(can))]
	if slices.Contains(can, g.last) && g.IntN(3) > 0 {
		name = g.last
	}
	g.last = name
	if g.Float64() < g.rare {
		return newAct("run", name, fmt.Sprint(1+int(g.ExpFloat64()*12))), true
	}
	return newAct("run", name), true
}

// sleep lets time pass: mostly until something is due.
func (g *generator) sleep(w *world) act {
	writes := slices.ContainsFunc(w.windows, func(x *window) bool { return w.calls(x) > 0 })
	most := 20 * time.Minute
	if writes || g.IntN(3) == 0 {
		most = 3 * time.Second
	}
	return newAct("sleep", fmt.Sprint(1+g.Int64N(most.Milliseconds())))
}

func (g *generator) id() string {
	g.ids++
	return fmt.Sprint("p", g.ids)
}

// begin returns an act that begins something.
func (g *generator) begin(w *world) (act, bool) {
	if g.opened < len(g.windows) && (g.opened == 0 || g.IntN(3) == 0) {
		name := g.windows[g.opened]
		g.opened++
		return newAct("open", name, "s-"+name, g.id()), true
	}
	x := w.windows[g.IntN(len(w.windows))]
	n := g.IntN(g.total)
	verb := ""
	for _, k := range kinds {
		if n -= g.weights[k.verb]; n < 0 {
			verb = k.verb
			break
		}
	}
	words := strings.Fields(verb)
	if len(words) == 0 || w.calls(x) > 2 && verb != "die" { // not all do all at once
		return act{}, false
	}
	is := func(args ...any) act { return newAct(verb, strings.Fields(fmt.Sprintln(args...))...) }
	quiet := x.alive && w.calls(x) == 0
	switch words[0] {
	case "edit", "shell":
		return is(x.name, g.id(), 1+g.IntN(3000)), x.alive && w.calls(x) < 3 && (x.refused.IsZero() || g.IntN(4) == 0)
	case "idle":
		return is(x.name, g.id()), quiet && x.inTurn
	case "fails": // then it is limited, or idle
		return is(x.name, g.id(), []string{"rate_limit", "unknown"}[g.IntN(2)]), quiet && x.inTurn
	case "listen":
		return is(x.name, g.id()), x.alive && !x.inTurn
	case "bell":
		return is(x.name, g.id()), x.alive && x.watch != "" && !modTime(x.watch).Equal(x.bell)
	case "tt":
		if words[1] == "kick" {
			words = append(words, w.windows[g.IntN(len(w.windows))].agent, "--force")
		}
		ends := slices.Contains([]string{"release", "assign", "leave", "close"}, words[1])
		hands := words[1] == "release" || words[1] == "assign"
		return newAct("tt", append([]string{x.name, g.id()}, words[1:]...)...), (quiet || x.alive && !ends) && (x.hand || !hands)
	case "clear":
		return is(x.name, fmt.Sprint("s-", x.name, g.ids), g.id()), quiet
	case "quit":
		return is(x.name, g.id()), quiet
	case "die":
		return is(x.name), x.alive
	case "resume":
		return newAct("open", x.name, x.session, g.id()), !x.alive
	case "twin":
		return newAct("open", x.name+"2", x.session, g.id()), len(w.windows) < 4
	case "kill", "freeze", "fail", "killguard", "thaw":
		return g.onProcess(w, verb)
	case "touch":
		return is("note"), true
	case "suspend":
		return is(1000 * (1 + g.IntN(4000))), true
	case "power":
		return is(g.IntN(11), g.IntN(2), g.IntN(2)), true
	case "cut":
		return is(1 + g.IntN(5)), true
	case "copy":
		g.copied = true
		return is("x"), true
	case "back", "older":
		return is("x"), g.copied
	case "lose":
		return is(), true
	}
	return act{}, false
}

// onProcess returns an act on one of the processes.
func (g *generator) onProcess(w *world, verb string) (act, bool) {
	if len(w.procs) == 0 {
		return act{}, false
	}
	p := w.procs[g.IntN(len(w.procs))]
	switch {
	case verb == "killguard":
		return newAct("kill", p.name), p.guards > 0
	case verb == "fail":
		names := []string{"denied", "full", "io", "readonly"}
		return newAct(verb, p.name, fmt.Sprint(1+g.IntN(12)), names[g.IntN(4)]), true
	case verb == "freeze":
		return newAct(verb, p.name), p.state == ready && p.points > 0 && !p.frozen
	case verb == "thaw":
		return newAct(verb, p.name), p.frozen
	}
	return newAct(verb, p.name), p.state == ready || p.guards > 0
}
