//go:build linux

package torture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A trial is a load on several hosts, to which faults come.
type trial struct {
	*load
	dir     string
	net     network
	servers servers
	hosts   []*host // the first ones are on the machines of the servers
}

// A failure is something that happens to servers and their machines, for a time.
type failure struct {
	name  string
	of    int // which server: so many after the one that leads; -1: all
	do    func(*trial, servers) (heal func() error, err error)
	lasts time.Duration
}

func kill(_ *trial, all servers) (func() error, error) {
	all.kill()
	return all.start, nil
}

func stop(_ *trial, all servers) (func() error, error) {
	all.signal(syscall.SIGSTOP)
	return func() error { all.signal(syscall.SIGCONT); return nil }, nil
}

// cutOff cuts the machine of a server off while an agent on it has the turn.
func cutOff(t *trial, one servers) (func() error, error) {
	m := one[0].host.machine
	eventually(stall, func() bool { h := t.holder.Load(); return h != nil && h.machine == m })
	return func() error { return t.net.plug(m, "up") }, t.net.plug(m, "down")
}

// cutPower kills servers and puts the disks in place that a power cut would have left.
func cutPower(t *trial, cut servers) (heal func() error, err error) {
	cut.signal(syscall.SIGSTOP)
	for _, s := range cut {
		var failed error
		s.disk, failed = s.disk.cut(filepath.Join(t.dir, "after-"+s.name), s.kill)
		err = errors.Join(err, failed, anotherBoot(s.store()))
	}
	return cut.start, err
}

