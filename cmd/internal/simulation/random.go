package simulation

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/simulation/machine"
)

// A generator makes up a trace. Each seed has its own taste: how many windows there are, which acts
// and faults happen, and how often processes are switched. Few switches at chosen depths find more than many
// at random: most processes run until they wait.
type generator struct {
	*rand.Rand
	left    int     // acts
	kinds   []kind  // of acts that begin something, each as often as its weight is
	rare    float64 // of ten thousand switches, those within a process
	windows int
	opened  int
	ids     int
	last    *proc // that ran last
	sleepy  int   // of a hundred acts, time passes although processes could run
	busy    int   // of a hundred, something begins although processes could run
	begun   bool
}

// A kind is an act that begins something, for a window and a process, of which there may be none that runs. Of the words of
// its line those in capitals stand for what [generator.begin] says, such as SAME for the session of the window and NEW for
// the name of a new process. Of a range one number is taken, and one of those with | between.
type kind struct {
	weight int
	when   func(w *world, x *window, p *proc) bool
	line   string
}

func whenever(*world, *window, *proc) bool      { return true }
func alive(_ *world, x *window, _ *proc) bool   { return x.alive }
func lives(w *world, x *window, _ *proc) bool   { return x.alive && w.calls(x) < 3 } // not all do all at once
func wants(w *world, x *window, _ *proc) bool   { return !x.refused && lives(w, x, nil) }
func quiet(w *world, x *window, _ *proc) bool   { return x.alive && w.calls(x) == 0 }
func works(w *world, x *window, _ *proc) bool   { return x.inTurn && quiet(w, x, nil) }
func rests(_ *world, x *window, _ *proc) bool   { return x.alive && !x.inTurn }
func holds(w *world, x *window, _ *proc) bool   { return x.hand && quiet(w, x, nil) }
func rung(_ *world, x *window, _ *proc) bool    { return x.alive && x.rings() }
func dead(_ *world, x *window, _ *proc) bool    { return !x.alive }
func spare(w *world, _ *window, _ *proc) bool   { return len(w.windows) < 4 }
func there(_ *world, _ *window, p *proc) bool   { return p.State != machine.Finished }
func ongoing(_ *world, _ *window, p *proc) bool { return p.State == machine.Ready || p.guards > 0 }
func stands(_ *world, _ *window, p *proc) bool {
	return p.State == machine.Ready && p.Points > 0 && !p.Frozen
}
func guards(_ *world, _ *window, p *proc) bool { return p.guards > 0 }
func frozen(_ *world, _ *window, p *proc) bool { return p.Frozen }
func copied(w *world, _ *window, _ *proc) bool { return !machine.ModTime(w.copyDir("x")).IsZero() }

// kinds are the acts that a seed has always, those that it may have, and the faults that it may have, which are fewer.
var kinds = [3][]kind{{
	{30, wants, "edit WINDOW NEW 1-3000"}, {10, lives, "edit WINDOW NEW 1-3000"}, {20, works, "idle WINDOW NEW"},
	{30, rung, "bell WINDOW NEW"}, {8, dead, "open WINDOW SAME NEW"}, {6, frozen, "thaw PROCESS"},
}, {
	{6, wants, "shell WINDOW NEW 1-3000"}, {2, works, "fails WINDOW NEW rate_limit|unknown"}, {8, rests, "listen WINDOW NEW"},
	{8, lives, "tt WINDOW NEW wait --timeout 110s"}, {6, lives, "tt WINDOW NEW try"}, {5, lives, "tt WINDOW NEW take --reason x"},
	{2, lives, "tt WINDOW NEW take --reason x --operator-requested"}, {12, holds, "tt WINDOW NEW release --status s --next-action n"},
	{4, holds, "tt WINDOW NEW assign next --status s --next-action n"}, {6, lives, "tt WINDOW NEW status"}, {6, lives, "tt WINDOW NEW state"},
	{6, lives, "tt WINDOW NEW why"}, {2, lives, "tt WINDOW NEW list"}, {3, lives, "tt WINDOW NEW job run test -- true"},
	{3, lives, "tt WINDOW NEW join"}, {2, quiet, "tt WINDOW NEW leave"}, {1, quiet, "tt WINDOW NEW close --reason done"},
	{1, lives, "tt WINDOW NEW kick AGENT --force"}, {4, lives, "tt WINDOW NEW undo last --yes"}, {4, whenever, "touch note"},
	{2, quiet, "clear WINDOW SESSION NEW"}, {2, quiet, "quit WINDOW NEW"}, {1, spare, "open TWIN SAME NEW"},
}, {
	{3, alive, "die WINDOW"}, {4, ongoing, "kill PROCESS"}, {4, guards, "kill PROCESS"}, {6, stands, "freeze PROCESS"},
	{4, there, "fail PROCESS 1-12 denied|full|io|readonly"}, {2, whenever, "suspend 1000-4000000"}, {1, whenever, "power 0-10 0|1 0|1"},
	{1, whenever, "cut 1-5"}, {1, whenever, "lose"}, {2, whenever, "copy x"}, {1, copied, "back x"}, {1, copied, "older x"},
}}

