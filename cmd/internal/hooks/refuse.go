package hooks

import (
	"context"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
)

// edit refuses a write while another agent has the stick.
func (h *run) edit(ctx context.Context) error {
	if h.call.Command != "" {
		return h.shell(ctx)
	}
	return h.permit(ctx, func(rooms *rooms) (string, []guard.Write, *guard.Stick) {
		reason, writes, take := guard.Edit(ctx, h.call, rooms)
		return cli.Line(reason), writes, take
	})
}

// permit refuses what a tool is about to do for the reason that judge returns, and else has recorded what it writes, and takes
// the turn that it has to have.
func (h *run) permit(ctx context.Context, judge func(*rooms) (reason string, writes []guard.Write, take *guard.Stick)) error {
	var writes []guard.Write
	var take *guard.Stick
	for again := true; again; {
		var reason string
		rooms := h.rooms()
		reason, writes, take = judge(rooms)
		if reason != "" && h.looksAgain() {
			continue
		}
		if reason != "" {
			return h.finish(payload.Reply{Refuse: reason})
		}
		reads := h.call.Command != "" && len(rooms.sticks) == 0
		var err error
		if again, err = h.comeBack(ctx, rooms); err != nil {
			return err
		}
		if rooms.auto != nil && reads && !h.keepsPlace() {
			_, _ = rooms.Stick(ctx, h.call.Dir, h.call) // takes a place
		}
	}
	h.recordBefore(ctx, writes)
	if take != nil {
		return h.take(ctx, take)
	}
	return nil
}

// objection returns the reason why the agent must not end its turn, "" if there is none.
func (h *run) objection(ctx context.Context) string {
	agent, err := h.agent()
	var kept bool
	var byHand []string
	if err == nil {
		kept, byHand = h.endAuto(ctx, agent, false)
	}
	reason := guard.Stop(ctx, h.call, h.rooms(), told(h.store.Dir()), byHand...)
	switch {
	case kept && reason == "": // nothing says so to the agent, as of a turn whose lease has run out
		h.endAuto(ctx, agent, true)
	case kept:
		reason += ". Or stop again: it is handed over with the list of files"
	}
	return cli.Line(reason)
}

// told remembers what was said to each session.
func told(dataDir string) guard.SeenStore {
	return guard.SeenStore{Dir: filepath.Join(dataDir, "told")}
}
