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

	"github.com/talking-stick/tt/journal/event"
)

// serverCuts cuts the power of one server, of three at once, and of one among three.
func serverCuts(e *env, r *report) {
	for n := range e.pick(1, 3, 20) {
		servers, only := []int{1, 3, 3}[n%3], n%3 == 2
		r.able(fmt.Sprintf("power cut %d, of %d servers (the leader alone: %v)", n, servers, only), e.serverCut(r, servers, only))
	}
}

// serverCut cuts the power while three hosts talk in a room, and looks for what was
// acknowledged. If only is set, it is the power of the leader alone.
func (e *env) serverCut(r *report, n int, only bool) error {
	t, err := e.newTrial(r, plan{servers: n, hosts: 3, agents: 3, lease: time.Minute, disks: true})
	defer t.end()
	if err != nil {
		return err
	}
	t.each((*agent).talk)
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
	r.count("faults", 1)
	if err := t.cutPower(cut); err != nil {
		return err
	}
	if !only {
		t.finish()
	}
	if !r.check("after a power cut", cut.start()) {
		return nil
	}
	if only {
		t.calmTalk()
		t.finish()
	}
	r.check("after a power cut", t.judgeCut())
	return nil
}

// cutPower kills servers and puts the disks in place that a power cut would have left.
func (t *trial) cutPower(cut servers) (err error) {
	for _, s := range cut {
		s.signal(syscall.SIGSTOP)
	}
	after := make([]disk, len(cut))
	for i, s := range cut {
		after[i] = s.disk.at(filepath.Join(t.dir, s.name()+"-after"))
		err = errors.Join(err, s.disk.copyTo(after[i]))
	}
	for i, s := range cut {
		s.kill()
		err = errors.Join(err, s.disk.unmount(), os.Remove(s.disk.image))
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

// calmTalk waits until more was acknowledged.
func (t *trial) calmTalk() {
	enough := t.answers(acknowledged) + 10
	if !eventually(stall, func() bool { return t.answers(acknowledged) >= enough }) {
		t.report.wrong("nothing is acknowledged after a power cut; %s", t.situation())
	}
}

// judgeCut asks a host that was never there before, and those that have mirrors.
func (t *trial) judgeCut() error {
	fresh, err := newHost(len(t.hosts), t.tt, filepath.Join(t.dir, "fresh"), t.servers.url("torture"), t.net.machines[0])
	if err != nil {
		return err
	}
	for i, h := range append(slices.Clone(t.hosts), fresh) {
		err := h.upToDate()
		var events []event.Event
		if err == nil {
			events, _, err = h.mirror()
		}
		if err == nil {
			_, err = t.compare(events)
		}
		if err != nil {
			return fmt.Errorf("host %d: %w", i+1, err)
		}
	}
	t.count()
	return nil
}

// cutsOf cuts the power of servers a few times.
func cutsOf(servers int) func(*env, *report) {
	return func(e *env, r *report) {
		for n := 0; n < 3 && r.bad == 0; n++ {
			r.able("a power cut", e.serverCut(r, servers, false))
		}
	}
}

// contention lets agents on four hosts talk at the same time.
func contention(e *env, r *report) { e.talkDuring(r, 0, 500) }

// lostAnswers freezes the disk of the server for a little longer than a request takes.
func lostAnswers(e *env, r *report) { e.talkDuring(r, 10, 0) }

// talkDuring lets agents talk while the disk of the server is frozen a number of times, and
// until so many messages are acknowledged.
func (e *env) talkDuring(r *report, freezes, enough int) {
	t, err := e.newTrial(r, plan{servers: 1, hosts: 4, agents: 6, lease: time.Minute, disks: freezes > 0})
	defer t.end()
	if !r.able("setting up", err) {
		return
	}
	t.each((*agent).talk)
	for range freezes {
		n := t.answers(acknowledged)
		eventually(stall, func() bool { return r.caught() || t.answers(acknowledged) > n+6 })
		r.count("faults", 1)
		if !r.able("freezing", command("fsfreeze", "-f", t.servers[0].disk.dir)) {
			break
		}
		time.Sleep(2 * time.Second)
		r.able("thawing", command("fsfreeze", "-u", t.servers[0].disk.dir))
	}
	eventually(stall, func() bool { return r.caught() || t.answers(acknowledged) >= enough })
	t.finish()
	if !r.caught() {
		t.judge()
	}
}
