package hooks

import (
	"cmp"
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
)

const (
	// watchPatience is how long a hook that was run because the wake file has changed waits for the end of the model's
	// turn. The harness ends it a little later.
	watchPatience = 80 * time.Second
	// lookEvery is how often that hook looks whether the turn has ended.
	lookEvery = 500 * time.Millisecond
)

// fileChanged wakes the agent if there is something new, once the turn of the model is
// over. One such hook waits for that, however often the file changes.
func (h *run) fileChanged(ctx context.Context) error {
	agent, err := h.agent()
	if err != nil {
		return err
	}
	path, err := agent.WakePath()
	if err != nil || h.call.Changed != "" && h.call.Changed != path || !h.watches() {
		return err
	}
	l := agent.Client.Hearing().Listener()
	if (l.Session == "" || l.Session == agent.Session) && (l.Armed.IsZero() || !isOf(l.Process, agent)) && !h.isLate(agent) {
		h.log(h.open(ctx, agent, true)) // of several windows it is the one that is left
	}
	wait := agent.Client.Hearing().Dir()
	waits := false
	for start := time.Now(); ; {
		wake, err := agent.DecideWake(ctx, hearing.ByWatch)
		if wake.Text != "" {
			return h.finish(payload.Reply{Wake: wake.Text})
		}
		h.log(err)
		h.remind(agent, wake)
		h.keepPromises(agent, agent.Client.RoomsHeard(), false) // the time for which it was notified may not have come
		again := err != nil || wake.Again                       // soon, and not for ever
		// What the agent was woken for already is left to the next notification.
		putOff := wake.Later > 0 && !agent.Client.Hearing().Listener().PutOff.IsZero() && time.Since(start)+wake.Later <= watchPatience
		switch {
		case !again && !putOff, ctx.Err() != nil:
			return nil
		case waits && time.Since(start) < watchPatience:
		case !waits && wait.Held(hearing.PatientMark): // who has it looks again
			return nil
		case again:
			return agent.Client.StartDetached("hook", proveCommand, "--agent", agent.Client.Self.ID)
		default:
			release, err := wait.Hold(hearing.PatientMark)
			if err != nil {
				return err
			}
			defer release()
			waits = true
		}
		select {
		case <-time.After(min(cmp.Or(wake.Later, lookEvery), lookEvery)): // the turn may end before
		case <-ctx.Done():
			return nil
		}
	}
}
