package simulation

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An act is one line of a trace: what happens next on the machine. Acts that begin a process have
// its name behind that of the window.
type act struct {
	verb string
	args []string
}

func (a act) String() string { return strings.Join(append([]string{a.verb}, a.args...), " ") }

func (a act) arg(i int) string {
	if i < len(a.args) {
		return a.args[i]
	}
	return ""
}

func (a act) number(i int) int {
	n, _ := strconv.Atoi(a.arg(i))
	return n
}

// ms returns an argument that is a number of milliseconds.
func (a act) ms(i int) time.Duration { return time.Duration(a.number(i)) * time.Millisecond }

// acts are the things that can happen, with the arguments that they take. A function returns false
// where its act means nothing now.
var acts = map[string]struct {
	args string
	do   func(*world, act) bool
}{
	"policy":  {"NAME VALUE", func(w *world, a act) bool { w.policy[a.arg(0)] = a.arg(1); return true }},
	"run":     {"PROCESS [POINTS]", func(w *world, a act) bool { return w.doRun(a) }},
	"sleep":   {"MS", func(w *world, a act) bool { w.pass(a.ms(0)); return true }},
	"suspend": {"MS", (*world).doSuspend},

	"open": {"WINDOW SESSION PROCESS", (*world).doOpen},
	"edit": {"WINDOW PROCESS MS", func(w *world, a act) bool {
		return w.do(a, func(x *window) { w.edit(a.arg(1), x, false, a.ms(2)) })
	}},
	"shell": {"WINDOW PROCESS MS", func(w *world, a act) bool { return w.do(a, func(x *window) { w.edit(a.arg(1), x, true, a.ms(2)) }) }},
	"idle":  {"WINDOW PROCESS", func(w *world, a act) bool { return w.do(a, func(x *window) { w.idle(a.arg(1), x, "") }) }},
	"fails": {"WINDOW PROCESS [ERROR]", func(w *world, a act) bool {
		return w.do(a, func(x *window) { w.idle(a.arg(1), x, cmp.Or(a.arg(2), "rate_limit")) })
	}},
	"listen": {"WINDOW PROCESS", func(w *world, a act) bool { return w.do(a, func(x *window) { w.listen(a.arg(1), x, false) }) }},
	"bell":   {"WINDOW PROCESS", func(w *world, a act) bool { return w.do(a, func(x *window) { w.listen(a.arg(1), x, true) }) }},
	"tt": {"WINDOW PROCESS COMMAND...", func(w *world, a act) bool {
		return w.do(a, func(x *window) { w.command(a.arg(1), x, a.args[2:]...) })
	}},
	"touch": {"FILE", func(w *world, a act) bool { w.touch(a.arg(0)); return true }},
	"clear": {"WINDOW SESSION PROCESS", func(w *world, a act) bool { return w.do(a, func(x *window) { w.clear(x, a.arg(1), a.arg(2)) }) }},
	"quit":  {"WINDOW PROCESS", func(w *world, a act) bool { return w.do(a, func(x *window) { w.doQuit(x, a.arg(1)) }) }},
	"die":   {"WINDOW", func(w *world, a act) bool { return w.do(a, w.die) }},

	"kill":   {"PROCESS", func(w *world, a act) bool { return w.one(a, w.kill) }},
	"freeze": {"PROCESS", func(w *world, a act) bool { return w.one(a, func(p *proc) { p.frozen = true }) }},
	"thaw":   {"PROCESS", func(w *world, a act) bool { return w.one(a, func(p *proc) { p.frozen = false }) }},
	"fail": {"PROCESS NTH ERROR", func(w *world, a act) bool {
		return w.one(a, func(p *proc) { p.failAt, p.failure = a.number(1), failures[a.arg(2)] })
	}},
	"power": {"TENTHS OLDER EMPTIED", func(w *world, a act) bool { w.doPower(a.number(0), a.arg(1) == "1", a.arg(2) == "1"); return true }},
	"cut":   {"LINES", func(w *world, a act) bool { w.outdate(); return w.cutJournal(a.number(0), false) }},
	"lose":  {"", func(w *world, a act) bool { return w.cutJournal(0, true) }},
	"copy":  {"NAME", func(w *world, a act) bool { return w.copyRoom(a.arg(0)) }},
	"back": {"NAME", func(w *world, a act) bool {
		done := w.putBack(a.arg(0), false)
		if done {
			w.oracle.forget()
			w.oracle.overrun("")
		}
		return done
	}},
	"older": {"NAME", func(w *world, a act) bool { return w.putBack(a.arg(0), true) }},
}

