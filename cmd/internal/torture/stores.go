//go:build linux

package torture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Of what is done to the store of a server, the hosts have to give back what it has lost.

// lacking are the codes of commands while a store lacks something.
var lacking = []string{"engine_restored", "engine_rewound", "disk_full"}

// straddle is longer than a call of the engine lasts. One that a host has begun before the store lost
// what it had sent, and that finds another entry in its place, would do its change again.
const straddle = 5 * time.Second

// stores lets agents take turns, two on another host under the id of the first ones, over slow links
// that lose packets, while strange things are done to the store of the server.
func stores(e *env, r *report) {
	plan{servers: 1, hosts: 3, agents: e.pick(3, 6, 6), twins: 2,
		disks: true, far: 100 * time.Millisecond, allowed: append(lacking, "agent_elsewhere"), faults: []failure{
			{"the disk is full", fullDisk, 2 * time.Second},
			{"an older copy of the store is put back", copiedBack, straddle},
			{"one bit of the store is wrong", ofLeader(wrongBit), straddle},
		}}.try(e, r)
}

func fullDisk(t *trial) (func() error, error) {
	path := filepath.Join(t.servers[0].disk.dir, "fill")
	err := command("fallocate", "-l", "1G", path) // which takes what there is, and fails
	if _, there := os.Stat(path); there != nil {
		return nil, err
	}
	return func() error { return os.Remove(path) }, nil
}

// copiedBack puts a copy of the store in its place that lacks some turns.
func copiedBack(t *trial) (func() error, error) {
	store := t.servers[0].disk.data()
	backup := store + "-backup"
	t.servers.kill()
	err := command("cp", "-a", store, backup)
	if err == nil {
		err = t.servers.start()
	}
	if err == nil && t.calm() {
		t.servers.kill()
		err = errors.Join(os.RemoveAll(store), os.Rename(backup, store), t.servers.start("--restored"))
	}
	return t.giveBack, err
}

// replica has faults of one server of three, of which one has a wrong bit in its store.
func replica() []failure {
	return []failure{
		{"one bit of the leader's store is wrong", ofLeader(wrongBit), straddle},
		{"one bit of another server's store is wrong", ofFollower(wrongBit), straddle},
	}
}

// wrongBit flips one bit in the first half of what the server has stored. It may lose all that comes
// after it.
func wrongBit(t *trial, s *server) (func() error, error) {
	time.Sleep(2 * time.Second) // the server notes every second how far it has got
	s.kill()
	files, err := filepath.Glob(filepath.Join(s.disk.data(), "jetstream", "*", "streams", "TT", "msgs", "*.blk"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no entries in %s: %v", s.disk.data(), err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	bit := t.random().IntN(4 * len(b))
	flip := func() error {
		b[bit/8] ^= 1 << (bit % 8)
		return os.WriteFile(files[0], b, 0o600)
	}
	if err := flip(); err != nil {
		return nil, err
	}
	heal, restored := t.giveBack, []string{"--restored"}
	if len(t.servers) > 1 {
		heal, restored = func() error { return nil }, nil
	}
	err = servers{s}.start()
	if err != nil && strings.Contains(err.Error(), "panic: ") {
		// NATS cannot go on where an entry that it reads as it starts is wrong, which is for a person to see.
		t.report.say("server %s does not start, and a copy of its store is put back", s.name())
		err = errors.Join(flip(), servers{s}.start(restored...))
	}
	return heal, err
}

// giveBack lets every host give back what the server has lost, and then opens it.
func (t *trial) giveBack() error {
	for _, open := range [][]string{nil, {"--open"}} {
		for _, h := range t.hosts {
			var o *outcome
			line := append([]string{"doctor", "--repair", "--agent", "z:9"}, open...)
			if !eventually(stall, func() bool {
				o = h.run(line...)
				return o.exit == 0 || open == nil && !slices.Contains(unreachable, o.code)
			}) {
				return fmt.Errorf("host %d: %v", h.n+1, o)
			}
		}
	}
	return nil
}
