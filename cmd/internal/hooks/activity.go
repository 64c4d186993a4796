package hooks

import (
	"errors"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/shell"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity/harness"
)

// activity returns what the agent does, as the kind of the hook tells it; "" if it tells
// nothing.
func (h *run) activity() string {
	switch h.call.Kind {
	case harness.KindEdit, harness.KindShell, harness.KindContext:
		return turn.ActivityWorking
	case harness.KindAsks:
		return turn.ActivityAsks
	case harness.KindFails:
		return afterFailure(h.call.Failure)
	case harness.KindStop:
		if !h.call.Subagent && !h.call.Busy {
			return turn.ActivityIdle
		}
	case harness.KindListen: // where it is the hook at the end of a turn, too
		if h.row().Hooks.Hold && !h.call.Subagent && !h.call.Busy {
			return turn.ActivityIdle
		}
	}
	return ""
}

// afterFailure returns what an agent does when its model's turn has failed. A failure that
// goes away with the service's patience is a limit.
func afterFailure(failure string) string {
	failure = strings.ToLower(failure)
	for _, word := range []string{"limit", "overload", "billing", "account", "auth", "server", "quota", "apierror", "api_error", "429", "529"} {
		if strings.Contains(failure, word) {
			return turn.ActivityLimited
		}
	}
	return turn.ActivityIdle
}

// noteActivity records what the agent does, if it is a member of a room. What a subagent
// does is done by its agent.
func (h *run) noteActivity(what string) {
	if what == "" || h.call.SessionID == "" {
		return
	}
	agent, err := h.sessionAgent()
	if err != nil || len(agent.Hearing().Rooms()) == 0 {
		return
	}
	d := hearing.Doing{What: what, Session: h.call.SessionID, Process: agent.Self.Root}
	if what == turn.ActivityAsks || h.call.Kind == harness.KindEdit || h.call.Kind == harness.KindShell {
		d.Tool, d.Detail = h.call.Tool, hearing.FileDetail(h.call.Paths)
		if h.call.Command != "" {
			d.Detail = shell.Summary(h.call.Command, shell.Env{Dir: h.call.Dir, Home: h.Env.Home})
		}
	}
	_ = agent.Hearing().Note(d, time.Now())
}

// handle runs the handler of the hook, and notes what the agent does. One that was held
// back at the end of its turn goes on.
func (h *run) handle(handler func() error) error {
	what := h.activity()
	h.noteActivity(what)
	err := handler()
	if what == turn.ActivityIdle && errors.Is(err, errAnswered) && h.refused {
		h.noteActivity(turn.ActivityWorking)
	}
	if h.call.Kind == harness.KindSessionEnd {
		if agent, err := h.agent(); err == nil {
			_ = agent.Hearing().Forget(h.call.SessionID)
		}
	}
	return err
}
