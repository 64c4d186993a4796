package hooks

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/turn"
)

// stop runs when the agent is about to end its turn.
func (h *run) stop(ctx context.Context) error {
	if h.call.Interrupt {
		return h.ended(ctx, turn.ActivityIdle)
	}
	if agent, err := h.sessionAgent(); err == nil && h.isGuest(agent) && h.inner { // the turn goes on in the one that has started it
		return errNotTold
	}
	objection := h.objection(ctx)
	agent, err := h.agentAtStop(objection)
	if err == nil {
		err = h.endOfTurn(ctx, agent, objection)
	}
	return h.unless(err, objection)
}

// ended runs when the turn has ended otherwise. Nothing that a hook says would reach the model.
func (h *run) ended(ctx context.Context, what string) error {
	agent, err := h.agent()
	if err == nil {
		h.note(what)
		replaceGuardians(ctx, agent.Client.RoomsHeard())
	}
	return err
}

// fail runs when the turn of the model has ended with an error.
func (h *run) fail(ctx context.Context) error {
	return h.ended(ctx, afterFailure(h.call.Failure))
}

// agentAtStop is agent for the end of a turn. The guard may object for a session without
// an id.
func (h *run) agentAtStop(objection string) (*listen.Agent, error) {
	if objection != "" {
		return h.sessionAgent()
	}
	return h.agent()
}

// endOfTurn lets the agent end its turn, unless the guard objects or the agent would be woken
// at once: then it goes on with what is new.
func (h *run) endOfTurn(ctx context.Context, agent *listen.Agent, objection string) error {
	var reason string // beside the news
	if objection != "" {
		reason = objection + "\n"
	} else {
		h.note(turn.ActivityIdle) // before it is looked for news
		heard := agent.Client.RoomsHeard()
		replaceGuardians(ctx, heard) // nothing else of an idle holder does, and others wait to be called
		for _, room := range heard {
			room.Unwant(true)
		}
		h.keepPromises(agent, heard, true)
		if l := agent.Client.Hearing().Listener(); h.watches() && !l.Proved() {
			agent.Notify()
		}
		if !hasNews(ctx, heard) {
			return nil
		}
	}
	wake, err := agent.DecideWake(ctx, hearing.ByHooks)
	h.remind(agent, wake)
	if reason+wake.Text == "" {
		return err
	}
	h.note(turn.ActivityWorking)
	if h.row().Answer.StopMayQuote {
		err := h.show(ctx, agent, func(text string) payload.Reply { return payload.Reply{Refuse: reason + text} })
		if errors.Is(err, errAnswered) {
			return err
		}
	}
	return h.finish(payload.Reply{Refuse: strings.TrimSuffix(reason+wake.Text, "\n")})
}

// hasNews reports whether there is news in any room that the agent was not woken for. It
// writes nothing.
func hasNews(ctx context.Context, heard []*member.Room) bool {
	return slices.ContainsFunc(heard, func(room *member.Room) bool {
		room.FS.Settled(ctx)
		n, err := mailbox.Of(room).News(ctx, nil)
		return err == nil && !n.Fresh.IsZero()
	})
}
