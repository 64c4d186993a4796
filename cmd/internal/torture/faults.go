//go:build linux

package torture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"
)

// These are the servers that fail: the one that leads, another one, or all.
const (
	leader = iota
	follower
	everyone
)

// A failure is something that happens to servers and their machines, for a time.
type failure struct {
	name  string
	of    int
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

// cutOff cuts the machine of a server off, with the host on it.
func cutOff(t *trial, one servers) (func() error, error) {
	return func() error { return t.net.plug(one[0].machine, "up") }, t.net.plug(one[0].machine, "down")
}

// A detention keeps agents of a host from handing over their turn.
type detention struct {
	host *host
	held *latch // there is one
	let  *latch // it may go on
}

// cutOffHolder cuts a server's machine off while an agent there has the turn.
func cutOffHolder(t *trial, one servers) (func() error, error) {
	d := &detention{t.hosts[one[0].n], newLatch(), newLatch()}
	t.detain.Store(d)
	defer d.let.close()
	defer t.detain.Store(nil)
	if !eventually(stall, d.held.closed) {
		return nil, fmt.Errorf("host %d has no turn", d.host.n+1)
	}
	return cutOff(t, one)
}

// cutPower kills servers and puts the disks in place that a power cut would have left.
func cutPower(t *trial, cut servers) (heal func() error, err error) {
	cut.signal(syscall.SIGSTOP)
	for _, s := range cut {
		var failed error
		s.disk, failed = s.disk.cut(filepath.Join(t.dir, filepath.Base(t.newDir())), s.kill)
		err = errors.Join(err, failed, anotherBoot(s.disk.data()))
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
		{"the leader is killed", leader, kill, 8 * time.Second},
		{"the leader's machine is cut off, with the owner of the turn on it", leader, cutOffHolder, 20 * time.Second},
		{"all servers are killed", everyone, kill, time.Second},
		{"the leader is stopped", leader, stop, 12 * time.Second},
		{"another server is killed", follower, kill, 3 * time.Second},
		{"another server's machine is cut off", follower, cutOff, 10 * time.Second},
	}
	if e.size == short {
		faults = faults[:3]
	}
	if e.size == long {
		faults = slices.Repeat(faults, 4)
	}
	plan{servers: 3, hosts: 5, agents: 6, lease: 2 * time.Second, odds: 12, faults: faults}.try(e, r)
}

// serverCuts cuts the power of one server, of three at once, and of the leader of three, while three hosts talk.
func serverCuts(e *env, r *report) {
	for n := range e.pick(1, 3, 20) {
		cut, of := failure{"a power cut", everyone, cutPower, 0}, []int{1, 3, 3}[n%3]
		if n%3 == 2 {
			cut = failure{"a power cut of the leader", leader, cutPower, 0}
		}
		plan{servers: of, hosts: 3, agents: 3, disks: true, talk: true, enough: 20 + e.random().IntN(100), faults: []failure{cut}}.try(e, r)
	}
}
