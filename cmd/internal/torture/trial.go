//go:build linux

package torture

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// A trial is a load on several hosts, to which faults come.
type trial struct {
	*load
	dir     string
	net     *network
	servers servers
	hosts   []*host
	agents  []*agent
	links   []*link
	prompt  bool
}

// A plan is what a trial does.
type plan struct {
	servers int
	hosts   int // the first ones are on the machines of the servers
	agents  int
	lease   time.Duration
	odds    int           // see load
	disks   bool          // each server has a disk of its own
	twins   int           // so many more agents, with ids of others, on other hosts
	far     time.Duration // there and back, for every other host; one server
	allowed []string      // codes with which any command may fail
	prompt  bool          // handovers are to be prompt
	older   string        // the program of every other host; "": the same as of the others
	faults  []failure
}

// newTrial returns a trial whose servers are ready. It has to be ended also if there is an
// error.
func (e *env) newTrial(r *report, p plan) (*trial, error) {
	t := &trial{load: e.newLoad(r, ""), dir: e.newDir(), prompt: p.prompt}
	t.lease, t.odds, t.reach, t.allowed = p.lease, p.odds, 60*time.Millisecond, p.allowed
	var err error
	if t.net, err = newNetwork(max(p.servers, p.hosts)); err != nil {
		return t, err
	}
	if t.servers, err = newServers(e.natsd, t.dir, t.net.machines[:p.servers]); err != nil {
		return t, err
	}
	for _, s := range t.servers {
		if !p.disks {
			continue
		}
		s.disk = disk{fileSystem: ext4Large}.at(filepath.Join(t.dir, s.name()+"-disk"))
		if err := errors.Join(s.disk.format(), s.disk.mount()); err != nil {
			return t, err
		}
		s.store = filepath.Join(s.disk.dir, "store")
	}
	environ := []string{
		"TALKING_STICK_OWNER_LEASE_TTL=" + p.lease.String(), "TALKING_STICK_HEARTBEAT_INTERVAL=" + (p.lease / 4).String(),
		"TALKING_STICK_CLAIM_TTL=" + min(p.lease, 5*time.Second).String(), "TALKING_STICK_WAITER_GRACE=1s",
	}
	for n := range p.hosts {
		dir := filepath.Join(t.dir, fmt.Sprintf("host%d", n+1))
		url := t.servers.url("torture")
		if p.far > 0 && n%2 == 1 {
			l, err := newLink(t.net.machines[n], t.servers[0].machine.ip+":"+port, p.far, 20)
			if err != nil {
				return t, err
			}
			t.links, url = append(t.links, l), "nats://"+l.listener.Addr().String()+"/torture"
		}
		tt := e.tt
		if p.older != "" && n%2 == 1 {
			tt = p.older
		}
		h, err := newHost(n, tt, dir, url, t.net.machines[n], environ...)
		if err != nil {
			return t, err
		}
		t.hosts = append(t.hosts, h)
	}
	for n := range p.agents + p.twins {
		id, on := n%p.agents+1, n+n/p.agents // a twin is on the next host
		t.agents = append(t.agents, &agent{load: t.load, host: t.hosts[on%p.hosts], id: fmt.Sprintf("agent%d:%d", id, id), random: e.random()})
	}
	return t, t.servers.start()
}

// end ends the servers, and all other processes of the trial, and removes its files.
func (t *trial) end() {
	t.over.close()
	t.servers.kill()
	reap(t.dir)
	for _, s := range t.servers {
		if s.disk.image != "" {
			_ = s.disk.unmount()
		}
	}
	for _, l := range t.links {
		l.close()
	}
	if t.net != nil {
		t.net.close()
	}
	remove(t.dir)
}

// try lets the agents take turns, and inflicts the faults, one after the other.
func (e *env) try(r *report, p plan) {
	t, err := e.newTrial(r, p)
	defer t.end()
	if !r.able("setting up", err) {
		return
	}
	t.each((*agent).takeTurns)
	over, measuring := newLatch(), sync.WaitGroup{}
	if t.prompt {
		measuring.Go(func() { t.measure(over) })
	}
	for _, f := range p.faults {
		if !t.calm() || r.caught() {
			break
		}
		t.inflict(f)
	}
	t.calm()
	t.finish()
	over.close()
	measuring.Wait()
	if !r.caught() {
		t.judge()
	}
}

// each lets each agent join and live.
func (t *trial) each(live func(*agent)) {
	for _, a := range t.agents {
		t.live(a, joining(live))
	}
}

// stall is how long it may take until turns are taken again after a fault: for an election,
// for a reservation to run out, for reconnecting, on a busy machine.
const stall = 3 * time.Minute

// mostTurns is how many turns are waited for, at most.
const mostTurns = 40

// calm waits until each of not many agents could have had two turns. It reports false if that took too
// long.
func (t *trial) calm() bool {
	more := min(2*len(t.agents), mostTurns)
	want := t.turns() + more
	ok := eventually(stall, func() bool { return t.turns() >= want || t.report.caught() })
	if !ok {
		t.report.wrong("no %d turns within %v without a fault; %s", more, stall, t.situation())
	}
	return ok
}

// situation is what the hosts say of the room.
func (t *trial) situation() string {
	text := ""
	for _, h := range t.hosts {
		text += fmt.Sprintf("\n    host %d: %v", h.n+1, h.run("state", "--agent", "z:9"))
	}
	return text
}

// A failure is something that happens to servers and machines, for a time.
type failure struct {
	name    string
	inflict func(*trial) (heal func() error, err error)
	lasts   time.Duration
}

func (t *trial) inflict(f failure) {
	t.report.count("faults", 1)
	began := time.Now()
	turns := t.turns()
	heal, err := f.inflict(t)
	if !t.report.check(f.name, err) {
		return
	}
	eventually(f.lasts, t.report.caught)
	during := t.turns() - turns
	if !t.report.check("after "+f.name, heal()) {
		return
	}
	turns = t.turns()
	eventually(stall, func() bool { return t.turns() > turns })
	t.report.say("%s, %v: %d turns meanwhile, the next one %v after it began", f.name, f.lasts, during, time.Since(began).Round(100*time.Millisecond))
}

func (t *trial) turns() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.acks.grants)
}
