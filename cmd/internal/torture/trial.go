//go:build linux

package torture

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
}

// A plan is what a load does, or a trial.
type plan struct {
	odds  int           // one in so many commands is killed, at times a guardian, and some are stopped; 0: none
	lease time.Duration // after which a turn may be taken over; 0: as is usual, in a trial a minute

	servers int
	hosts   int // the first ones are on the machines of the servers
	agents  int
	talk    bool // the agents talk, and take no turns
	enough  int  // so many turns, or messages, before each fault and at the end; 0: two turns of each of not many agents
	disks   bool // each server has a disk of its own
	faults  []failure
}

// newTrial returns a trial whose servers are ready. It has to be ended also if there is an
// error.
func (e *env) newTrial(r *report, p plan) (t *trial, err error) {
	p.lease = cmp.Or(p.lease, time.Minute)
	t = &trial{load: e.newLoad(r, "", p), dir: e.newDir()}
	if t.net, err = newNetwork(max(p.servers, p.hosts)); err != nil {
		return t, err
	}
	t.servers, err = newServers(e.natsd, t.dir, t.net.machines[:p.servers], p.disks)
	for n := range p.hosts {
		err = errors.Join(err, t.addHost(t.net.machines[n]))
	}
	if err != nil {
		return t, err
	}
	for n := range p.agents {
		t.agents = append(t.agents, &agent{load: t.load, host: t.hosts[n%p.hosts], id: fmt.Sprintf("agent%d:%d", n+1, n+1), random: e.random()})
	}
	return t, t.servers.start()
}

// addHost adds a host on a machine.
func (t *trial) addHost(m *machine) error {
	dir := filepath.Join(t.dir, fmt.Sprintf("host%d", len(t.hosts)+1))
	h := t.on(filepath.Join(dir, "data"))
	h.n, h.machine, h.workspace = len(t.hosts), m, filepath.Join(dir, "workspace")
	h.environ = append(h.environ, "HOME="+dir, "TALKING_STICK_ENGINE="+t.servers.url("torture"), "TALKING_STICK_ROOM=torture/hosts",
		"TALKING_STICK_OWNER_LEASE_TTL="+t.lease.String(), "TALKING_STICK_HEARTBEAT_INTERVAL="+(t.lease/4).String(),
		"TALKING_STICK_CLAIM_TTL="+min(t.lease, 5*time.Second).String(), "TALKING_STICK_WAITER_GRACE=1s")
	t.hosts = append(t.hosts, h)
	return os.MkdirAll(h.workspace, 0o700)
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
	if t.net != nil {
		t.net.close()
	}
	_ = os.RemoveAll(t.dir)
}

// try lets the agents take turns, or talk, and inflicts the faults, one after the other.
func (p plan) try(e *env, r *report) {
	t, err := e.newTrial(r, p)
	defer t.end()
	if !r.check("setting up", err) {
		return
	}
	do := (*agent).takeTurn
	if p.talk {
		do = (*agent).say
	}
	for _, a := range t.agents {
		a.live(joining(do))
	}
	for _, f := range p.faults {
		if !t.calm() {
			break
		}
		t.inflict(f)
	}
	t.calm()
	t.finish()
	t.judge()
}

// stall is how long it may take until turns are taken again after a fault: for an election,
// for a reservation to run out, for reconnecting, on a busy machine.
const stall = 3 * time.Minute

// mostTurns is how many turns are waited for, at most.
const mostTurns = 40

// calm waits until there was enough without a fault. It reports false if that took too long.
func (t *trial) calm() bool {
	more := cmp.Or(t.enough, min(2*len(t.agents), mostTurns))
	want := t.progress() + more
	if eventually(stall, func() bool { return t.progress() >= want }) {
		return true
	}
	return t.report.check("without a fault", fmt.Errorf("no %d turns or messages within %v; %v", more, stall, t.hosts[0].run("state", "--agent", "z:9")))
}

func (t *trial) inflict(f failure) {
	t.report.count("faults", 1)
	began := time.Now()
	before := t.progress()
	failing := t.servers
	if f.of != everyone {
		first, err := t.servers.leader()
		if !t.report.check(f.name, err) {
			return
		}
		failing = servers{t.servers[(first.n+f.of)%len(t.servers)]}
	}
	heal, err := f.do(t, failing)
	if !t.report.check(f.name, err) {
		return
	}
	time.Sleep(f.lasts)
	during := t.progress() - before
	if !t.report.check("after "+f.name, heal()) {
		return
	}
	before = t.progress()
	eventually(stall, func() bool { return t.progress() > before })
	fmt.Printf("  %s: %s, %v: %d turns or messages meanwhile, the next one %v after it began\n", t.report.name, f.name,
		f.lasts, during, time.Since(began).Round(100*time.Millisecond))
}

// progress is how many turns were granted, or messages acknowledged.
func (t *trial) progress() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.talk {
		return t.acks.written()
	}
	return len(t.acks.grants)
}
