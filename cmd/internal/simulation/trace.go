package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"
)

// An act is one line of a trace: what happens next on the machine. Acts that begin a process have
// its name behind that of the window.
type act struct {
	verb string
	args []string
	x    *window // whose act it is, while it happens
	p    *proc   // on which it acts
}

func newAct(verb string, args ...string) act { return act{verb: verb, args: args} }

func (a act) String() string { return strings.Join(append([]string{a.verb}, a.args...), " ") }

// arg returns an argument, "" if it is not there.
func (a act) arg(i int) string { return append(slices.Clip(a.args), "", "", "")[i] }

func (a act) number(i int) int {
	n, _ := strconv.Atoi(a.arg(i))
	return n
}

// ms returns an argument that is a number of milliseconds.
func (a act) ms(i int) time.Duration { return time.Duration(a.number(i)) * time.Millisecond }

// acts are the things that can happen, with the arguments that they take: a WINDOW lives, and a PROCESS at their
// beginning runs. A function returns false where its act means nothing now.
var acts = map[string]struct {
	args string
	do   func(*world, act) bool
}{
	"policy":  {"NAME VALUE", func(w *world, a act) bool { w.policy[a.arg(0)] = a.arg(1); return true }},
	"run":     {"PROCESS [POINTS]", func(w *world, a act) bool { return w.step(a.p, a.number(1)) }},
	"sleep":   {"MS", func(w *world, a act) bool { w.pass(a.ms(0)); return true }},
	"suspend": {"MS", (*world).suspend},

	"open":   {"NAME SESSION PROCESS", (*world).open},
	"edit":   {"WINDOW PROCESS MS", (*world).edit},
	"shell":  {"WINDOW PROCESS MS", (*world).edit},
	"idle":   {"WINDOW PROCESS", (*world).idle},
	"fails":  {"WINDOW PROCESS [ERROR]", (*world).idle},
	"listen": {"WINDOW PROCESS", (*world).listen},
	"bell":   {"WINDOW PROCESS", (*world).listen},
	"tt":     {"WINDOW PROCESS COMMAND...", (*world).command},
	"touch":  {"FILE", func(w *world, a act) bool { w.touch(a.arg(0)); return true }},
	"clear":  {"WINDOW SESSION PROCESS", (*world).endSession},
	"quit":   {"WINDOW PROCESS", (*world).endSession},
	"die":    {"WINDOW", func(w *world, a act) bool { w.die(a.x); return true }},

	"kill":   {"PROCESS", func(w *world, a act) bool { w.kill(a.p); return true }},
	"freeze": {"PROCESS", func(_ *world, a act) bool { a.p.frozen = true; return true }},
	"thaw":   {"PROCESS", func(_ *world, a act) bool { a.p.frozen = false; return true }},
	"fail":   {"PROCESS NTH ERROR", func(_ *world, a act) bool { a.p.failAt, a.p.failure = a.number(1), failures[a.arg(2)]; return true }},
	"power":  {"TENTHS OLDER EMPTIED", (*world).power},
	"cut":    {"LINES", func(w *world, a act) bool { w.outdate(); return w.cutJournal(a.number(0), false) }},
	"lose":   {"", func(w *world, _ act) bool { return w.cutJournal(0, true) }},
	"copy":   {"NAME", func(w *world, a act) bool { return w.copyRoom(a.arg(0)) }},
	"back":   {"NAME", func(w *world, a act) bool { return w.putBack(a.arg(0), false) }},
	"older":  {"NAME", func(w *world, a act) bool { return w.putBack(a.arg(0), true) }},
}

// apply makes an act happen. It returns false where it means nothing now: a model ends its turn, and its user a session,
// while no tool runs, and calls none while the hooks of that run.
func (w *world) apply(a act) bool {
	known := acts[a.verb]
	switch on, _, _ := strings.Cut(known.args, " "); on {
	case "WINDOW":
		a.x = w.window(a.arg(0))
		ends := a.verb == "idle" || a.verb == "fails" || a.verb == "clear" || a.verb == "quit"
		if a.x == nil || !a.x.alive || ends && w.calls(a.x) > 0 || a.x.stopping && a.verb != "die" {
			return false
		}
	case "PROCESS":
		if a.p = w.process(a.arg(0)); a.p == nil {
			return false
		}
	}
	done := known.do(w, a)
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
		a := newAct(words[0], words[1:]...)
		known, ok := acts[a.verb]
		needed, _, _ := strings.Cut(known.args, "[")
		switch {
		case !ok:
			return nil, fmt.Errorf("line %d: there is no act %q", n+1, a.verb)
		case len(a.args) < len(strings.Fields(needed)):
			return nil, fmt.Errorf("line %d: the act is: %s %s", n+1, a.verb, known.args)
		case a.verb == "fail" && failures[a.arg(2)] == nil:
			return nil, fmt.Errorf("line %d: there is no error %q", n+1, a.arg(2))
		}
		trace = append(trace, a)
	}
	return trace, nil
}

// suspend lets time pass while the whole machine stands still. If that was for longer than an idle holder keeps the turn, what
// runs may lose it.
func (w *world) suspend(a act) bool {
	for _, p := range w.procs {
		if (p.state == sleeping || p.state == waiting) && !p.until.IsZero() {
			p.until = p.until.Add(a.ms(0))
		}
	}
	time.Sleep(a.ms(0))
	synctest.Wait()
	if w.state == nil {
		return true
	}
	idle, _ := time.ParseDuration(w.policy["TALKING_STICK_IDLE_TTL"])
	if w.asleep[w.state.Turn] += a.ms(0); w.asleep[w.state.Turn] > cmp.Or(idle, 15*time.Minute) {
		w.slept = w.state.Turn
		w.overrun("")
	}
	return true
}
