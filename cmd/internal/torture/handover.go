//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A handover is a room in which the owner has the turn and the waiter waits for it.
type handover struct {
	*env
	data     string
	guardian int
	report   *report
}

const (
	owner  = "a:1"
	waiter = "b:2"
)

func (e *env) newHandover(r *report) (*handover, error) {
	h := &handover{env: e, report: r, data: e.newDir()}
	if err := e.ok(h.data, "join --agent "+waiter); err != nil {
		return nil, err
	}
	res := e.run(h.data, "try", "--agent", owner)
	var g grant
	if err := json.Unmarshal([]byte(res.stdout), &g); err != nil || res.exit != 0 || g.Status != turn.YourTurn {
		return nil, fmt.Errorf("%s wants the turn: %v", owner, res)
	}
	h.guardian = g.Guardian
	return h, nil
}

// run starts the wait, makes the change of the case, and expects the wait to have
// returned. The guardian of the turn is stopped while the turn ends: its own end
// would wake the waiter as well.
func (h *handover) run(c waitCase) error {
	w, err := h.start(h.data, c.under, "wait", "--timeout", "60s", "--agent", waiter)
	if err != nil {
		return err
	}
	defer w.kill()
	if c.early {
		sleepUpTo(h.random(), 400*time.Millisecond)
	} else {
		if !eventually(20*time.Second, func() bool { return w.isOver() || h.isWaiting() }) {
			return fmt.Errorf("%s did not come to wait", waiter)
		}
		time.Sleep(10 * time.Millisecond) // from the mark to the sleep
	}
	if c.stopped {
		if err := w.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
	}
	if c.before != nil {
		if err := c.before(h); err != nil {
			return err
		}
	}
	if c.change == nil {
		if !slices.Contains(h.guardians(h.data), h.guardian) {
			return fmt.Errorf("guardian %d of %s has ended before its turn", h.guardian, owner)
		}
		halt(h.guardian)
		defer syscall.Kill(h.guardian, syscall.SIGCONT)
		c.change = func(h *handover) error { return h.assign(c.slow) }
	}
	if err := c.change(h); err != nil {
		return err
	}
	if c.stopped {
		_ = w.Process.Signal(syscall.SIGCONT)
	}
	return h.expect(w, c)
}

// isWaiting reports whether the room shows that the waiter waits.
func (h *handover) isWaiting() bool {
	var state struct {
		Members []struct {
			ID      string `json:"agent_id"`
			Waiting bool
		}
	}
	_ = json.Unmarshal([]byte(h.env.run(h.data, "state", "--agent", "z:9").stdout), &state)
	for _, m := range state.Members {
		if m.ID == waiter {
			return m.Waiting
		}
	}
	return false
}

// expect expects the waiter to return in time and to print what the case says.
func (h *handover) expect(w *background, c waitCase) error {
	since := time.Now()
	select {
	case <-w.over:
	case <-time.After(10 * time.Second):
		return fmt.Errorf("it still waits after 10 seconds")
	}
	if c.printed == nil {
		c.printed = []string{turn.YourTurn}
	}
	if !slices.ContainsFunc(c.printed, func(s string) bool { return strings.Contains(w.result.stdout+w.result.stderr, `"`+s+`"`) }) {
		return fmt.Errorf("it printed %v", w.result)
	}
	late := w.ended.Sub(since)
	switch {
	case c.most == 0:
		h.report.woken(late)
	case late > c.most:
		return fmt.Errorf("it was woken %v late", late.Round(time.Millisecond))
	}
	return nil
}

func (h *handover) assign(slow func(*handover) []string) error {
	var under []string
	if slow != nil {
		under = slow(h)
	}
	if r := h.runUnder(h.data, under, strings.Fields("assign "+waiter+" --agent "+owner+handoff)...); r.exit != 0 {
		return fmt.Errorf("assign: %v", r)
	}
	return nil
}

// mail waits for a message, below other programs, and sends one after a while.
func (h *handover) mail(under []string) error {
	events := h.env.run(h.data, "events", "--limit", "1", "--agent", "z:9")
	var last struct {
		Seq int64 `json:"cursor_event_seq"`
	}
	if err := json.Unmarshal([]byte(events.stdout), &last); err != nil {
		return fmt.Errorf("events: %v", events)
	}
	w, err := h.start(h.data, under, "msg", "recv", "--wait", "--after", strconv.FormatInt(last.Seq, 10), "--timeout", "60s", "--agent", waiter)
	if err != nil {
		return err
	}
	defer w.kill()
	sleepUpTo(h.random(), 400*time.Millisecond)
	if err := h.ok(h.data, "msg send "+waiter+" hello --agent "+owner); err != nil {
		return err
	}
	return h.expect(w, waitCase{printed: []string{"hello"}})
}

// talk sends a number of messages.
func (h *handover) talk(times int) error {
	for range times {
		if err := h.ok(h.data, "msg send room x --agent "+owner); err != nil {
			return err
		}
	}
	return nil
}
