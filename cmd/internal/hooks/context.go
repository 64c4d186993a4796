package hooks

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/identity"
)

// context shows the model what is new. At most uses of a tool that costs a few looks at
// files.
func (h *run) context(ctx context.Context) error {
	agent, err := h.agent()
	if err != nil {
		return err
	}
	if len(agent.Client.Hearing().Rooms()) == 0 {
		return nil
	}
	if l := agent.Client.Hearing().Listener(); l.Session != h.call.SessionID || !isOf(l.Process, agent) {
		if err := h.open(ctx, agent, false); err != nil {
			return err
		}
	}
	told := !agent.Client.Hearing().IsListening() && h.startListener(agent)
	h.startHearing(agent)
	replaceGuardians(ctx, agent.Client.RoomsHeard())
	if h.call.Mute {
		return nil
	}
	err = h.show(ctx, agent, func(text string) payload.Reply { return payload.Reply{Context: text} })
	if err != nil || !told {
		return err
	}
	// It has just joined, and need not wait.
	w, err := h.Locate(h.call.Dir)
	if err != nil {
		return err
	}
	line, err := agent.SessionLine(ctx, w, true)
	if err != nil || line == "" {
		return err
	}
	return h.finish(payload.Reply{Context: line})
}

// isOf reports whether the process of a listener is that of the agent, as far as both are known: the
// first of two windows may have ended.
func isOf(process *identity.Process, agent *listen.Agent) bool {
	return process == nil || agent.Client.Self.Root == nil || *process == *agent.Client.Self.Root
}

// show prints what was not shown yet as a reply.
func (h *run) show(ctx context.Context, agent *listen.Agent, reply func(text string) payload.Reply) error {
	shown, err := agent.Show(ctx, hearing.ByHooks, func(text string) error { return h.answer(reply(text)) })
	if err == nil && shown {
		err = errAnswered
	}
	return err
}

// replaceGuardians starts a guardian for each turn of an agent whose own has ended.
func replaceGuardians(ctx context.Context, heard []*member.Room) {
	for _, room := range heard {
		if snap, err := room.FS.Known(); err == nil {
			room.ReplaceGuardian(ctx, snap.State, true)
		}
	}
}