// apply makes an act happen. It returns false where it means nothing now.
func (w *world) apply(a act) bool {
	done := acts[a.verb].do(w, a)
	if done && a.verb != "run" && a.verb != "sleep" {
		w.settle()
	}
	return done
}

// parse reads a trace. Lines that begin with a blank or # are remarks.
func parse(text string) (trace []act, err error) {
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == ' ' || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		known, ok := acts[words[0]]
		if !ok {
			return nil, fmt.Errorf("line %d: there is no act %q", n+1, words[0])
		}
		needs := 0
		for _, arg := range strings.Fields(known.args) {
			if arg[0] != '[' {
				needs++
			}
		}
		if len(words)-1 < needs {
			return nil, fmt.Errorf("line %d: the act is: %s %s", n+1, words[0], known.args)
		}
		if e := act.arg(act{args: words[1:]}, 2); words[0] == "fail" && failures[e] == nil {
			return nil, fmt.Errorf("line %d: there is no error %q", n+1, e)
		}
		trace = append(trace, act{words[0], words[1:]})
	}
	return trace, nil
}

// do is for acts of a living window. A model ends its turn, and its user a session, while no tool runs, and calls none
// while the hooks of that run.
func (w *world) do(a act, run func(*window)) bool {
	x := w.window(a.arg(0))
	ends := a.verb == "idle" || a.verb == "fails" || a.verb == "clear" || a.verb == "quit"
	if x == nil || !x.alive || ends && w.calls(x) > 0 || x.stopping && a.verb != "die" {
		return false
	}
	run(x)
	return true
}

// one is for acts on a process.
func (w *world) one(a act, run func(*proc)) bool {
	p := w.find(a.arg(0))
	if p != nil {
		run(p)
	}
	return p != nil
}

func (w *world) doRun(a act) bool {
	p := w.find(a.arg(0))
	if p == nil || !w.canRun(p) {
		return false
	}
	w.step(p, a.number(1))
	return true
}

func (w *world) doOpen(a act) bool {
	if x := w.window(a.arg(0)); x != nil && x.alive {
		return false
	}
	var x *window
	w.step(w.spawn("whoami", 1, func(p *proc) { x = w.open(p, a.arg(0), a.arg(1)) }), 0)
	w.begin(a.arg(2), x, "startup")
	return true
}

// doQuit ends the session of a window and its process.
func (w *world) doQuit(x *window, id string) { w.endSession(id, x, func(*proc) { w.die(x) }) }

// doSuspend suspends the machine. If it was for longer than an idle holder keeps the turn, what runs may lose it.
func (w *world) doSuspend(a act) bool {
	idle, err := time.ParseDuration(w.policy["TALKING_STICK_IDLE_TTL"])
	if err != nil {
		idle = 15 * time.Minute
	}
	o := &w.oracle
	if w.suspend(a.ms(0)); o.state == nil {
		return true
	}
	if o.asleep.turn != o.state.Turn {
		o.asleep.turn, o.asleep.d = o.state.Turn, 0
	}
	if o.asleep.d += a.ms(0); o.asleep.d > idle {
		o.slept = o.state.Turn
		o.overrun("")
	}
	return true
}

func (w *world) doPower(tenths int, older, emptied bool) {
	for _, x := range w.windows {
		x.alive, x.inTurn = false, false
	}
	w.powerCut(tenths, older, emptied)
	w.oracle.folds()
}
