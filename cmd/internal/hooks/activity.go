package hooks

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/hooks/shell"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity/harness"
)

// noteBefore records what the agent does, as the kind of the hook tells it. What hooks at the
// end of a turn find out they record themselves.
func (h *run) noteBefore() {
	switch h.call.Kind {
	case harness.KindEdit, harness.KindShell, harness.KindContext:
		h.note(turn.ActivityWorking)
	case harness.KindAsks:
		h.note(turn.ActivityAsks)
	}
}

// afterFailure returns what an agent does when its model's turn has failed. A failure that
// goes away with the service's patience is a limit.
func afterFailure(failure string) string {
	failure = strings.ToLower(failure)
	for _, word := range []string{"limit", "overload", "billing", "account", "auth", "server", "quota", "apierror", "api_error", "429", "529", "retry"} {
		if strings.Contains(failure, word) {
			return turn.ActivityLimited
		}
	}
	return turn.ActivityIdle
}

// note records what the agent does, if it is a member of a room. What a subagent does is
// done by its agent.
func (h *run) note(what string) {
	agent, err := h.sessionAgent()
	if err != nil || h.call.SessionID == "" {
		return
	}
	rooms := agent.Client.RoomsHeard()
	if len(rooms) == 0 {
		return
	}
	if h.isGuest(agent) || agent.Client.IsBesideHolder() {
		h.sign(agent, rooms)
		return
	}
	d := hearing.Doing{
		What: what, Since: hearing.Began(agent.Client.Now()), Session: h.call.SessionID, Process: agent.Client.Self.Root,
		StatusFile: cmp.Or(h.call.Transcript, h.statusFile(agent.Client.Self.Root)),
		Stopped:    h.call.Interrupt, Helper: h.call.Subagent, Reply: h.call.Reply,
	}
	if h.call.Prompt { // of a turn that a hook has begun, perhaps
		d.Reply = agent.Client.Hearing().Reply(h.call.SessionID)
	}
	if h.call.Kind == harness.KindAsks || h.call.Kind == harness.KindEdit || h.call.Kind == harness.KindShell {
		d.Tool = h.call.Tool
		switch {
		case h.call.Command != "":
			d.Detail = shell.Summary(h.call.Command, shell.Env{Dir: h.call.Dir, Home: h.Env.Home})
		case len(h.call.Paths) > 0:
			d.Detail = filepath.Base(h.call.Paths[0])
		}
	}
	agent.Note(d)
	h.sign(agent, rooms)
}

// sign records a sign of life of the session in its rooms, unless it has ended.
func (h *run) sign(agent *listen.Agent, rooms []*member.Room) {
	if h.isLate(agent) {
		return
	}
	for _, room := range rooms {
		room.RecordSign()
	}
}
