//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// ok is run for what must succeed.
func (g *rig) ok(data string, args ...string) error {
	if r := g.run(data, args...); r.exit != 0 {
		return fmt.Errorf("tt %s: %v", strings.Join(args, " "), r)
	}
	return nil
}

// A waiter is a command that waits.
type waiter struct {
	*result
	cmd   *exec.Cmd
	over  chan struct{}
	ended time.Time // once it is over
}

// startWaiter starts a command that waits, below other programs.
func (g *rig) startWaiter(data string, under []string, args ...string) (*waiter, error) {
	cmd, stdout, stderr := g.command(data, under, append(args, "--json")...)
	w := &waiter{cmd: cmd, over: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go w.watch(stdout, stderr)
	return w, nil
}

func (w *waiter) watch(stdout, stderr *bytes.Buffer) {
	err := w.cmd.Wait()
	w.ended = time.Now()
	res := ended(err, stdout.String(), stderr.String())
	w.result = &res
	close(w.over)
}

// startWait starts `tt wait` and returns once the room knows that it waits.
func (g *rig) startWait(data string, under []string, agent string) (*waiter, error) {
	w, err := g.startWaiter(data, under, "wait", "--timeout", "60s", "--agent", agent)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		select {
		case <-w.over:
			return w, nil
		default:
		}
		if waits, err := g.waits(data, agent); waits || err != nil {
			time.Sleep(10 * time.Millisecond) // from the mark to the sleep
			return w, err
		}
	}
	w.kill()
	return nil, fmt.Errorf("%s did not come to wait", agent)
}

// waits reports whether the room knows that somebody waits.
func (g *rig) waits(data, agent string) (bool, error) {
	var state struct {
		Members []struct {
			ID      string `json:"agent_id"`
			Waiting bool
		}
	}
	r := g.run(data, "state", "--agent", "z:9")
	if err := json.Unmarshal([]byte(r.stdout), &state); err != nil {
		return false, fmt.Errorf("state: %v", r)
	}
	for _, m := range state.Members {
		if m.ID == agent {
			return m.Waiting, nil
		}
	}
	return false, nil
}

func (w *waiter) kill() {
	_ = w.cmd.Process.Kill()
	<-w.over
}

// told returns how long after a moment the waiter ended. One that goes on for ten
// seconds more is killed.
func (w *waiter) told(since time.Time) (time.Duration, error) {
	select {
	case <-w.over:
		return w.ended.Sub(since), nil
	case <-time.After(time.Until(since.Add(10 * time.Second))):
		w.kill()
		return 0, fmt.Errorf("it still waits after 10 seconds")
	}
}

// A relay is two agents who hand one turn to and fro, so that one of them waits.
// The guardian of the turn stands still while it ends: its own end would wake the
// waiter as well.
type relay struct {
	*rig
	data          string
	owner, waiter string
	guardian      int
	slow          []string // what assign is run below
	report        *report
}

func (g *rig) newRelay(r *report) (*relay, error) {
	y := &relay{rig: g, report: r, data: g.newDir(), owner: "a:1", waiter: "b:2"}
	if err := g.ok(y.data, "join", "--agent", y.waiter); err != nil {
		return nil, err
	}
	return y, y.have(g.run(y.data, "try", "--agent", y.owner))
}

// have takes in that the turn is the owner's.
func (y *relay) have(r result) error {
	var had grant
	if err := json.Unmarshal([]byte(r.stdout), &had); err != nil || r.exit != 0 || had.Status != turn.YourTurn {
		return fmt.Errorf("%s wants the turn and is told %v", y.owner, r)
	}
	y.guardian = had.Guardian
	return nil
}

// round lets the waiter wait below other programs, does something to it, hands
// the turn over, does something more, and expects the waiter to have been told.
func (y *relay) round(under []string, before, after func(*waiter) error) error {
	w, err := y.startWait(y.data, under, y.waiter)
	if err != nil {
		return err
	}
	defer w.kill()
	if err := before(w); err != nil {
		return err
	}
	return y.handOver(w, after)
}

func nothing(*waiter) error { return nil }

// handOver ends the turn, and the waiter must have it.
func (y *relay) handOver(w *waiter, after func(*waiter) error) error {
	guardian := y.guardian
	if !slices.Contains(y.guardians(y.data), guardian) {
		return fmt.Errorf("guardian %d of %s has ended before its turn", guardian, y.owner)
	}
	halt(guardian)
	defer syscall.Kill(guardian, syscall.SIGCONT)
	if err := y.assign(); err != nil {
		return err
	}
	if err := after(w); err != nil {
		return err
	}
	return y.taken(w, time.Now())
}

// taken expects the waiter to have been told that the turn is its own.
func (y *relay) taken(w *waiter, since time.Time) error {
	late, err := w.told(since)
	if err != nil {
		return err
	}
	y.owner, y.waiter = y.waiter, y.owner
	if err := y.have(*w.result); err != nil {
		return err
	}
	y.report.wereTold(late)
	return nil
}

func (y *relay) assign() error {
	r := y.runUnder(y.data, y.slow, "assign", y.waiter, "--status", "s", "--next-action", "n", "--agent", y.owner, "--json")
	if r.exit != 0 {
		return fmt.Errorf("assign: %v", r)
	}
	return nil
}

// mail lets the waiter wait for a message, below other programs, and sends it one
// after a while.
func (y *relay) mail(under []string, after time.Duration) error {
	state := y.run(y.data, "events", "--limit", "1", "--agent", "z:9")
	var last struct {
		Seq int64 `json:"cursor_event_seq"`
	}
	if err := json.Unmarshal([]byte(state.stdout), &last); err != nil {
		return fmt.Errorf("events: %v", state)
	}
	w, err := y.startWaiter(y.data, under, "msg", "recv", "--wait", "--after", strconv.FormatInt(last.Seq, 10), "--timeout", "60s", "--agent", y.waiter)
	if err != nil {
		return err
	}
	defer w.kill()
	time.Sleep(after)
	if err := y.ok(y.data, "msg", "send", y.waiter, "hello", "--agent", y.owner); err != nil {
		return err
	}
	late, err := w.told(time.Now())
	if err != nil {
		return err
	}
	if y.report.wereTold(late); w.exit != 0 || !strings.Contains(w.stdout, `"hello"`) {
		return fmt.Errorf("who waits for a message was told %v", w.result)
	}
	return nil
}

// talk says something a number of times.
func (y *relay) talk(times int) error {
	for range times {
		if err := y.ok(y.data, "msg", "send", "room", "x", "--agent", y.owner); err != nil {
			return err
		}
	}
	return nil
}

// stoppedWaiters stops processes that wait. What happens meanwhile they learn
// when they go on.
func stoppedWaiters(g *rig, r *report) {
	y, err := g.newRelay(r)
	if err != nil {
		r.wrong("%v", err)
		return
	}
	defer g.remove(y.data)
	for n := range g.pick(10, 100) {
		err := y.round(nil,
			func(w *waiter) error {
				if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					return err
				}
				return y.talk(30)
			},
			func(w *waiter) error { return w.cmd.Process.Signal(syscall.SIGCONT) })
		r.add(1, 0, 0)
		if err != nil {
			r.wrong("stopped waiter %d: %v", n, err)
			break
		}
	}
	r.tellLate()
	if err := g.mended(y.data); err != nil {
		r.wrong("%v", err)
	}
}
