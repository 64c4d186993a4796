//go:build linux

package torture

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A load is agents at work in one room, each on a host, one command after another. It remembers
// what the commands said.
type load struct {
	*env
	plan
	report *report
	data   string // the data directory, if it is one on this machine
	detain atomic.Pointer[detention]

	mu      sync.Mutex
	acks    acks
	running []*process
	killed  int
	frozen  bool
	over    *latch // closed when no turn is to begin any more
	lanes   sync.WaitGroup
}

// newLoad has no lanes yet.
func (e *env) newLoad(r *report, data string, p plan) *load {
	return &load{env: e, plan: p, report: r, data: data, over: newLatch(), acks: acks{said: map[string]answer{}}}
}

// members are the commands that make the room that a load on one host works in, and agents its
// members.
var (
	members = []string{"join --agent a:1", "join --agent b:2", "join --agent c:3"}
	agents  = []string{"a:1", "b:2", "c:3"}
)

// each lets agents of this machine do something in some lanes.
func (l *load) each(lanes int, do func(*agent)) {
	for lane := range lanes {
		(&agent{load: l, host: l.on(l.data), id: agents[lane%3], random: l.random()}).live(do)
	}
}

// begin starts a process, unless the load is frozen.
func (l *load) begin(p *process) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.frozen || !l.report.check("starting", p.launch()) {
		return false
	}
	l.running = append(l.running, p)
	return true
}

// disturb kills some processes and stops a few for a moment.
func (l *load) disturb(p *process, random *rand.Rand) {
	if l.odds == 0 {
		return
	}
	reach := 60 * time.Millisecond // from the begin of a command to its kill
	if p.outcome.line[0] == "wait" {
		reach *= time.Duration([]int{1, 10}[random.IntN(2)])
	}
	p.outcome.disturbed = true
	switch {
	case random.IntN(l.odds) == 0:
		sleepUpTo(random, reach)
		p.signal(syscall.SIGKILL)
	case random.IntN(10) == 0:
		sleepUpTo(random, reach)
		p.signal(syscall.SIGSTOP)
		sleepUpTo(random, 30*time.Millisecond)
		p.signal(syscall.SIGCONT)
	default:
		p.outcome.disturbed = false
	}
}

func (l *load) note(add func(*acks)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	add(&l.acks)
}

// acked returns how much was acknowledged.
func (l *load) acked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acks.count()
}

// freeze stops every process in the middle of its work, and no other begins. It returns what was
// acknowledged by then.
func (l *load) freeze() acks {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = true
	l.over.close()
	for _, p := range l.running {
		p.signal(syscall.SIGSTOP)
	}
	frozen := l.acks
	frozen.said = maps.Clone(frozen.said)
	return frozen
}

// end kills what runs, guardians too, and waits for it.
func (l *load) end() {
	l.stop(func(p *process) { p.signal(syscall.SIGKILL) })
	reap(l.data)
}

// finish lets the commands that run come to their end, and interrupts waits.
func (l *load) finish() {
	l.stop(func(p *process) {
		if slices.Contains(p.Args, "wait") {
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
	l.mu.Unlock()
	l.lanes.Wait()
}
