//go:build linux

package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A pair is a command that is stopped at one of its calls while another command
// runs: from its beginning to its end, or until it waits for the lock that the
// first one has.
type pair struct {
	*fixture
	second  string
	must    bool // the first succeeds
	expired bool // the lease has ended, so that the owner need not hold anything
}

func pairs() []pair {
	alone := []string{"try --agent a:1"}
	two := []string{"join --agent b:2", "try --agent a:1"}
	stale := []string{two[0], two[1], "policy --owner-lease-ttl 300ms --agent a:1"}
	first := func(name string, setup []string, command string) *fixture {
		return &fixture{name: name, setup: setup, command: command, clean: true, refusable: true}
	}
	late := first("the recipient joins while the handoff is written", alone, "assign b:2 --stdin --agent a:1")
	late.toHandoff = true // later it is too late
	return []pair{
		{first("the owner comes back and is overtaken", stale, "try --agent a:1"), "take --reason x --agent b:2", false, true},
		{first("a taker is late for the owner", stale, "take --reason x --agent b:2"), "try --agent a:1", false, true},
		{first("a release and a try of one agent", alone, "release --agent a:1"+handoff), "try --agent a:1", false, false},
		{first("a leave and a try of one agent", alone, "leave --agent a:1"), "try --agent a:1", false, false},
		{first("a kick and a try of the one kicked", two, "kick a:1 --force --agent b:2"), "try --agent a:1", false, false},
		{first("two tries of one agent", two[:1], "try --agent a:1"), "try --agent a:1", false, false},
		{late, "join --agent b:2", true, false},
	}
}

// betweenCalls runs another command between any two calls of a command. What the
// last one prints at its end is true at that moment, and the owner of the turn can
// end it. Besides, somebody joins between calls of every command.
func betweenCalls(e *env, r *report) {
	var all, joins []sampled
	add := func(runs []sampled, p pair) []sampled {
		s := &sweeper{env: e, fixture: p.fixture, report: r, fault: stops}
		for _, at := range s.count() {
			runs = append(runs, sampled{kind: p.name, run: func() { s.between(p, at) }})
		}
		return runs
	}
	for _, p := range pairs() {
		e.set(p.fixture)
		all = add(all, p)
	}
	e.sample(all, len(all))
	for _, f := range e.fixtures() {
		if !f.repair {
			joins = add(joins, pair{f, "join --agent y:8", true, true})
		}
	}
	e.sample(joins, 60)
}

func (s *sweeper) between(pr pair, p point) {
	line := strings.Join(pr.args, " ")
	what := fmt.Sprintf("%s: tt %s was stopped at %v", pr.name, line, p)
	s.report.reach(what, func() bool {
		data := s.newDir()
		defer remove(data)
		first, second, queued, err := s.interleave(data, pr, p)
		if err == errPassed {
			return false
		}
		s.report.add(1, 0, 0)
		last, line := first, line
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
	defer os.Remove(notes)
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
			queued = waitsBehind(other.Process.Pid, pid)
			return queued || other.over.closed()
		})
	}
	for ; !one.over.closed(); one.over.sleep(100 * time.Millisecond) { // again, if it was not stopped yet
		_ = syscall.Kill(pid, syscall.SIGCONT)
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

// waitsBehind reports whether a process is in the queue for a lock that another one has. In the
// kernel's list a lock and its queue have one number.
func waitsBehind(pid, holder int) bool {
	locks, _ := os.ReadFile("/proc/locks")
	held := map[string]bool{}
	for line := range strings.Lines(string(locks)) {
		switch f := strings.Fields(line); {
		case len(f) > 5 && f[1] == "->" && f[5] == strconv.Itoa(pid) && held[f[0]]:
			return true
		case len(f) > 5 && f[4] == strconv.Itoa(holder):
			held[f[0]] = true
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
	h := s.on(data)
	state := h.run("state", "--agent", "z:9")
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
		if err := h.ok("check --agent "+owner, "release --agent "+owner+handoff); err != nil {
			return fmt.Errorf("%s has turn %d, but %v", owner, now.Room.Turn, err)
		}
	}
	return s.mended(data)
}
