package hooks

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
)

// end records that the session has ended.
func (h *run) end(ctx context.Context) error {
	agent, err := h.agent()
	if h.guest != nil && *h.guest {
		agent, err = h.sessionAgent()
	}
	if err != nil {
		return err
	}
	return h.endSession(ctx, agent, !h.call.GoesOn)
}

// endSession ends the session of an agent: the turns that hooks have taken for it, and its
// membership in rooms of which it knows nothing. quits says that its process ends, too. A session that is
// open in another window goes on there.
func (h *run) endSession(ctx context.Context, agent *listen.Agent, quits bool) error {
	l := agent.Client.Hearing().Listener()
	if h.isInner(agent, l) {
		return nil
	}
	second := h.isSecondWindow(agent, l)
	guest := second && !agent.Client.HoldsIn(agent.Client.Self.Root)
	if agent.Client.LeaveWindow(quits) || second {
		h.endAuto(ctx, agent, true)
		if guest { // what is known of the agent is of the first
			return nil
		}
		var err error
		if !second { // what listens for the agent is that of the first
			err = agent.End(ctx, agent.Session)
		}
		if len(agent.Client.Hearing().Rooms()) > 0 && !agent.Client.IsBesideHolder() { // until a hook of the other window says more
			agent.Note(hearing.Doing{What: turn.ActivityIdle, Since: hearing.Began(agent.Client.Now()), Session: agent.Session})
		}
		return err
	}
	rooms := agent.Client.RoomsHeard()
	if beside := h.leavePlaces(agent.Client.Self.ID); beside || len(rooms) > 0 { // else it has nothing to lose
		h.log(agent.Client.EndSession(quits))
	}
	h.endAuto(ctx, agent, true)
	for _, room := range rooms {
		h.leaveAuto(ctx, room)
	}
	return agent.End(ctx, agent.Session)
}

// endSessionsBefore ends the sessions that were open in the process of one that begins, or in the only
// window of its server, where the harness has one session a process. late reports whether the one that begins
// has itself been replaced by one of them: it ends nothing then. Where a process has several sessions, it ends those that have
// ended once more: their process goes on.
func (h *run) endSessionsBefore(ctx context.Context, agent *listen.Agent) (late bool) {
	root, several := agent.Client.Self.Root, !h.row().Hooks.OneSession
	if several && root == nil {
		return false
	}
	// One that a command of another has started is in a process of its own, although the furthest is taken for it.
	if root != nil && identity.StartedBy(agent.Client.Table, agent.Client.Self.Harness, root, []identity.Process{*root}) {
		return false
	}
	var ids []string
	placed, _ := filepath.Glob(filepath.Join(h.store.Dir(), placesDir, "*", "*"))
	for _, path := range placed {
		ids = append(ids, filepath.Base(path))
	}
	sessions, late := agent.Client.SessionsBefore(ids)
	if several {
		sessions = slices.DeleteFunc(sessions, func(a identity.Agent) bool {
			_, ended := agent.Client.HearingOf(a.ID).Ended()
			return !ended
		})
	} else if late {
		return true
	}
	if root == nil {
		sessions = h.sessionsOfWindow(agent, ids)
	}
	for _, self := range sessions {
		before := &listen.Agent{Client: h.Client(h.store, self)}
		before.Session = before.Client.Hearing().Listener().Session
		h.log(h.endSession(ctx, before, false))
	}
	return false
}

// sessionsOfWindow returns the sessions that a server with one window has open beside that of the agent: its user has left
// them, but for one whose model works, which may have begun the other. Of several windows the harness does not tell.
func (h *run) sessionsOfWindow(agent *listen.Agent, ids []string) []identity.Agent {
	locks := h.row().Hooks.Locks
	if locks == "" {
		return nil
	}
	isOpen, ok := listen.InOneWindow(h.row(), filepath.Join(h.configDir(), locks), h.call.SessionID)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(agent.Client.SessionsBeside(ids, isOpen), func(other identity.Agent) bool {
		return turn.InTurn(agent.Client.HearingOf(other.ID).Activity().What)
	})
}

// goesOn reports whether the hook shows that its session goes on, which may have ended: its user
// has typed a prompt, or it begins again. Where the harness tells neither, every hook does.
func (h *run) goesOn() bool {
	tells := h.row().Hooks.Has(harness.KindSessionStart)
	for _, e := range h.row().Hooks.Events {
		tells = tells || e.Prompt
	}
	return h.call.Prompt || h.call.Kind == harness.KindSessionStart || !tells && h.call.Kind != harness.KindSessionEnd
}

// isLate reports whether the hook comes after the end of its session.
func (h *run) isLate(agent *listen.Agent) bool {
	e, ended := agent.Client.Hearing().Ended()
	return ended && e.Of(agent.Client.Self.Root) && !h.goesOn()
}

// goesOnWith says how a session that has ended may go on.
const goesOnWith = "It goes on with a prompt of its user, or with: tt wait --json"

// refuseLate refuses a write of a session that has ended, where others work.
func (h *run) refuseLate(root string) error {
	return h.finish(payload.Reply{Refuse: "This session has ended, and others work in " + cli.Line(root) +
		", so nothing must be changed there now. " + goesOnWith})
}

// leavePlaces removes all places of a session that ends. It reports whether other sessions work beside it.
func (h *run) leavePlaces(id string) (beside bool) {
	top := filepath.Join(h.store.Dir(), placesDir)
	trees, _ := os.ReadDir(top)
	for _, tree := range trees {
		had := os.Remove(filepath.Join(top, tree.Name(), id)) == nil
		empty := os.Remove(filepath.Join(top, tree.Name())) == nil
		beside = beside || had && !empty
	}
	_ = os.Remove(top)
	return beside
}
