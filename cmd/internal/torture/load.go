//go:build linux

package torture

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A load is agents at work in one room, each on a host, one command after another. It remembers
// what the commands said.
type load struct {
	*env
	report *report
	lease  time.Duration // commands and guardians are killed, and a turn may be taken over after it; 0: they are not

	mu      sync.Mutex
	said    map[string]answer
	running map[*process]bool
	frozen  bool
	over    context.Context // done when no turn is to begin any more
	close   func()
	lanes   sync.WaitGroup
	holder  atomic.Pointer[host] // of an agent that works in its turn
}

func (e *env) newLoad(r *report) *load {
	l := &load{env: e, report: r, said: map[string]answer{}, running: map[*process]bool{}}
	l.over, l.close = context.WithCancel(context.Background())
	return l
}

// An agent works in the room of its load.
type agent struct {
	*load
	host   *host
	id     string
	random *rand.Rand
}

// live lets agents, the nth of them on the nth host, join the room, which need not be there yet, and do something again and again.
func (l *load) live(agents int, hosts []*host, do func(*agent)) {
	for n := range agents {
		a := &agent{load: l, host: hosts[n%len(hosts)], id: fmt.Sprintf("%c:%d", 'a'+n, n+1), random: l.random()}
		l.lanes.Go(func() {
			for has := false; l.over.Err() == nil; {
				if has {
					do(a)
				} else {
					has = a.tells(joined(a.id), a.do(nil, "join")) == acknowledged
				}
			}
		})
	}
}

// lost are the codes of commands whose turn is no longer theirs, or not yet.
var lost = []string{"turn_mismatch", "stale_lease", "no_active_lease", "takeover_not_available", "takeover_ineligible"}

// do runs a command of the agent, unless the load is frozen. A command that fails by itself, and not with one of the codes,
// is wrong. Where there is an engine, it may be away, and a guardian that cannot reach it is none.
func (a *agent) do(codes []string, args ...string) *process {
	p := a.host.command(append(args, "--agent", a.id)...)
	a.mu.Lock()
	if a.frozen || !a.report.check("starting", p.launch()) {
		a.mu.Unlock()
		return p
	}
	a.running[p] = true
	a.mu.Unlock()
	killed := a.disturb(p, args[0] == "wait")
	p.result()
	code, remote := p.code(), p.machine != nil
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, p)
	switch over := a.over.Err() != nil; {
	case p.exit == -1 && killed:
		a.report.count("kills", 1)
	case over && (p.exit == -1 || args[0] == "wait"): // it was ended
	case slices.Contains(codes, code), remote && slices.Contains([]string{"engine_unreachable", "in_doubt", "guardian_failed"}, code): // it says so
	case code == "" && (p.exit == 0 || p.exit == 3 && remote): // 3: a wait in vain
	default:
		a.report.check(a.id, errors.New(p.String()))
	}
	return p
}

// disturb kills some processes and stops a few for a moment, and reports whether it killed this one.
func (a *agent) disturb(p *process, waits bool) (killed bool) {
	dice, reach := a.random.IntN(20), int64(60*time.Millisecond) // from the begin of a command to its kill
	if a.lease == 0 || dice > 2 {
		return false
	}
	if waits && a.random.IntN(2) == 0 {
		reach *= 10
	}
	time.Sleep(time.Duration(a.random.Int64N(reach)))
	if dice > 0 {
		p.signal(syscall.SIGKILL)
		return true
	}
	p.signal(syscall.SIGSTOP)
	time.Sleep(time.Duration(a.random.Int64N(reach / 2)))
	p.signal(syscall.SIGCONT)
	return false
}

// tells notes and returns what a command said of a fact.
func (a *agent) tells(fact string, p *process) answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said[fact] = p.answer()
	return a.said[fact]
}

// takeTurn waits for the turn, works, and hands it over. Now and then the guardian is killed, and the agent works beyond its lease.
func (a *agent) takeTurn() {
	status := a.granted(a.do(nil, "wait", "--timeout", "5s"))
	if status == turn.TakeoverAvailable {
		status = a.granted(a.do(lost, "take", "--reason", "its time is over"))
	}
	works := a.random.Int64N(int64(30 * time.Millisecond))
	if status == turn.YourTurn {
		a.holder.Store(a.host)
		if a.lease > 0 && a.random.IntN(12) == 0 {
			guardians, _ := processesOf(a.host.data)
			for _, pid := range guardians {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			works = int64(a.lease + a.lease/2)
		}
	}
	select {
	case <-time.After(time.Duration(works)):
	case <-a.over.Done():
	}
	if a.holder.CompareAndSwap(a.host, nil); status == turn.YourTurn {
		a.write("worked", "release", "--next-action", "go on", "--status")
	}
	if a.random.IntN(6) == 0 {
		a.say()
	}
}

// granted notes what a wait or a take granted, perhaps nothing, and returns its status.
func (a *agent) granted(p *process) string {
	var g struct {
		Status string
		Turn   int64  `json:"turn_id"`
		Lease  string `json:"lease_id"`
	}
	if p.exit == 0 && a.report.check(p.String(), json.Unmarshal(p.out.Bytes(), &g)) && g.Status == turn.YourTurn {
		a.tells(granted(a.id, g.Turn, g.Lease), p)
	}
	return g.Status
}

// say sends a message to everybody.
func (a *agent) say() { a.write("says something", "msg", "send", "room") }

// write runs a command with a text that nobody else writes.
func (a *agent) write(text string, command ...string) {
	text = fmt.Sprintf("%s %d", text, a.random.Uint64())
	a.tells(wrote(a.id, text), a.do(lost, append(command, text)...))
}

// acked returns how much was acknowledged.
func (l *load) acked() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, was := range l.said {
		n += map[answer]int{acknowledged: 1}[was]
	}
	return n
}

// freeze stops every process in the middle of its work, and no other begins. It returns what was
// said by then.
func (l *load) freeze() map[string]answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = true
	l.signal(syscall.SIGSTOP, "")
	return maps.Clone(l.said)
}

// end signals the running commands that have a word, and waits for all.
func (l *load) end(sig syscall.Signal, word string) {
	l.mu.Lock()
	l.signal(sig, word)
	l.mu.Unlock()
	l.lanes.Wait()
}

func (l *load) signal(sig syscall.Signal, word string) {
	l.close()
	for p := range l.running {
		if slices.Contains(p.Args, cmp.Or(word, p.Args[0])) {
			p.signal(sig)
		}
	}
}
