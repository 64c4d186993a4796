//go:build linux

package torture

import (
	"errors"
	"fmt"
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

func killServer(_ *trial, s *server) (func() error, error) {
	s.kill()
	return s.start, nil
}

func stopServer(_ *trial, s *server) (func() error, error) {
	s.signal(syscall.SIGSTOP)
	return func() error { s.signal(syscall.SIGCONT); return nil }, nil
}

// cutOff cuts a server's machine off, with the host on it.
func cutOff(t *trial, s *server) (func() error, error) {
	return func() error { return t.net.join(s.machine) }, t.net.cut(s.machine)
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

// deaf loses everything that others send to a server's machine, mute everything that it
// sends.
func deaf(t *trial, s *server) (func() error, error) { return oneWay(t, s, true) }
func mute(t *trial, s *server) (func() error, error) { return oneWay(t, s, false) }

func oneWay(t *trial, s *server, to bool) (func() error, error) {
	return func() error { return t.net.find(s.machine, to) }, t.net.lose(s.machine, to)
}

func killAll(t *trial) (func() error, error) {
	for _, s := range t.servers {
		s.kill()
	}
	return func() (err error) {
		for _, s := range t.servers {
			err = errors.Join(err, s.start())
		}
		return err
	}, nil
}

// clusterFaults are those of three servers. An election takes 4 to 9 seconds.
func clusterFaults() []failure {
	return []failure{
		{"the leader is killed", ofLeader(killServer), 8 * time.Second},
		{"the leader's machine is cut off", ofLeader(cutOff), 15 * time.Second},
		{"all servers are killed", killAll, time.Second},
		{"the leader is stopped", ofLeader(stopServer), 12 * time.Second},
		{"the leader's machine hears nothing", ofLeader(deaf), 15 * time.Second},
		{"the leader's machine is not heard", ofLeader(mute), 15 * time.Second},
		{"another server is killed", ofFollower(killServer), 3 * time.Second},
		{"another server's machine is cut off", ofFollower(cutOff), 10 * time.Second},
	}
}

var heldUp = failure{"the leader's machine is cut off, with the owner of the turn on it", ofLeader(cutOffHolder), 20 * time.Second}

func singleFaults() []failure {
	return []failure{
		{"the server is killed", ofLeader(killServer), 500 * time.Millisecond},
		{"the server is stopped", ofLeader(stopServer), 5 * time.Second},
		{"the server's machine is cut off", ofLeader(cutOff), 6 * time.Second},
		{"the server's machine hears nothing", ofLeader(deaf), 6 * time.Second},
	}
}

// oneServer lets agents on four hosts take turns over one server.
func oneServer(e *env, r *report) {
	e.try(r, plan{servers: 1, hosts: 4, agents: 5, lease: time.Minute, faults: singleFaults()})
}

// cluster lets agents on five hosts take turns over three servers.
func cluster(e *env, r *report) {
	e.try(r, plan{servers: 3, hosts: 5, agents: 5, lease: time.Minute, faults: clusterFaults()})
}

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
	e.try(r, plan{servers: 3, hosts: 5, agents: 6, lease: 2 * time.Second, odds: 12, faults: faults})
}
