package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/listen"
)

// Hear returns the command that keeps the wake file of an agent true on this host, see
// [listen.Agent.Hear]. The hooks start it where an engine has the rooms.
func Hear() *cli.Command {
	return &cli.Command{
		Name:   "hook hear",
		Hidden: true,
		Short:  "hear what other hosts do, for the session of a harness",
		Long:   "Keeps the mirrors of the caller's rooms up to date until the session ends, so that its harness is notified. The hooks start it.",
		Run: func(ctx context.Context, c *cli.Invocation) error {
			client, err := newClient(c)
			if err != nil {
				return err
			}
			ctx, stop := onSignal(ctx, endings...)
			defer stop()
			return (&listen.Agent{Client: client}).Hear(ctx)
		},
	}
}

// startHearing starts that command if no process hears for the agent.
func (h *hookRun) startHearing(agent *listen.Agent) {
	if agent.Pull != nil && len(agent.RoomsToHear()) > 0 && !agent.IsListening() && !agent.IsHearing() {
		_ = agent.StartDetached("hook", "hear", "--agent", agent.Self.ID)
	}
}
