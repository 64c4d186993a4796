package hooks

import (
	"context"
	"errors"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity/harness"
)

// holdLimit is how long a hook holds the end of a turn. The harness ends it a little
// later.
const holdLimit = 30 * time.Minute

// SupersedePatience is how long a hook that holds waits for the one before to end. Tests allow more.
var SupersedePatience = 2 * time.Second

// await runs when the agent has ended its turn, and waits for news. A harness that has no
// better way holds the end of the turn meanwhile: then the hook is the stop guard, too.
func (h *run) await(ctx context.Context) error {
	return h.turnEnds(ctx, h.row().Hooks.Hold, h.awaitNews)
}

// awaitNews waits in the background where the harness lets it, else it holds the end of
// the turn.
func (h *run) awaitNews(ctx context.Context, agent *listen.Agent, objection string) error {
	ctx, stop := h.UntilSignal(ctx)
	defer stop()
	how := hearing.ByHook
	if h.row().Hooks.Hold {
		how = hearing.ByHold
		if err := h.endOfTurn(ctx, agent, objection); err != nil {
			return err
		}
	}
	if len(agent.Client.Hearing().Rooms()) == 0 {
		return nil
	}
	switch {
	case how == hearing.ByHold:
		h.supersede(ctx, agent)
		limited, cancel := context.WithTimeout(ctx, holdLimit)
		defer cancel()
		ctx = limited
	case !h.row().Hooks.Has(harness.KindListen), h.call.Foreign, !h.lasts():
		return nil
	}
	if l := agent.Client.Hearing().Listener(); how == hearing.ByHook && (agent.Client.Hearing().IsListening() || l.Proved()) {
		return nil
	}
	var said error
	err := agent.Run(ctx, listen.Transport{How: how, Once: true, Deliver: func(_ context.Context, w listen.Wake) error {
		if how == hearing.ByHold {
			h.note(turn.ActivityWorking)
		}
		if said = h.finish(payload.Reply{Wake: w.Text}); !errors.Is(said, errAnswered) && !errors.Is(said, errWakes) {
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
func (h *run) supersede(ctx context.Context, agent *listen.Agent) {
	if !agent.Client.Hearing().IsListening() {
		return
	}
	h.note(turn.ActivityWorking)
	for start := time.Now(); agent.Client.Hearing().IsListening() && time.Since(start) < SupersedePatience; {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
	h.note(turn.ActivityIdle)
}
