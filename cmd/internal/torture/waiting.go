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
	waits := eventually(20*time.Second, func() bool {
		select {
		case <-w.over:
			return true
		default:
			return g.waits(data, agent)
		}
	})
	if !waits {
		w.kill()
		return nil, fmt.Errorf("%s did not come to wait", agent)
	}
	time.Sleep(10 * time.Millisecond) // from the mark to the sleep
	return w, nil
}

// waits reports whether the room knows that somebody waits.
func (g *rig) waits(data, agent string) bool {
	var state struct {
		Members []struct {
			ID      string `json:"agent_id"`
			Waiting bool
		}
	}
	_ = json.Unmarshal([]byte(g.run(data, "state", "--agent", "z:9").stdout), &state)
	for _, m := range state.Members {
		if m.ID == agent {
			return m.Waiting
		}
	}
	return false
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

// A relay is an agent who has the turn and one who waits for it.
type relay struct {
	*rig
	data          string
	owner, waiter string
	guardian      int
	report        *report
}

func (g *rig) newRelay(r *report) (*relay, error) {
	y := &relay{rig: g, report: r, data: g.newDir(), owner: "a:1", waiter: "b:2"}
	if err := g.ok(y.data, "join", "--agent", y.waiter); err != nil {
		return nil, err
	}
	res := g.run(y.data, "try", "--agent", y.owner)
	var had grant
	if err := json.Unmarshal([]byte(res.stdout), &had); err != nil || res.exit != 0 || had.Status != turn.YourTurn {
		return nil, fmt.Errorf("%s wants the turn and is told %v", y.owner, res)
	}
	y.guardian = had.Guardian
	return y, nil
}

// run lets the waiter wait, does what the case wants, and expects it to have been
// told. The guardian of the turn stands still while it ends: its own end would
// wake the waiter as well.
func (y *relay) run(c waitCase) error {
	var w *waiter
	var err error
	if c.soon {
		w, err = y.startWaiter(y.data, c.under, "wait", "--timeout", "60s", "--agent", y.waiter)
		sometime(y.random(), 400*time.Millisecond)
	} else {
		w, err = y.startWait(y.data, c.under, y.waiter)
	}
	if err != nil {
		return err
	}
	defer w.kill()
	if c.before != nil {
		if err := c.before(y, w); err != nil {
			return err
		}
	}
	if c.change != nil {
		err = c.change(y)
	} else {
		if !slices.Contains(y.guardians(y.data), y.guardian) {
			return fmt.Errorf("guardian %d of %s has ended before its turn", y.guardian, y.owner)
		}
		halt(y.guardian)
		defer syscall.Kill(y.guardian, syscall.SIGCONT)
		err = y.assign(c.slow)
	}
	if err == nil && c.after != nil {
		err = c.after(y, w)
	}
	if err != nil {
		return err
	}
	return y.hears(w, c)
}

// hears expects the waiter to have been told what the case says, in time.
func (y *relay) hears(w *waiter, c waitCase) error {
	late, err := w.told(time.Now())
	if err != nil {
		return err
	}
	told := c.told
	if told == nil {
		told = []string{turn.YourTurn}
	}
	if !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(w.stdout+w.stderr, `"`+s+`"`) }) {
		return fmt.Errorf("it was told %v", w.result)
	}
	switch {
	case c.most == 0:
		y.report.wereTold(late)
	case late > c.most:
		return fmt.Errorf("it was told %v late", late.Round(time.Millisecond))
	}
	return nil
}

func (y *relay) assign(slow func(*relay) []string) error {
	var under []string
	if slow != nil {
		under = slow(y)
	}
	r := y.runUnder(y.data, under, "assign", y.waiter, "--status", "s", "--next-action", "n", "--agent", y.owner, "--json")
	if r.exit != 0 {
		return fmt.Errorf("assign: %v", r)
	}
	return nil
}

// mail lets the waiter wait for a message, below other programs, and sends it one
// after a while.
func (y *relay) mail(under []string) error {
	state := y.rig.run(y.data, "events", "--limit", "1", "--agent", "z:9")
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
	sometime(y.random(), 400*time.Millisecond)
	if err := y.ok(y.data, "msg", "send", y.waiter, "hello", "--agent", y.owner); err != nil {
		return err
	}
	return y.hears(w, waitCase{told: []string{"hello"}})
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
