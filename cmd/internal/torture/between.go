//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A pair is a command that stands still at one of its calls while another command
// runs: from its beginning to its end, or until it is in the queue for the lock that
// the first one has.
type pair struct {
	name    string
	before  []string
	first   string // reads a handoff on its standard input if it wants one
	second  string
	must    bool // the first succeeds if it stood still before it had its handoff
	expired bool // the lease has ended, so that the owner need not hold anything
}

func pairs() []pair {
	alone := []string{"try --agent a:1"}
	two := []string{"join --agent b:2", "try --agent a:1"}
	stale := append(append([]string{}, two...), "policy --owner-lease-ttl 300ms --agent a:1")
	return []pair{
		{name: "the owner comes back and is overtaken", before: stale, first: "try --agent a:1", second: "take --reason x --agent b:2", expired: true},
		{name: "a taker is late for the owner", before: stale, first: "take --reason x --agent b:2", second: "try --agent a:1", expired: true},
		{name: "a release and a try of one agent", before: alone, first: "release --agent a:1" + handoff, second: "try --agent a:1"},
		{name: "a leave and a try of one agent", before: alone, first: "leave --agent a:1", second: "try --agent a:1"},
		{name: "a kick and a try of the one kicked", before: two, first: "kick a:1 --force --agent b:2", second: "try --agent a:1"},
		{name: "two tries of one agent", before: two[:1], first: "try --agent a:1", second: "try --agent a:1"},
		{name: "the recipient joins while the handoff is written", before: alone, first: "assign b:2 --stdin --agent a:1", second: "join --agent b:2", must: true},
	}
}

// betweenCalls lets another command run between any two calls of a command. What
// the last one tells at its end is true at that moment, and who has the turn can
// end it. And somebody joins between any two calls of every command.
func betweenCalls(g *rig, r *report) {
	if !haveStrace() {
		r.skip("there is no strace")
		return
	}
	var runs []func()
	add := func(t *trial, p pair, points []point) {
		for _, at := range points {
			runs = append(runs, func() { t.between(p, at) })
		}
	}
	for _, p := range pairs() {
		st, _ := g.stage(scene{name: p.name, before: p.before, args: p.first, orderly: true})
		t := &trial{rig: g, stage: st, report: r, fault: "signal=SIGSTOP"}
		points, err := t.countPiped(p.must)
		if err != nil {
			r.wrong("%s: %v", p.name, err)
		}
		add(t, p, points)
	}
	r.inParallel(slices.Values(runs))
	runs = nil
	for _, st := range g.stages() {
		if st.repair {
			continue
		}
		t, points, err := g.trial(r, st, changing+opening, "signal=SIGSTOP")
		if err != nil {
			r.wrong("%v", err)
			continue
		}
		add(t, pair{name: st.name, first: strings.Join(st.args, " "), second: "join --agent y:8", must: true, expired: true}, points)
	}
	r.inParallel(g.sample(runs, 60, len(runs)))
}

// piped is the command below strace with a handoff on its standard input.
func piped(args []string) []string {
	return append([]string{"sh", "-c", `echo '{"status":"s","next_action":"n"}' | "$@"`, "sh"}, strace(args...)...)
}

// countPiped is count for a command that may read a handoff, and be refused. If
// asked for it counts only up to there.
func (t *trial) countPiped(toHandoff bool) ([]point, error) {
	data := t.newDir()
	defer t.remove(data)
	if err := t.copyTo(data); err != nil {
		return nil, err
	}
	trace := data + ".trace"
	calls := changing + opening
	if toHandoff {
		calls += ",read"
	}
	t.runUnder(data, piped([]string{"-e", "trace=" + known(calls), "-o", trace}), t.args...)
	text := readTrace(trace)
	if toHandoff {
		text = text[:max(0, strings.LastIndex(text, "read(0,"))]
	}
	return pointsIn(text), nil
}

func (t *trial) between(pr pair, p point) {
	what := fmt.Sprintf("%s: tt %s stood still at %v", pr.name, pr.first, p)
	t.report.reach(what, func() bool {
		data := t.newDir()
		defer t.remove(data)
		first, second, queued, err := t.interleave(data, pr, p)
		if err == errPassed {
			return false
		}
		t.report.add(1, 0, 0)
		t.report.held(queued)
		if err == nil && pr.must && (first.exit != 0 || second.exit != 0) {
			err = fmt.Errorf("%v; the other: %v", first, second)
		}
		switch {
		case err != nil:
		case queued:
			err = t.agree(data, pr, second, pr.second)
		default:
			err = t.agree(data, pr, first, pr.first)
		}
		if err != nil {
			t.report.wrong("%s: %v; the other: %v", what, err, second)
		}
		return true
	})
}

// interleave runs both commands. If the first one had the lock when it stood still,
// the second was queued behind it and ended last.
func (t *trial) interleave(data string, pr pair, p point) (first, second result, queued bool, err error) {
	if err := t.copyTo(data); err != nil {
		return first, second, false, err
	}
	room, err := t.room(data)
	if err != nil {
		return first, second, false, err
	}
	trace := data + ".trace"
	defer os.Remove(trace)
	cmd, stdout, stderr := t.command(data, piped(append(t.fault.at(p), "-o", trace)), t.args...)
	if err := cmd.Start(); err != nil {
		return first, second, false, err
	}
	ends := make(chan error, 1)
	go func() { ends <- cmd.Wait() }()
	pid, err := stoppedIn(trace, ends)
	if err != nil {
		return first, second, false, err
	}
	other, err := t.startWaiter(data, nil, strings.Fields(pr.second)...)
	if err != nil {
		_ = goOn(pid, ends)
		return first, second, false, err
	}
	over := func() bool {
		select {
		case <-other.over:
			return true
		default:
			return false
		}
	}
	eventually(lockPatience, func() bool {
		queued = !over() && waitsForLock(other.cmd.Process.Pid) && holds(pid, filepath.Join(room.Dir(), "lock"))
		return queued || over()
	})
	first = ended(goOn(pid, ends), stdout.String(), stderr.String())
	<-other.over
	return first, *other.result, queued, nil
}

// lockPatience is how long a command waits for its lock.
const lockPatience = 5 * time.Second

// agree: a turn that the last command told of is the one that there is, and the
// owner can show and end it.
func (t *trial) agree(data string, pr pair, last result, line string) error {
	var now struct {
		Room struct {
			Owner string
			Turn  int64 `json:"turn_id"`
		}
	}
	state := t.run(data, "state", "--agent", "z:9")
	if last.exit != 0 && state.exit != 0 { // the room has ended
		return nil
	}
	if state.exit == 0 {
		if err := json.Unmarshal([]byte(state.stdout), &now); err != nil {
			return fmt.Errorf("state: %v", state)
		}
	}
	var told grant
	if last.exit == 0 {
		_ = json.Unmarshal([]byte(last.stdout), &told)
	}
	owner := now.Room.Owner
	if told.Status == turn.YourTurn && (told.Turn != now.Room.Turn || !strings.Contains(line, "--agent "+owner)) {
		return fmt.Errorf("tt %s was told that turn %d is its own, and it is turn %d of %q", line, told.Turn, now.Room.Turn, owner)
	}
	if owner != "" && !pr.expired {
		for _, line := range []string{"check --agent " + owner, "release --agent " + owner + handoff} {
			if res := t.run(data, strings.Fields(line)...); res.exit != 0 {
				return fmt.Errorf("%s has turn %d, but tt %s: %v", owner, now.Room.Turn, line, res)
			}
		}
	}
	return t.mended(data)
}
