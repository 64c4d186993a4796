//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A load is several processes at work in one room, one after another in each of
// its lanes. What it was told to be done it remembers.
type load struct {
	*rig
	tt      string
	data    string
	killing bool // some commands are killed on the way, some stopped for a while

	mu      sync.Mutex
	acks    acks
	running map[*exec.Cmd]bool
	kills   int
	failed  string // the first command that failed by itself
	paused  bool
	resumed *sync.Cond
	stopped bool
	over    chan struct{} // closed with stopped
	lanes   sync.WaitGroup
}

// acks is what a load was told.
type acks struct {
	joined []string
	said   []string
	asked  []string
	grants []grant // the turns that were told to be somebody's
	ends   []grant // the turns that were told to be handed over
	waits  []wait  // those that nobody disturbed
}

// count is how many acknowledgements there are.
func (a acks) count() int {
	return len(a.joined) + len(a.said) + len(a.asked) + len(a.grants) + len(a.ends)
}

// newLoad has no lanes yet.
func (g *rig) newLoad(tt, data string, killing bool) *load {
	l := &load{rig: g, tt: tt, data: data, killing: killing, running: map[*exec.Cmd]bool{}, over: make(chan struct{})}
	l.resumed = sync.NewCond(&l.mu)
	return l
}

// agents are the members of every room that a load works in.
var agents = []string{"a:1", "b:2", "c:3"}

func (l *load) talkers(lanes int) {
	for lane := range lanes {
		random := l.random()
		l.lanes.Go(func() { l.talk(lane, random) })
	}
}

func (l *load) talk(lane int, random *rand.Rand) {
	for n := 0; ; n++ {
		body := fmt.Sprintf("%d/%d/%d", lane, n, random.Uint64())
		o, ok := l.do(random, 4*time.Millisecond, "msg", "send", "room", body, "--agent", agents[lane%3])
		if !ok {
			return
		}
		if l.done(o) {
			l.note(func(a *acks) { a.said = append(a.said, body) })
		}
	}
}

// joiners lets each agent join the room, which need not be there yet, and then talk.
func (l *load) joiners() {
	for lane, agent := range agents {
		random := l.random()
		l.lanes.Go(func() {
			o, ok := l.do(random, 4*time.Millisecond, "join", "--agent", agent)
			if ok && l.done(o) {
				l.note(func(a *acks) { a.joined = append(a.joined, agent) })
				l.talk(lane, random)
			}
		})
	}
}

// An outcome is how a command of a load ended.
type outcome struct {
	result
	args      []string
	began     time.Time
	ended     time.Time
	disturbed bool // it was stopped or killed, or meant to be
}

// do runs one command. While killing it may be killed or stopped for a moment
// within its first reach. It reports false when the load is over.
func (l *load) do(random *rand.Rand, reach time.Duration, args ...string) (o outcome, ok bool) {
	args = append(args, "--json")
	tt := l.tt
	if args[0] == "cli" {
		tt = l.bus
	}
	cmd := exec.Command(tt, args...)
	cmd.Env, cmd.Dir = l.env(l.data), l.workspace
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	o = outcome{args: args, began: time.Now()}
	err := l.start(cmd)
	if errors.Is(err, errOver) {
		return o, false
	}
	if err == nil {
		o.disturbed = l.killing && disturb(cmd, random, reach)
		err = cmd.Wait()
	}
	o.ended = time.Now()
	o.result = ended(err, stdout.String(), stderr.String())
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, cmd)
	if o.disturbed && o.exit == -1 {
		l.kills++
	}
	return o, true
}

var errOver = errors.New("the load is over")

func (l *load) start(cmd *exec.Cmd) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.paused && !l.stopped {
		l.resumed.Wait()
	}
	if l.stopped {
		return errOver
	}
	l.running[cmd] = true
	return cmd.Start()
}

// disturb kills every second process and stops every twentieth for a moment.
func disturb(cmd *exec.Cmd, random *rand.Rand, reach time.Duration) bool {
	dice := random.IntN(20)
	if dice > 10 {
		return false
	}
	sometime(random, reach)
	if dice < 10 {
		_ = cmd.Process.Kill()
		return true
	}
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	sometime(random, 30*time.Millisecond)
	_ = cmd.Process.Signal(syscall.SIGCONT)
	return true
}

// done reports whether a command ended well. One that failed by itself, and not
// with one of the codes, is remembered as wrong.
func (l *load) done(o outcome, codes ...string) bool {
	if o.exit == 0 {
		return true
	}
	for _, c := range codes {
		if strings.Contains(o.stderr, `"`+c+`"`) {
			return false
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if killed := o.disturbed && o.exit == -1; !killed && !l.stopped {
		l.fail("%s: %v", strings.Join(o.args, " "), o.result)
	}
	return false
}

// fail remembers the first thing that was wrong. The caller has the lock.
func (l *load) fail(format string, args ...any) {
	if l.failed == "" {
		l.failed = fmt.Sprintf(format, args...)
	}
}

func (l *load) note(add func(*acks)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	add(&l.acks)
}

// acknowledgements are those so far. They are only ever added to, so that they
// need no copying.
func (l *load) acknowledgements() acks {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acks
}

// freeze stops every process in the middle of what it does. What was acknowledged
// by then is returned.
func (l *load) freeze() acks {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = true
	for cmd := range l.running {
		if cmd.Process != nil {
			_ = cmd.Process.Signal(syscall.SIGSTOP)
		}
	}
	return l.acks
}

// end kills what runs, guardians too, and waits for it.
func (l *load) end() {
	l.stop(func(cmd *exec.Cmd) { _ = cmd.Process.Kill() })
	l.reap(l.data)
}

// finish lets what runs come to its end, and interrupts who waits.
func (l *load) finish() {
	l.stop(func(cmd *exec.Cmd) {
		if cmd.Args[1] == "wait" {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	})
}

func (l *load) stop(each func(*exec.Cmd)) {
	l.mu.Lock()
	l.stopped = true
	close(l.over)
	for cmd := range l.running {
		if cmd.Process != nil {
			each(cmd)
		}
	}
	l.resumed.Broadcast()
	l.mu.Unlock()
	l.lanes.Wait()
}

// members makes a room with three members.
func (g *rig) members(tt, data string) error {
	for _, id := range agents {
		cmd := exec.Command(tt, "join", "--agent", id, "--json")
		cmd.Env, cmd.Dir = g.env(data), g.workspace
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("join: %v: %s", err, out)
		}
	}
	return nil
}

// judgeAll checks a data directory that a load has left, and what the load was told.
func (r *report) judgeAll(g *rig, data string, a acks) bool {
	events, err := g.events(data)
	if err == nil {
		err = a.in(events)
	}
	if err == nil {
		err = g.mended(data)
	}
	if err != nil {
		r.wrong("%v", err)
	}
	return err == nil
}

// in reports an error unless the events have all that was acknowledged, once,
// and keep the rules of the turn.
func (a acks) in(events []event.Event) error {
	for _, check := range []func([]event.Event) error{a.checkJoins, a.checkTurns} {
		if err := check(events); err != nil {
			return err
		}
	}
	return counted(bodies(events), a.said)
}
