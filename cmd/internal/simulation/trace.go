package simulation

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/simulation/machine"
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
	"freeze": {"PROCESS", func(_ *world, a act) bool { a.p.Frozen = true; return true }},
	"thaw":   {"PROCESS", func(_ *world, a act) bool { a.p.Frozen = false; return true }},
	"fail":   {"PROCESS NTH ERROR", func(_ *world, a act) bool { a.p.FailAt, a.p.Failure = a.number(1), failures[a.arg(2)]; return true }},
	"power":  {"TENTHS OLDER EMPTIED", (*world).power},
	"cut":    {"LINES", func(w *world, a act) bool { w.outdate(); return w.Cut(a.number(0), false) }},
	"lose":   {"", func(w *world, _ act) bool { return w.Cut(0, true) }},
	"copy":   {"NAME", (*world).copyRoom},
	"back":   {"NAME", (*world).putBack},
	"older":  {"NAME", (*world).putBack},
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
	w.Suspend(a.ms(0))
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

// power is the machine's loss of power.
func (w *world) power(a act) bool {
	for _, x := range w.windows {
		x.alive, x.inTurn = false, false
	}
	for _, p := range w.procs {
		w.Kill(p.ID.PID)
	}
	w.Bury()
	w.Power(a.number(0), a.arg(1) == "1", a.arg(2) == "1")
	w.Boot()
	w.folds()
	return true
}

func (w *world) copyDir(name string) string { return filepath.Join(w.base, "copy-"+name) }

// copyRoom copies the room, as cp -a does.
func (w *world) copyRoom(a act) bool {
	_ = os.RemoveAll(w.copyDir(a.arg(0)))
	return machine.CopyTree(w.Room, w.copyDir(a.arg(0)))
}

// putBack replaces the room by its copy, or with "older" the journal alone.
func (w *world) putBack(a act) bool {
	if a.verb == "older" {
		return w.PutBack(w.copyDir(a.arg(0)), "")
	}
	if !w.PutBack(w.copyDir(a.arg(0)), filepath.Join(w.base, "away-"+strconv.Itoa(w.steps))) {
		return false
	}
	w.forget()
	return true
}

// failures are the errors of calls to the disk, as traces call them.
var failures = map[string]error{"full": syscall.ENOSPC, "io": syscall.EIO, "readonly": syscall.EROFS, "denied": syscall.EACCES}
