//go:build linux

package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/lockfile"
)

// A pair is a command that is stopped at one of its calls while another command
// runs: from its beginning to its end, or until it waits for the lock that the
// first one has.
type pair struct {
	name    string
	setup   []string
	first   string
	second  string
	must    bool // the first succeeds if it was stopped before it read its handoff
	expired bool // the lease has ended, so that the owner need not hold anything
}

func pairs() []pair {
	alone := []string{"try --agent a:1"}
	two := []string{"join --agent b:2", "try --agent a:1"}
	stale := []string{two[0], two[1], "policy --owner-lease-ttl 300ms --agent a:1"}
	return []pair{
		{name: "the owner comes back and is overtaken", setup: stale, first: "try --agent a:1", second: "take --reason x --agent b:2", expired: true},
		{name: "a taker is late for the owner", setup: stale, first: "take --reason x --agent b:2", second: "try --agent a:1", expired: true},
		{name: "a release and a try of one agent", setup: alone, first: "release --agent a:1" + handoff, second: "try --agent a:1"},
		{name: "a leave and a try of one agent", setup: alone, first: "leave --agent a:1", second: "try --agent a:1"},
		{name: "a kick and a try of the one kicked", setup: two, first: "kick a:1 --force --agent b:2", second: "try --agent a:1"},
		{name: "two tries of one agent", setup: two[:1], first: "try --agent a:1", second: "try --agent a:1"},
		{name: "the recipient joins while the handoff is written", setup: alone, first: "assign b:2 --stdin --agent a:1", second: "join --agent b:2", must: true},
	}
}

// betweenCalls runs another command between any two calls of a command. What the
// last one prints at its end is true at that moment, and the owner of the turn can
// end it. Besides, somebody joins between calls of every command.
func betweenCalls(e *env, r *report) {
	var all, joins []sampled
	add := func(runs []sampled, f *fixture, p pair, count func(*sweeper) ([]point, error)) []sampled {
		s := &sweeper{env: e, fixture: f, report: r, fault: stops}
		points, err := count(s)
		r.check(p.name, err)
		for _, at := range points {
			runs = append(runs, sampled{p.name, func() { s.between(p, at) }})
		}
		return runs
	}
	for _, p := range pairs() {
		f := e.fixture(sweepCase{name: p.name, setup: p.setup, args: p.first, clean: true})
		all = add(all, f, p, func(s *sweeper) ([]point, error) { return s.countFirst(p.must) })
	}
	e.sample(all, len(all))
	for _, f := range e.fixtures() {
		if !f.repair {
			p := pair{name: f.name, first: strings.Join(f.args, " "), second: "join --agent y:8", must: true, expired: true}
			joins = add(joins, f, p, func(s *sweeper) ([]point, error) { return s.count() })
		}
	}
	e.sample(joins, 60)
}

// countFirst is count for a command that may be refused. If asked, it counts only
// up to the read of the handoff.
func (s *sweeper) countFirst(toHandoff bool) ([]point, error) {
	_, list, err := s.list()
	if toHandoff {
		list = list[:readsInput(list)]
	}
	return pointsIn(list), err
}

func (s *sweeper) between(pr pair, p point) {
	what := fmt.Sprintf("%s: tt %s was stopped at %v", pr.name, pr.first, p)
	s.report.reach(what, func() bool {
		data := s.newDir()
		defer remove(data)
		first, second, queued, err := s.interleave(data, pr, p)
		if err == errPassed {
			return false
		}
		s.report.add(1, 0, 0)
		last, line := first, pr.first
		if queued {
			last, line = second, pr.second
		}
		if err == nil && pr.must && (first.exit != 0 || second.exit != 0) {
			err = errors.New(first.String())
		}
		if err == nil {
			err = s.agree(data, pr, last, line)
		}
		if err != nil {
			s.report.wrong("%s: %v; the other: %v", what, err, second)
		}
		return true
	})
}

var errPassed = errors.New("the command did not come to the point")

// interleave runs both commands. If the first one had the lock when it was
// stopped, the second was queued behind it and ended last.
func (s *sweeper) interleave(data string, pr pair, p point) (first, second *outcome, queued bool, err error) {
	one, notes, err := s.prepare(data, s.fault, p)
	if err != nil {
		return first, second, false, err
	}
	defer os.Remove(notes)
	room, err := s.room(data)
	if err == nil {
		err = one.launch()
	}
	if err == nil {
		err = one.stopped()
	}
	if err != nil {
		return first, second, false, err
	}
	pid := one.Process.Pid
	other := s.on(data).command(strings.Fields(pr.second)...)
	if err = other.launch(); err == nil {
		eventually(stall, func() bool {
			queued = !other.over.closed() && waitsForLock(other.Process.Pid) && holds(pid, filepath.Join(room.Dir(), "lock"))
			return queued || other.over.closed()
		})
	}
	for !one.over.closed() { // again, if it was not stopped yet
		_ = syscall.Kill(pid, syscall.SIGCONT)
		select {
		case <-one.over.done:
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err != nil {
		return first, second, false, err
	}
	return one.result(), other.result(), queued, nil
}

// stopped waits until the process is stopped, and fails if it ends before.
func (b *process) stopped() error {
	err := errors.New("it neither stopped nor ended")
	eventually(stall, func() bool {
		switch stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.Process.Pid)); {
		case b.over.closed():
			err = errPassed
		case bytes.Contains(stat, []byte(") T ")):
			err = nil
		default:
			return false
		}
		return true
	})
	return err
}

// holds reports whether the process has the lock. A line of the kernel's list can
// be missed while other processes lock and unlock, so it is read more than once.
func holds(pid int, lock string) bool {
	for range 5 {
		if holder, ok := lockfile.FindHolder(lock); ok {
			return holder.PID == pid
		}
	}
	return false
}

// waitsForLock reports whether the process is in the queue for any lock.
func waitsForLock(pid int) bool {
	locks, _ := os.ReadFile("/proc/locks")
	for line := range bytes.Lines(locks) {
		if f := strings.Fields(string(line)); len(f) > 5 && f[1] == "->" && f[5] == strconv.Itoa(pid) {
			return true
		}
	}
	return false
}

// agree: a turn that the last command was granted is the one that there is, and
// its owner can show and end it.
func (s *sweeper) agree(data string, pr pair, last *outcome, line string) error {
	var now struct {
		Room struct {
			Owner string
			Turn  int64 `json:"turn_id"`
		}
	}
	state := s.run(data, "state", "--agent", "z:9")
	if last.exit != 0 && state.exit != 0 { // the room has ended
		return nil
	}
	if state.exit == 0 {
		if err := json.Unmarshal([]byte(state.stdout), &now); err != nil {
			return fmt.Errorf("state: %v", state)
		}
	}
	var granted grant
	if last.exit == 0 {
		_ = json.Unmarshal([]byte(last.stdout), &granted)
	}
	owner := now.Room.Owner
	if granted.Status == turn.YourTurn && (granted.Turn != now.Room.Turn || !strings.Contains(line, "--agent "+owner)) {
		return fmt.Errorf("tt %s was granted turn %d, and it is turn %d of %q", line, granted.Turn, now.Room.Turn, owner)
	}
	if owner != "" && !pr.expired {
		if err := s.ok(data, "check --agent "+owner, "release --agent "+owner+handoff); err != nil {
			return fmt.Errorf("%s has turn %d, but %v", owner, now.Room.Turn, err)
		}
	}
	return s.mended(data)
}
