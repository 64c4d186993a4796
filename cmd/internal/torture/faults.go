//go:build linux

package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// ofLeader is a fault of the server that leads, ofFollower of one that does not.
func ofLeader(do serverFault) func(*trial) (func() error, error)   { return nextTo(0, do) }
func ofFollower(do serverFault) func(*trial) (func() error, error) { return nextTo(1, do) }

type serverFault func(*trial, *server) (heal func() error, err error)

func nextTo(n int, do serverFault) func(*trial) (func() error, error) {
	return func(t *trial) (func() error, error) {
		s, err := t.servers.leader()
		if err != nil {
			return nil, err
		}
		return do(t, t.servers[(s.n+n)%len(t.servers)])
	}
}

func killServer(_ *trial, s *server) (func() error, error) { return killed(servers{s}) }
func killAll(t *trial) (func() error, error)               { return killed(t.servers) }

func killed(all servers) (func() error, error) {
	all.kill()
	return func() error { return all.start() }, nil
}

func stopServer(_ *trial, s *server) (func() error, error) {
	s.signal(syscall.SIGSTOP)
	return func() error { s.signal(syscall.SIGCONT); return nil }, nil
}

// cutOff cuts a server's machine off, with the host on it.
func cutOff(t *trial, s *server) (func() error, error) {
	return func() error { return t.net.plug(s.machine, "up") }, t.net.plug(s.machine, "down")
}

// A detention keeps agents of a host from handing over their turn.
type detention struct {
	host *host
	held *latch // there is one
	let  *latch // it may go on
}

// cutOffHolder cuts a server's machine off while an agent there has the turn.
func cutOffHolder(t *trial, s *server) (func() error, error) {
	d := &detention{t.hosts[s.n], newLatch(), newLatch()}
	t.detain.Store(d)
	defer d.let.close()
	defer t.detain.Store(nil)
	if !eventually(stall, d.held.closed) {
		return nil, fmt.Errorf("host %d has no turn", s.n+1)
	}
	return cutOff(t, s)
}

// powerOf cuts the power of a server, powerOfAll that of all at once.
func powerOf(t *trial, s *server) (func() error, error) { return t.cutPower(servers{s}) }
func powerOfAll(t *trial) (func() error, error)         { return t.cutPower(t.servers) }

// cutPower kills servers and puts the disks in place that a power cut would have left.
func (t *trial) cutPower(cut servers) (heal func() error, err error) {
	for _, s := range cut {
		s.signal(syscall.SIGSTOP)
	}
	for _, s := range cut {
		var failed error
		s.disk, failed = s.disk.cut(filepath.Join(t.dir, filepath.Base(t.newDir())), s.kill)
		err = errors.Join(err, failed, anotherBoot(s.disk.data()))
	}
	return func() error { return cut.start() }, err
}

// anotherBoot makes a store that of another boot of its machine: after a power cut the same disk
// may have another number.
func anotherBoot(store string) error {
	path := filepath.Join(store, "store.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var record map[string]any
	if err := json.Unmarshal(b, &record); err != nil {
		return err
	}
	record["boot"] = "before"
	if b, err = json.Marshal(record); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600) // in place: its name stands for the file
}

// clusterFaults are those of three servers. An election takes 4 to 9 seconds.
func clusterFaults() []failure {
	return []failure{
		{"the leader is killed", ofLeader(killServer), 8 * time.Second},
		{"the leader's machine is cut off", ofLeader(cutOff), 15 * time.Second},
		{"all servers are killed", killAll, time.Second},
		{"the leader is stopped", ofLeader(stopServer), 12 * time.Second},
		{"another server is killed", ofFollower(killServer), 3 * time.Second},
		{"another server's machine is cut off", ofFollower(cutOff), 10 * time.Second},
	}
}

var heldUp = failure{"the leader's machine is cut off, with the owner of the turn on it", ofLeader(cutOffHolder), 20 * time.Second}

// takeovers has short leases, and kills commands and guardians besides.
func takeovers(e *env, r *report) {
	faults := clusterFaults()
	if e.size == short {
		faults = faults[:3]
	}
	faults[1] = heldUp
	if e.size == long {
		faults = slices.Repeat(faults, 4)
	}
	plan{servers: 3, hosts: 5, agents: 6, lease: 2 * time.Second, odds: 12, faults: faults}.try(e, r)
}

// serverCuts cuts the power of one server, of three at once, and of the leader of three.
func serverCuts(e *env, r *report) {
	for n := range e.pick(1, 3, 20) {
		e.serverCut(r, []int{1, 3, 3}[n%3], n%3 == 2)
	}
}

// serverCut cuts the power of servers, or of their leader alone, while three hosts talk.
func (e *env) serverCut(r *report, n int, leader bool) {
	cut := failure{"a power cut", powerOfAll, 0}
	if leader {
		cut = failure{"a power cut of the leader", ofLeader(powerOf), 0}
	}
	plan{servers: n, hosts: 3, agents: 3, disks: true, talk: true, enough: 20 + e.random().IntN(100), faults: []failure{cut}}.try(e, r)
}
