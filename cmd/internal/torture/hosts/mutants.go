//go:build linux

package hosts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/cmd/internal/torture/overlay"
)

// A mutant is a build that is wrong on purpose. It must be caught, or the attacks prove
// nothing.
type mutant struct {
	name    string
	program string // cmd/tt-nats or cmd/tt-natsd
	edits   []overlay.Edit
	attack  func(*env, *report)
	from    size
}

const (
	appends = "cmd/tt-nats/jetstream/append.go"
	server1 = "cmd/tt-natsd/server.go"
)

func allMutants() []mutant {
	return []mutant{
		{"the server acknowledges what is not on its disk", "cmd/tt-natsd", []overlay.Edit{
			{File: server1, Old: "opts.SyncAlways, opts.NoSigs = true, o.store, true, true", New: "opts.SyncAlways, opts.NoSigs = true, o.store, false, true"},
			{File: server1, Old: "config == nil || !config.SyncAlways", New: "config == nil"},
		}, cutsOf(1), short},
		{"three servers acknowledge what is not on their disks", "cmd/tt-natsd", []overlay.Edit{
			{File: server1, Old: "opts.SyncAlways, opts.NoSigs = true, o.store, true, true", New: "opts.SyncAlways, opts.NoSigs = true, o.store, false, true"},
			{File: server1, Old: "config == nil || !config.SyncAlways", New: "config == nil"},
		}, cutsOf(3), normal},
		{"a change is appended whatever came before it", "cmd/tt-nats", []overlay.Edit{
			{File: appends, Old: "		m.Header.Set(headerExpected, strconv.FormatUint(uint64(after), 10))\n		if entry.Note", New: "		if entry.Note"},
		}, contention, short},
		{"a change without an answer counts as refused", "cmd/tt-nats", []overlay.Edit{
			{File: appends, Old: "sent = sent || !unsent; !sent && (", New: "sent = false; !sent && (err != nil || unsent || "},
		}, lostAnswers, normal},
	}
}

// cutsOf cuts the power of servers a few times.
func cutsOf(servers int) func(*env, *report) {
	return func(e *env, r *report) {
		for n := range 3 {
			err := e.powerCut(r, servers, false)
			var found finding
			if errors.As(err, &found) {
				r.wrong("power cut %d: %v", n+1, err)
			}
			if err != nil {
				return
			}
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
	if !r.check("setting up", err) {
		return
	}
	all := t.talk()
	for range freezes {
		n := t.answers(acknowledged)
		eventually(stall, func() bool { return r.caught() || t.answers(acknowledged) > n+6 })
		r.faults++
		if !r.check("freezing", command("fsfreeze", "-f", t.servers[0].disk.dir)) {
			break
		}
		time.Sleep(2 * time.Second)
		r.check("thawing", command("fsfreeze", "-u", t.servers[0].disk.dir))
	}
	eventually(stall, func() bool { return r.caught() || t.answers(acknowledged) >= enough })
	t.over.close()
	all.Wait()
	if !r.caught() {
		t.judge()
	}
}

func mutants(e *env, r *report) {
	for _, mu := range allMutants() {
		if mu.from <= e.size {
			r.check(mu.name, e.mutant(r, mu))
		}
	}
}

func (e *env) mutant(r *report, mu mutant) error {
	m := &env{base: e.newDir(), size: e.size, seed: e.seed, programs: e.programs}
	defer os.RemoveAll(m.base)
	if err := os.Mkdir(m.base, 0o700); err != nil {
		return err
	}
	build := filepath.Join(m.base, filepath.Base(mu.program))
	if err := overlay.Build(build, mu.program, mu.edits...); err != nil {
		return err
	}
	if mu.program == "cmd/tt-nats" {
		m.programs.tt = build
	} else {
		m.programs.natsd = build
	}
	tried := &report{name: "mutant", started: time.Now(), quiet: true}
	mu.attack(m, tried)
	r.faults += tried.faults
	if tried.bad == 0 {
		return fmt.Errorf("not caught after %d faults, %d acknowledgements", tried.faults, tried.acks)
	}
	r.say("%s: caught after %v: %s", mu.name, time.Since(tried.started).Round(100*time.Millisecond), tried.first)
	return nil
}
