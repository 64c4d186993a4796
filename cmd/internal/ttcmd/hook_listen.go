package ttcmd

import (
	"context"
	"errors"
	"time"

	"github.com/talking-stick/tt/cmd/internal/listen"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/skills/hook"
)

const (
	// holdLimit is how long a hook holds the end of a turn. The harness ends it a little
	// later.
	holdLimit = 30 * time.Minute
	// supersedePatience is how long a hook that holds waits for the one before to end.
	supersedePatience = 2 * time.Second
	// stayVar is the variable that, set to 1, lets a session of Claude Code that runs a
	// single turn stay until there is news.
	stayVar = "TT_STAY"
)

// listen waits for news in a hook: in the background where the harness lets it, else it
// holds the end of the turn.
func (h *hookRun) listen(ctx context.Context, agent *listen.Agent, objection string) error {
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	how := member.ByHook
	if h.row().Hooks.Hold {
		how = member.ByHold
		if err := h.stop(ctx, agent, objection); err != nil {
			return err
		}
	}
	if len(agent.RoomsToHear()) == 0 {
		return nil
	}
	switch {
	case how == member.ByHold:
		h.supersede(ctx, agent)
		limited, cancel := context.WithTimeout(ctx, holdLimit)
		defer cancel()
		ctx = limited
	case !h.row().Hooks.Has(string(hook.Listen)), !h.lasts() && h.c.Env.Lookup(stayVar) != "1", agent.Listens() != "":
		return nil
	}
	var said error
	err := agent.Run(ctx, listen.Transport{How: how, Once: true, Deliver: func(_ context.Context, w listen.Wake) error {
		if said = h.end(hook.Reply{Wake: w.Text}); !errors.Is(said, errAnswered) && !errors.Is(said, errWakes) {
			return said
		}
		return nil
	}})
	if err == nil {
		err = said
	}
	return err
}

// supersede ends the hook that holds an earlier end of a turn: there is one at most.
func (h *hookRun) supersede(ctx context.Context, agent *listen.Agent) {
	if !agent.IsListening() {
		return
	}
	_ = agent.SetBusy(ctx, true)
	for start := time.Now(); agent.IsListening() && time.Since(start) < supersedePatience; {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
	_ = agent.SetBusy(ctx, false)
}
