//go:build linux

package torture

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A load is several processes at work in one room, one after another in each of
// its lanes. It remembers what the processes acknowledged.
type load struct {
	*env
	bus     string // agent-bus, for the lanes that need it
	data    string
	killing bool // some commands are killed on the way, some stopped for a while

	mu      sync.Mutex
	acks    acks
	running []*process
	kills   int
	failed  string // the first command that failed by itself
	paused  bool
	resumed *sync.Cond
	over    *latch // closed when no command is to start any more
	lanes   sync.WaitGroup
}

// newLoad has no lanes yet.
func (e *env) newLoad(data string, killing bool) *load {
	l := &load{env: e, data: data, killing: killing, over: newLatch()}
	l.resumed = sync.NewCond(&l.mu)
	return l
}

// members are the commands that make the room that a load works in, and agents its
// members.
var (
	members = []string{"join --agent a:1", "join --agent b:2", "join --agent c:3"}
	agents  = []string{"a:1", "b:2", "c:3"}
)

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

// do runs one command of tt, or of the agent bus. A load that kills may kill it or
// stop it for a moment, within its first reach. It reports false when the load is
// over.
func (l *load) do(random *rand.Rand, reach time.Duration, args ...string) (o *outcome, ok bool) {
	line := l.line(nil, args...)
	if args[0] == "cli" {
		line[0] = l.bus
	}
	p := l.command(l.data, line...)
	err := l.start(p)
	if errors.Is(err, errOver) {
		return nil, false
	}
	if err != nil {
		return &outcome{line: args, exit: 1, stderr: err.Error()}, true
	}
	disturbed := l.killing && disturb(p, random, reach)
	o = p.result()
	o.disturbed = disturbed
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = slices.DeleteFunc(l.running, func(q *process) bool { return p == q })
	if o.disturbed && o.exit == -1 {
		l.kills++
	}
	return o, true
}

var errOver = errors.New("the load is over")

func (l *load) start(p *process) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.paused && !l.over.closed() {
		l.resumed.Wait()
	}
	if l.over.closed() {
		return errOver
	}
	if err := p.launch(nil); err != nil {
		return err
	}
	l.running = append(l.running, p)
	return nil
}

// disturb kills every second process and stops every twentieth for a moment.
func disturb(p *process, random *rand.Rand, reach time.Duration) bool {
	dice := random.IntN(20)
	if dice > 10 {
		return false
	}
	sleepUpTo(random, reach)
	if dice < 10 {
		_ = p.Process.Kill()
		return true
	}
	p.signal(syscall.SIGSTOP)
	sleepUpTo(random, 30*time.Millisecond)
	p.signal(syscall.SIGCONT)
	return true
}

// done reports whether a command succeeded. One that failed by itself, and not
// with one of the codes, is remembered as wrong.
func (l *load) done(o *outcome, codes ...string) bool {
	refused := slices.Contains(codes, o.code)
	if killed := o.disturbed && o.exit == -1; o.exit != 0 && !refused && !killed && !l.over.closed() {
		l.fail("%v", o)
	}
	return o.exit == 0
}

// fail remembers the first thing that was wrong.
func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == "" {
		l.failed = fmt.Sprintf(format, args...)
	}
}

func (l *load) note(add func(*acks)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	add(&l.acks)
}

// until waits until the load has come to something, or some time.
func (l *load) until(patience time.Duration, enough func(a *acks, kills int) bool) {
	eventually(patience, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return enough(&l.acks, l.kills)
	})
}

// freeze stops every process in the middle of its work. It returns what was
// acknowledged by then.
func (l *load) freeze() acks {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = true
	for _, p := range l.running {
		p.signal(syscall.SIGSTOP)
	}
	return l.acks
}

// end kills what runs, guardians too, and waits for it.
func (l *load) end() {
	l.stop(func(p *process) { _ = p.Process.Kill() })
	reap(l.data)
}

// finish lets the commands that run come to their end, and interrupts waits.
func (l *load) finish() {
	l.stop(func(p *process) {
		if p.Args[1] == "wait" {
			p.signal(syscall.SIGTERM)
		}
	})
}

func (l *load) stop(each func(*process)) {
	l.mu.Lock()
	l.over.close()
	for _, p := range l.running {
		each(p)
	}
	l.resumed.Broadcast()
	l.mu.Unlock()
	l.lanes.Wait()
}