func newGenerator(seed uint64, acts int, without []string) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), left: acts}
	g.windows = 2 + g.IntN(2)
	for i, all := range kinds {
		for _, k := range all {
			if has := i == 0 || g.IntN(3) > 0 && (i == 1 || g.IntN(2) > 0); has && !slices.Contains(without, strings.Fields(k.line)[0]) {
				g.kinds = append(g.kinds, slices.Repeat([]kind{k}, k.weight)...)
			}
		}
	}
	g.rare = []float64{.02, .1, .5, .9}[g.IntN(4)]
	g.sleepy, g.busy = []int{0, 2, 10}[g.IntN(3)], []int{3, 10, 30}[g.IntN(3)]
	return g
}

// next returns the next act, none at the end.
func (g *generator) next(w *world) act {
	if !g.begun {
		if g.begun = true; g.IntN(3) == 0 {
			return newAct("policy", ledgerVariable, "on")
		} else if g.IntN(2) == 0 {
			return newAct("policy", "TALKING_STICK_IDLE_TTL", []string{"20s", "2m"}[g.IntN(2)])
		}
	}
	if g.left--; g.left < 0 {
		return act{}
	}
	can := slices.DeleteFunc(slices.Clone(w.procs), func(p *proc) bool { return !p.CanRun() })
	n := g.IntN(100)
	sleeps := len(can) == 0 && n < 50 || len(can) > 0 && n < g.sleepy
	begins := !sleeps && (len(can) == 0 || n < g.sleepy+g.busy && len(w.procs) < 12)
	for tries := 0; begins && tries < 20; tries++ {
		if a := g.begin(w); a.verb != "" {
			return a
		}
	}
	if sleeps || begins { // mostly until something is due
		most := 20 * time.Minute
		if slices.ContainsFunc(w.windows, func(x *window) bool { return w.calls(x) > 0 }) || g.IntN(3) == 0 {
			most = 3 * time.Second
		}
		return newAct("sleep", fmt.Sprint(1+g.Int64N(most.Milliseconds())))
	}
	p := can[g.IntN(len(can))]
	if slices.Contains(can, g.last) && g.IntN(3) > 0 {
		p = g.last
	}
	if g.last = p; g.Float64() < g.rare {
		return newAct("run", p.Name, fmt.Sprint(1+int(g.ExpFloat64()*12)))
	}
	return newAct("run", p.Name)
}

// begin returns an act that begins something.
func (g *generator) begin(w *world) act {
	g.ids++
	id := fmt.Sprint("p", g.ids)
	if g.opened < g.windows && (g.opened == 0 || g.IntN(3) == 0) {
		name := string("abc"[g.opened])
		g.opened++
		return newAct("open", name, "s-"+name, id)
	}
	k, x, p := g.kinds[g.IntN(len(g.kinds))], w.windows[g.IntN(len(w.windows))], &proc{Proc: &machine.Proc{State: machine.Finished}}
	if len(w.procs) > 0 {
		p = w.procs[g.IntN(len(w.procs))]
	}
	if !k.when(w, x, p) {
		return act{}
	}
	stands := map[string]string{
		"WINDOW": x.name, "TWIN": x.name + "2", "SAME": x.session, "SESSION": fmt.Sprint("s-", x.name, g.ids), "NEW": id,
		"PROCESS": p.Name, "AGENT": w.windows[g.IntN(len(w.windows))].agent,
	}
	words := strings.Fields(k.line)
	for i, word := range words {
		var from, to int
		choices := strings.Split(word, "|")
		if n, _ := fmt.Sscanf(word, "%d-%d", &from, &to); n == 2 {
			words[i] = fmt.Sprint(from + g.IntN(to-from+1))
		} else {
			words[i] = cmp.Or(stands[word], choices[g.IntN(len(choices))])
		}
	}
	return newAct(words[0], words[1:]...)
}
