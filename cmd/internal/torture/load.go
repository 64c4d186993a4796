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
	report  *report
	bus     string        // agent-bus, for those that ask
	data    string        // the data directory, if it is one on this machine
	odds    int           // one in so many commands is killed, at times a guardian, and some are stopped; 0: none
	reach   time.Duration // from the begin of a command to its kill
	halts   bool          // the guardian of each turn of this host is stopped while the turn ends
	lease   time.Duration // after which a turn may be taken over; 0: as is usual
	allowed []string      // codes with which any command may fail
	detain  atomic.Pointer[detention]

	mu      sync.Mutex
	acks    acks
	running []*process
	killed  int
	paused  bool
	resumed *sync.Cond
	over    *latch // closed when no turn is to begin any more
	lanes   sync.WaitGroup
}

// newLoad has no lanes yet.
func (e *env) newLoad(r *report, data string) *load {
	l := &load{env: e, report: r, data: data, reach: 4 * time.Millisecond, over: newLatch(), acks: newAcks()}
	l.resumed = sync.NewCond(&l.mu)
	return l
}

// members are the commands that make the room that a load on one host works in, and agents its
// members.
var (
	members = []string{"join --agent a:1", "join --agent b:2", "join --agent c:3"}
	agents  = []string{"a:1", "b:2", "c:3"}
)

// each lets one agent of this machine live in each of some lanes.
func (l *load) each(lanes int, live func(*agent)) {
	h := l.on(l.data)
	for lane := range lanes {
		l.live(&agent{load: l, host: h, id: agents[lane%3], random: l.random()}, live)
	}
}

func (l *load) live(a *agent, live func(*agent)) { l.lanes.Go(func() { live(a) }) }

// begin starts a process, unless the load was frozen before and is over.
func (l *load) begin(p *process) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.paused && !l.over.closed() {
		l.resumed.Wait()
	}
	if l.paused {
		return false, nil
	}
	l.running = append(l.running, p)
	return true, p.launch()
}

// disturb kills some processes and stops a few for a moment.
func (l *load) disturb(p *process, random *rand.Rand) {
	if l.odds == 0 {
		return
	}
	reach, stops := l.reach, 10
	end := syscall.SIGKILL
	switch p.outcome.line[0] {
	case "lock": // it waits for others
		reach, stops = 150*time.Millisecond, 2
		end = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[random.IntN(2)]
	case "wait":
		reach *= time.Duration([]int{1, 10}[random.IntN(2)])
	case "cli":
		reach *= 2
	}
	p.outcome.disturbed = true
	switch {
	case random.IntN(l.odds) == 0:
		sleepUpTo(random, reach)
		p.signal(end)
	case random.IntN(stops) == 0:
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

// until waits until the load has come to something, or some time.
func (l *load) until(patience time.Duration, enough func(a *acks) bool) {
	eventually(patience, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return enough(&l.acks)
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
	frozen := l.acks
	frozen.said = maps.Clone(frozen.said)
	return frozen
}

// end kills what runs, guardians too, and waits for it.
func (l *load) end() {
	l.stop(func(p *process) { p.signal(syscall.SIGKILL) })
	reap(l.data)
}

// measure runs a process that does nothing again and again, beside what the load does, until the
// latch is closed: what it takes is the machine's.
func (l *load) measure(over *latch) {
	for h := l.on(l.data); !over.closed(); over.sleep(20 * time.Millisecond) {
		o := h.process(l.tt, "version").run()
		l.note(func(acks *acks) { acks.bare = append(acks.bare, span{o.began, o.ended}) })
	}
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
	l.resumed.Broadcast()
	l.mu.Unlock()
	l.lanes.Wait()
}
