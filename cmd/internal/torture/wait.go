//go:build linux

package torture

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A waitCase is a way in which a waiter may fail to be woken when the turn is handed
// to it. Unless the case says otherwise it is woken promptly.
type waitCase struct {
	name    string
	under   []string                 // programs below which the waiter runs
	slow    func(*handover) []string // and those below which the owner runs
	early   bool                     // the turn is handed over while the waiter is about to sleep
	stopped bool                     // the waiter is stopped while others talk and during the handover
	most    time.Duration            // how late it may be, where nobody can wake it
	long    bool                     // takes many seconds
}

// safetyPoll is how soon a waiter looks that nobody wakes.
const safetyPoll = 6 * time.Second

// inject is strace that does something to calls.
func inject(calls, what string) []string {
	return strace("-e", "trace="+calls, "-e", "inject="+calls+":"+what, "-o", "/dev/null")
}

func waitCases() []waitCase {
	slow := func(calls, what string) func(*handover) []string {
		return func(*handover) []string { return inject(calls, what) }
	}
	cases := []waitCase{
		{name: "a waiter that is stopped", stopped: true},
		{name: "a waiter on a slow disk", under: inject("fsync,fdatasync", "delay_exit=500ms"), most: safetyPoll},
		{name: "a writer on a slow disk", slow: slow("fsync,fdatasync", "delay_exit=500ms")},
		{name: "a writer that is slow to begin", slow: slowAppend},
		{name: "a writer that holds the lock for longer than anybody waits", long: true, most: safetyPoll, slow: slow("fdatasync", "delay_enter=12s")},
	}
	for _, call := range []string{"flock", "utimensat", "write", "fdatasync", "fsync", "renameat"} {
		cases = append(cases, waitCase{name: "a writer delayed at its " + call, slow: slow(call, "delay_enter=1500ms:when=1")})
	}
	for _, how := range []string{"inotify_add_watch:delay_exit=200ms", "inotify_add_watch:delay_enter=200ms", "inotify_init1:delay_exit=200ms",
		"inotify_init1:error=EMFILE", "inotify_init1:error=ENFILE", "inotify_init1:error=ENOSYS", "inotify_add_watch:error=ENOSPC",
		"inotify_add_watch:error=ENOMEM", "inotify_add_watch:error=EACCES", "inotify_rm_watch:error=EINVAL"} {
		call, what, _ := strings.Cut(how, ":")
		cases = append(cases, waitCase{name: "a waiter with " + how, early: strings.HasPrefix(what, "delay"), under: inject(call, what)})
	}
	return cases
}

// waits breaks and floods what wakes waiters, and stops waiters and those they
// wait for.
func waits(e *env, r *report) {
	var runs []func()
	for _, c := range waitCases() {
		if c.long && e.size < long {
			continue
		}
		for range e.pick(2, 40) {
			runs = append(runs, func() {
				r.add(1, 0, 0)
				r.check(c.name, e.waitCase(r, c))
			})
		}
	}
	atOnce(4, runs)
	r.judgeLateness()
}

func (e *env) waitCase(r *report, c waitCase) error {
	h, err := e.newHandover(r)
	if err != nil {
		return err
	}
	defer remove(h.data)
	if err := h.run(c); err != nil {
		return err
	}
	return e.mended(h.data)
}

// slowAppend delays by half a second the write of a line to the journal.
func slowAppend(h *handover) []string {
	room, err := h.room(h.data)
	if err != nil {
		return nil
	}
	return append(inject("write,pwrite64", "delay_enter=500ms"), "-P", room.JournalPath())
}

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

// run starts the wait, hands over the turn, and expects the wait to have returned.
// The guardian of the turn is stopped while the turn ends: its own end would wake
// the waiter as well.
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
		w.signal(syscall.SIGSTOP)
		if err := h.ok(h.data, slices.Repeat([]string{"msg send room x --agent " + owner}, 30)...); err != nil {
			return err
		}
	}
	if !slices.Contains(guardians(h.data), h.guardian) {
		return fmt.Errorf("guardian %d of %s has ended before its turn", h.guardian, owner)
	}
	halt(h.guardian)
	defer syscall.Kill(h.guardian, syscall.SIGCONT)
	var under []string
	if c.slow != nil {
		under = c.slow(h)
	}
	if r := h.runUnder(h.data, under, strings.Fields("assign "+waiter+" --agent "+owner+handoff)...); r.exit != 0 {
		return fmt.Errorf("assign: %v", r)
	}
	since := time.Now()
	w.signal(syscall.SIGCONT)
	select {
	case <-w.over:
	case <-time.After(10 * time.Second):
		return fmt.Errorf("it still waits after 10 seconds")
	}
	late := w.outcome.ended.Sub(since)
	switch {
	case !strings.Contains(w.outcome.stdout, `"`+turn.YourTurn+`"`):
		return fmt.Errorf("it printed %v", w.result())
	case c.most == 0:
		h.report.woken(late)
	case late > c.most:
		return fmt.Errorf("it was woken %v late", late.Round(time.Millisecond))
	}
	return nil
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
