package hooks

import (
	"context"

	"github.com/talking-stick/tt/identity/harness"
)

// provesRequest reports whether the hook shows that the model was asked since the hook
// before: it uses a tool, or has ended its turn. A prompt that the user types proves
// nothing, since the one before may have been cancelled, and neither does a turn that has
// failed or was stopped.
func (h *run) provesRequest() bool {
	switch h.call.Kind {
	case harness.KindEdit, harness.KindShell, harness.KindAsks:
		return true
	case harness.KindContext:
		return !h.call.Prompt
	case harness.KindStop, harness.KindListen:
		return !h.call.Interrupt
	}
	return false
}

// dropped reports whether a turn that a hook has begun ends without a request to the model:
// its user has ended it before, of which Gemini CLI tells no hook. Then the model has said and
// used nothing since.
func (h *run) dropped() bool {
	if !h.call.Repeated || h.call.Reply == 0 {
		return false
	}
	agent, err := h.agent()
	return err == nil && agent.Client.Hearing().Reply(h.call.SessionID) == h.call.Reply
}

// confirm records that what was printed to the session was shown to its model. If that
// fails, it is said again.
func (h *run) confirm(ctx context.Context) {
	if agent, err := h.agent(); err == nil {
		h.log(agent.Confirm(ctx))
	}
}
