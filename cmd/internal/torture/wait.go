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

// slowAppend delays by half a second the write of a line to the journal.
func slowAppend(h *handover) []string {
	room, err := h.room(h.data)
	if err != nil {
		return nil
	}
	const calls = "write,pwrite64"
	return strace("-e", "trace="+calls, "-e", "inject="+calls+":delay_enter=500ms", "-o", "/dev/null", "-P", room.JournalPath())
}

// A handover is a room in which the owner has the turn and the waiter waits for it.
type handover struct {
	*env
	data     string
	guardian int
}

const (
	owner  = "a:1"
	waiter = "b:2"
)

func (e *env) newHandover() (*handover, error) {
	h := &handover{env: e, data: e.newDir()}
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

// run starts the wait, hands over the turn with a command below slow, and returns how late the
// wait has returned. The guardian of the turn is stopped while the turn ends: its own end would wake
// the waiter as well.
func (h *handover) run(slow func(*handover) []string) (late time.Duration, err error) {
	w, err := h.start(h.data, nil, "wait", "--timeout", "60s", "--agent", waiter)
	if err != nil {
		return 0, err
	}
	defer w.kill()
	if !eventually(20*time.Second, func() bool { return w.over.closed() || h.isWaiting() }) {
		return 0, fmt.Errorf("%s did not come to wait", waiter)
	}
	time.Sleep(10 * time.Millisecond) // from the mark to the sleep
	if !slices.Contains(guardians(h.data), h.guardian) {
		return 0, fmt.Errorf("guardian %d of %s has ended before its turn", h.guardian, owner)
	}
	halt(h.guardian)
	defer syscall.Kill(h.guardian, syscall.SIGCONT)
	var under []string
	if slow != nil {
		under = slow(h)
	}
	if r := h.runUnder(h.data, under, strings.Fields("assign "+waiter+" --agent "+owner+handoff)...); r.exit != 0 {
		return 0, fmt.Errorf("assign: %v", r)
	}
	since := time.Now()
	select {
	case <-w.over.done:
	case <-time.After(10 * time.Second):
		return 0, fmt.Errorf("it still waits after 10 seconds")
	}
	if !strings.Contains(w.outcome.stdout, `"`+turn.YourTurn+`"`) {
		err = fmt.Errorf("it printed %v", w.result())
	}
	return w.outcome.ended.Sub(since), err
}

// isWaiting reports whether the room shows that the waiter waits.
func (h *handover) isWaiting() bool {
	return strings.Contains(h.env.run(h.data, "state", "--agent", "z:9").stdout, `"waiting":true`)
}
