package hooks

import (
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
)

const (
	// watchPatience is how long a hook that was run because the wake file has changed
	// waits for the end of the model's turn. The harness ends it a little later.
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
	wait := agent.Hearing().Dir()
	waits := false
	for start := time.Now(); ; {
		wake, err := agent.Speak(ctx, hearing.ByWatch)
		switch {
		case err != nil:
			return err
		case wake.Text != "":
			return h.finish(payload.Reply{Wake: wake.Text})
		}
		// What the agent was woken for already is left to the next notification.
		if wake.Later == 0 || agent.Hearing().Listener().PutOff.IsZero() || time.Since(start)+wake.Later > watchPatience {
			return nil
		}
		if !waits {
			if wait.Held(hearing.PatientMark) {
				return nil
			}
			release, err := wait.Hold(hearing.PatientMark)
			if err != nil {
				return err
			}
			defer release()
			waits = true
		}
		select {
		case <-time.After(min(wake.Later, lookEvery)): // the turn may end before
		case <-ctx.Done():
			return nil
		}
	}
}
