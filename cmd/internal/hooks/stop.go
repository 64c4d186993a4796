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
	agent, err := h.sessionAgent()
	if err == nil && !h.call.Interrupt && h.isGuest(agent) && h.inner { // the turn goes on in the one that has started it
		return errNotTold
	}
	return h.turnEnds(ctx, true, h.endOfTurn)
}

// turnEnds calls then when the agent has ended its turn or, with guards, is about to. The guard may object for a session
// without an id, too, and if then has not answered the hook.
func (h *run) turnEnds(ctx context.Context, guards bool, then func(_ context.Context, _ *listen.Agent, objection string) error) error {
	if h.call.Interrupt {
		return h.ended(ctx, turn.ActivityIdle)
	}
	objection, find := "", h.agent
	if guards {
		objection = h.objection(ctx)
	}
	if objection != "" {
		find = h.sessionAgent
	}
	agent, err := find()
	if err == nil {
		err = then(ctx, agent, objection)
	}
	if objection != "" && !errors.Is(err, errAnswered) {
		return h.finish(payload.Reply{Refuse: objection})
	}
	return err
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
