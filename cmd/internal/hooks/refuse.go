package hooks

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
)

// edit refuses a write while another agent has the stick.
func (h *run) edit(ctx context.Context) error {
	if h.call.Command != "" {
		return h.shell(ctx)
	}
	var reason string
	var writes []guard.Write
	var take *guard.Stick
	for again := true; again; {
		rooms := h.rooms()
		reason, writes, take = guard.Edit(ctx, h.call, rooms)
		if reason != "" && h.looksAgain() {
			continue
		}
		if reason != "" {
			return h.finish(payload.Reply{Refuse: cli.Line(reason)})
		}
		var err error
		if again, err = h.comeBack(ctx, rooms); err != nil {
			return err
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
	kept := err == nil && !h.call.Interrupt && !h.call.Task && h.endAuto(ctx, agent, false)
	reason := guard.Stop(ctx, h.call, h.rooms(), told(h.store.Dir()), h.heldByHand(agent)...)
	switch {
	case kept && reason == "": // nothing says so to the agent, as of a turn whose lease has run out
		h.endAuto(ctx, agent, true)
	case kept:
		reason += ". Or stop again: it is handed over with the list of files"
	}
	return cli.Line(reason)
}

// heldByHand returns the directories of the rooms whose turn a command has taken for the agent, nil for none.
func (h *run) heldByHand(agent *listen.Agent) (dirs []string) {
	if agent == nil {
		return nil
	}
	for _, room := range agent.Client.RoomsHeard() {
		if snap, err := room.FS.View(); err == nil && snap.State.Owner == agent.Client.Self.ID && !room.IsAuto(snap.State) {
			dirs = append(dirs, room.Path(snap.State))
		}
	}
	return dirs
}

// unless objects if the hook has not answered, as err says.
func (h *run) unless(err error, objection string) error {
	if objection != "" && !errors.Is(err, errAnswered) {
		return h.finish(payload.Reply{Refuse: objection})
	}
	return err
}

// told remembers what was said to each session.
func told(dataDir string) guard.SeenStore {
	return guard.SeenStore{Dir: filepath.Join(dataDir, "told")}
}