// anotherBoot makes a store that of another boot of its machine: after a power cut the same disk
// may have another number.
func anotherBoot(store string) error {
	path := filepath.Join(store, "store.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b = regexp.MustCompile(`"boot": *"[^"]*"`).ReplaceAllLiteral(b, []byte(`"boot":"before"`))
	return os.WriteFile(path, b, 0o600) // in place: its name stands for the file
}

// takeovers has short leases, and kills commands and guardians besides. An election takes 4 to 9 seconds.
func takeovers(e *env, r *report) {
	faults := []failure{
		{"the leader is killed", 0, kill, 8 * time.Second},
		{"the leader's machine is cut off, with the owner of the turn on it", 0, cutOff, 20 * time.Second},
		{"all servers are killed", -1, kill, time.Second},
		{"the leader is stopped", 0, stop, 12 * time.Second},
		{"another server is killed", 1, kill, 3 * time.Second},
		{"another server's machine is cut off", 1, cutOff, 10 * time.Second},
	}
	t := &trial{load: e.newLoad(r), dir: e.newDir()}
	t.lease = 2 * time.Second
	t.try(3, 5, 6, (*agent).takeTurn, 24, slices.Repeat(faults, 4)[:e.pick(3, 6, 24)]...)
}

// serverCuts cuts the power of one server, of three at once, and of the leader of three, while three hosts talk.
func serverCuts(e *env, r *report) {
	for n := range e.pick(1, 3, 20) {
		of, cut := []int{1, 3, 3}[n%3], failure{"a power cut", []int{-1, -1, 0}[n%3], cutPower, 0}
		t := &trial{load: e.newLoad(r), dir: e.newDir()}
		t.try(of, 3, 3, (*agent).say, 20+e.random().IntN(100), cut)
	}
}

// try lets agents do something on hosts, and inflicts the faults, one after the other, each after enough was acknowledged.
func (t *trial) try(of, hosts, agents int, do func(*agent), enough int, faults ...failure) {
	defer t.remove()
	err := t.setUp(of, hosts)
	if err == nil {
		t.live(agents, t.hosts, do)
	}
	for _, f := range faults {
		if err == nil {
			err = t.goesOn(enough)
		}
		if err == nil {
			t.report.count("faults", 1)
			err = t.inflict(f)
		}
	}
	if err == nil {
		err = t.goesOn(enough)
	}
	if t.end(syscall.SIGTERM, "wait"); err == nil {
		err = t.judge()
	}
	t.report.check("a trial", err)
}

// setUp starts the servers.
func (t *trial) setUp(of, hosts int) (err error) {
	if t.net, err = newNetwork(max(of, hosts)); err != nil {
		return err
	}
	err = t.newServers(t.net[1:1+of], t.lease == 0)
	for n := range hosts {
		err = errors.Join(err, t.addHost(t.net[1+n]))
	}
	if err != nil {
		return err
	}
	return t.servers.start()
}

// addHost adds a host on a machine.
func (t *trial) addHost(m *machine) error {
	dir, lease := filepath.Join(t.dir, fmt.Sprintf("host%d", len(t.hosts)+1)), cmp.Or(t.lease, time.Minute)
	h := t.on(filepath.Join(dir, "data"))
	h.machine, h.dir = m, filepath.Join(dir, "workspace")
	h.environ = append(h.environ, "HOME="+dir, "TALKING_STICK_ENGINE="+t.servers.url(), "TALKING_STICK_ROOM=torture/hosts",
		"TALKING_STICK_OWNER_LEASE_TTL="+lease.String(), "TALKING_STICK_HEARTBEAT_INTERVAL="+(lease/4).String(),
		"TALKING_STICK_CLAIM_TTL="+min(lease, 5*time.Second).String(), "TALKING_STICK_WAITER_GRACE=1s")
	t.hosts = append(t.hosts, h)
	return os.MkdirAll(h.dir, 0o700)
}

// remove ends the servers, and all other processes of the trial, and removes its files.
func (t *trial) remove() {
	t.end(syscall.SIGKILL, "")
	t.servers.kill()
	remove(t.dir)
	t.net.close()
}

// stall is how long it may take until turns are taken again after a fault: for an election,
// for a reservation to run out, for reconnecting, on a busy machine; and until what a turn has changed is recorded.
const stall = 3 * time.Minute

// goesOn waits until more was acknowledged.
func (t *trial) goesOn(more int) error {
	want := t.acked() + more
	if eventually(stall, func() bool { return t.acked() >= want }) {
		return nil
	}
	return fmt.Errorf("less than %d acknowledgements within %v; %v", more, stall, t.hosts[0].command("state", "--agent", fresh).run())
}

func (t *trial) inflict(f failure) error {
	began, failing := time.Now(), t.servers
	if f.of >= 0 {
		first, err := t.servers.leader()
		if err != nil {
			return err
		}
		failing = servers{t.servers[(first+f.of)%len(t.servers)]}
	}
	heal, err := f.do(t, failing)
	if err != nil {
		return err
	}
	time.Sleep(f.lasts)
	if err := heal(); err != nil {
		return err
	}
	err = t.goesOn(1)
	fmt.Printf("  %s: %s, %v: over after %v\n", t.report.name, f.name, f.lasts, time.Since(began).Round(100*time.Millisecond))
	return err
}

// judge compares what the hosts have in the end with each other, with what one has that was never
// there, and with what they said.
func (t *trial) judge() error {
	if err := t.addHost(t.net[1]); err != nil {
		return err
	}
	var err error
	if !eventually(stall, func() bool { err = t.compare(); return err == nil }) {
		return err
	}
	for _, was := range t.said {
		t.report.count(string(was), 1)
	}
	for _, h := range t.hosts {
		err = errors.Join(err, h.ok("doctor --agent "+fresh))
	}
	if !eventually(stall, func() bool { guardians, _ := processesOf(t.dir); return len(guardians) <= 1 }) { // that of the last turn
		err = errors.Join(err, errors.New("guardians have outlived their turns"))
	}
	return err
}

// compare brings the mirrors of all hosts up to date and compares them.
func (t *trial) compare() error {
	var first []byte
	for i, h := range t.hosts {
		p := h.command("events", "--agent", fresh).run()
		mirrors, _ := filepath.Glob(filepath.Join(h.data, "engines", "*"))
		if p.exit != 0 || strings.Contains(p.err.String(), "knew last") || len(mirrors) != 1 || len(journals(mirrors[0])) != 1 {
			return fmt.Errorf("host %d with the mirrors %q does not come up to date: %v", i+1, mirrors, p)
		}
		text, err := os.ReadFile(journals(mirrors[0])[0])
		if i == 0 && err == nil {
			first, err = text, checkSaid(t.said, events(mirrors[0]))
		}
		if err != nil || !bytes.Equal(first, text) {
			return fmt.Errorf("hosts 1 and %d have different journals of %d and %d bytes, or %w", i+1, len(first), len(text), err)
		}
	}
	return nil
}
