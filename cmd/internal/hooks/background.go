package hooks

import (
	"cmp"
	"context"
	"os/exec"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/identity"
)

// The hidden commands that hooks start: they go on after the hook.
const (
	proveCommand = "prove" // [Prove]
	hearCommand  = "hear"  // [listen.Agent.Hear]
)

// proveAfter is how long after a harness was told to watch the wake file it is notified for the first time, which
// shows whether it does; and how long after its hook could not find out what is new it is notified again.
const proveAfter = 2 * time.Second

// Prove notifies an agent once: a little later, and until then nothing else needs to look again for the harness; or
// after the time after, if that is not 0 and its harness lives.
func Prove(ctx context.Context, client *member.Client, after time.Duration) {
	agent := &listen.Agent{Client: client}
	if !agent.Client.Hearing().IsKnown() {
		return
	}
	mark := hearing.PatientMark
	if after != 0 {
		mark = hearing.BudgetMark
	}
	release, err := agent.Client.Hearing().Dir().Hold(mark)
	if err != nil {
		return
	}
	ended, stop := agent.HarnessEnd()
	defer stop()
	select {
	case <-time.After(cmp.Or(after, proveAfter)):
	case <-ended:
	case <-ctx.Done():
	}
	release()
	agent.Notify()
}

// remind lets an agent be notified when it may be woken again for what is due, where nothing of tt runs meanwhile.
func (h *run) remind(agent *listen.Agent, w listen.Wake) {
	if w.Spent {
		h.notifyAfter(agent.Client, agent.Client.Self.ID, w.Later)
	}
}

// notifyAfter notifies an agent after a time; the session's own only if its harness watches the wake file.
func (h *run) notifyAfter(client *member.Client, id string, after time.Duration) {
	if (id != client.Self.ID || h.watches()) && !client.HearingOf(id).Dir().Held(hearing.BudgetMark) {
		h.log(client.StartDetached("hook", proveCommand, "--after", (after.Truncate(time.Millisecond) + time.Millisecond).String(), "--agent", id))
	}
}

// startHearing starts the process that hears what other hosts do, if none does so for the
// agent.
func (h *run) startHearing(agent *listen.Agent) {
	if agent.Client.Pull != nil && len(agent.Client.Hearing().Rooms()) > 0 && !agent.Client.Hearing().IsListening() && !agent.IsHearing() {
		_ = agent.Client.StartDetached("hook", hearCommand, "--agent", agent.Client.Self.ID)
	}
}

// startListener starts the process that listens for an agent of a harness with a queue of
// prompts, unless there is one. What wakes a session is its own program, which need not be on the PATH. It reports whether a process listens, or was started to.
func (h *run) startListener(agent *listen.Agent) bool {
	if agent.Client.Hearing().IsListening() {
		return true
	}
	queue := h.row().Hooks.Queue
	if queue == "" || len(agent.Client.Hearing().Rooms()) == 0 || h.isGuest(agent) {
		return false
	}
	program := identity.ProgramOf(h.Table, h.row())
	if program == "" {
		program, _ = exec.LookPath(h.row().Program)
	}
	if program == "" {
		agent.CannotWake(h.row().Program + " is not on the PATH, and the session's own is not known")
		return false
	}
	return agent.Client.StartDetached("listen", "--via", queue, "--program", program, "--agent", agent.Client.Self.ID) == nil
}
