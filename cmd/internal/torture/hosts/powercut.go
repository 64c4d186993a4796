//go:build linux

package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A disk is a file system in an image file. A power cut is a copy of the file, taken while
// the server stands still: what it has not synced is not in it, since the kernel writes
// back as rarely as it can.
type disk struct{ image, dir string }

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// newDisk makes a file system and mounts it.
func newDisk(path string) (disk, error) {
	const size = 256 << 20
	d := disk{path + ".image", path}
	err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, size))
	if err == nil {
		err = command("mkfs.ext4", "-q", "-F", d.image)
	}
	if err == nil {
		err = d.mount()
	}
	return d, err
}

func (d disk) mount() error {
	return errors.Join(os.MkdirAll(d.dir, 0o700), command("mount", "-o", "loop,commit=1000", d.image, d.dir))
}

// copied copies the disk as a power cut would leave it.
func (d disk) copied(path string) (disk, error) {
	after := disk{path + ".image", path}
	return after, command("cp", "--sparse=always", d.image, after.image)
}

func (d disk) remove() {
	eventually(2*time.Second, func() bool { return command("umount", d.dir) == nil }) // a killed process may be on its way out
	_ = os.Remove(d.image)
}

// A finding is what was wrong after a power cut, and not with making it.
type finding struct{ error }

// powerCuts cuts the power of one server, of three at once, and of one among three.
func powerCuts(e *env, r *report) {
	for n := range pick(e, 1, 3, 20) {
		servers, only := []int{1, 3, 3}[n%3], n%3 == 2
		r.check(fmt.Sprintf("power cut %d, of %d servers (the leader alone: %v)", n, servers, only), e.powerCut(r, servers, only))
	}
}

// powerCut cuts the power while three hosts talk in a room, and looks for what was
// acknowledged. If only is set, it is the power of the leader alone.
func (e *env) powerCut(r *report, n int, only bool) error {
	t, err := e.newTrial(r, plan{servers: n, hosts: 3, agents: 3, lease: time.Minute, disks: true})
	defer t.end()
	if err != nil {
		return err
	}
	all := t.talk()
	enough := 20 + e.random().IntN(100)
	if !eventually(stall, func() bool { return t.answers(acknowledged) >= enough }) {
		return fmt.Errorf("no %d messages within %v; %s", enough, stall, t.situation())
	}
	cut := t.servers
	if only {
		leader, err := t.servers.leader()
		if err != nil {
			return err
		}
		cut = servers{leader}
	}
	r.faults++
	if err := t.cutPower(cut); err != nil {
		return err
	}
	if !only {
		t.over.close()
		all.Wait()
	}
	if err := cut.start(); err != nil {
		return finding{fmt.Errorf("after a power cut: %w", err)}
	}
	if only {
		t.calmTalk()
		t.over.close()
		all.Wait()
	}
	return t.judgeCut()
}

// talk lets all agents send messages, one after the other, until the trial is over.
func (t *trial) talk() *sync.WaitGroup {
	all := new(sync.WaitGroup)
	for _, a := range t.agents {
		all.Go(func() {
			for a.do(unreachable, "join").exit != 0 && !a.over.closed() {
				continue
			}
			for !a.over.closed() {
				a.say()
			}
		})
	}
	return all
}

// cutPower kills servers and puts the disks in place that a power cut would have left.
func (t *trial) cutPower(cut servers) (err error) {
	for _, s := range cut {
		s.signal(syscall.SIGSTOP)
	}
	after := make([]disk, len(cut))
	for i, s := range cut {
		d, copyErr := s.disk.copied(filepath.Join(t.dir, fmt.Sprintf("%s-after", s.name())))
		after[i], err = d, errors.Join(err, copyErr)
	}
	for i, s := range cut {
		s.kill()
		s.disk.remove()
		s.disk = after[i]
		s.store = filepath.Join(s.disk.dir, "store")
		err = errors.Join(err, s.disk.mount(), anotherBoot(s.store))
	}
	return err
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

func (t *trial) answers(want answer) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.said {
		if a == want {
			n++
		}
	}
	return n
}

// calmTalk waits until more was acknowledged.
func (t *trial) calmTalk() {
	enough := t.answers(acknowledged) + 10
	if !eventually(stall, func() bool { return t.answers(acknowledged) >= enough }) {
		t.report.wrong("nothing is acknowledged after a power cut; %s", t.situation())
	}
}

// judgeCut asks a host that was never there before, and those that have mirrors.
func (t *trial) judgeCut() error {
	fresh, err := newHost(len(t.hosts), t.programs.tt, filepath.Join(t.dir, "fresh"), t.servers.url("torture"), t.net.machines[0])
	if err != nil {
		return err
	}
	for i, h := range append(slices.Clone(t.hosts), fresh) {
		var o *outcome
		if !eventually(stall, func() bool {
			o = h.run(0, "events", "--agent", "z:9")
			return o.exit == 0 && !bytes.Contains(o.stderr, []byte("knew last")) || !slices.Contains(unreachable, o.code)
		}) {
			return finding{fmt.Errorf("host %d: %v", i+1, o)}
		}
		if o.exit != 0 {
			return finding{fmt.Errorf("host %d: %v", i+1, o)}
		}
		journal, err := h.mirror()
		if err != nil {
			return finding{err}
		}
		h, err := readHistory(journal)
		if err != nil {
			return finding{err}
		}
		if err := t.compare(h); err != nil {
			return finding{fmt.Errorf("host %d: %w", i+1, err)}
		}
	}
	t.count()
	return nil
}
