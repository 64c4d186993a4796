package hooks

import (
	"context"
	"os/exec"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/member"
)

// The hidden commands that hooks start: they go on after the hook.
const (
	proveCommand = "prove" // [Prove]
	hearCommand  = "hear"  // [listen.Agent.Hear]
)

// proveAfter is how long after a harness was told to watch the wake file it is
// notified for the first time, which shows whether it does; and how long after its hook
// could not find out what is new it is notified again.
const proveAfter = 2 * time.Second

// Prove notifies an agent once, a little later. Until then nothing else needs to look again
// for the harness.
func Prove(ctx context.Context, client *member.Client) {
	agent := &listen.Agent{Client: client}
	if !agent.Client.Hearing().IsKnown() {
		return
	}
	release, err := agent.Client.Hearing().Dir().Hold(hearing.PatientMark)
	if err != nil {
		return
	}
	select {
	case <-time.After(proveAfter):
	case <-ctx.Done():
	}
	release()
	agent.Notify()
}

// startHearing starts the process that hears what other hosts do, if none does so for the
// agent.
func (h *run) startHearing(agent *listen.Agent) {
	if agent.Client.Pull != nil && len(agent.Client.Hearing().Rooms()) > 0 && !agent.Client.Hearing().IsListening() && !agent.IsHearing() {
		_ = agent.Client.StartDetached("hook", hearCommand, "--agent", agent.Client.Self.ID)
	}
}

// startListener starts the process that listens for an agent of a harness with a queue of
// prompts, unless there is one. It reports whether a process listens, or was started to.
func (h *run) startListener(agent *listen.Agent) bool {
	if agent.Client.Hearing().IsListening() {
		return true
	}
	queue := h.row().Hooks.Queue
	if queue == "" || len(agent.Client.Hearing().Rooms()) == 0 {
		return false
	}
	if _, err := exec.LookPath(h.row().Program); err != nil {
		return false
	}
	return agent.Client.StartDetached("listen", "--via", queue, "--agent", agent.Client.Self.ID) == nil
}
