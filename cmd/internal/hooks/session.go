package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
)

// errNotTold is the error of a hook that tells its agent nothing: a helper inside the
// session asks, or a second window, the agent has not ended its turn, or the session is not known.
var errNotTold = errors.New("the hook is not for the agent")

// agent returns the agent of the session, or errNotTold.
func (h *run) agent() (*listen.Agent, error) {
	if h.call.Subagent || h.call.Busy || h.call.SessionID == "" {
		return nil, errNotTold
	}
	agent, err := h.sessionAgent()
	if err == nil && h.isGuest(agent) {
		return nil, errNotTold
	}
	return agent, err
}

// isSecondWindow reports whether the session is open in another window, too, which was first: that
// one is told of news, and what listens for the agent is that of it.
func (h *run) isSecondWindow(agent *listen.Agent, l hearing.Listener) bool {
	mine, table := agent.Client.Self.Root, agent.Client.Table
	return l.Process != nil && mine != nil && *l.Process != *mine && l.Session == agent.Session &&
		table.Verdict(*l.Process) == identity.Alive && !identity.Related(table, *l.Process, *mine) &&
		!(h.row().Hooks.OneSession && agent.Client.Hearing().IsReplaced(&l))
}

// isInner reports whether a command of the session has resumed it once more, or has started one of another harness, which takes
// itself for the first by its variables: the process of the first is an ancestor of this one.
func (h *run) isInner(agent *listen.Agent, l hearing.Listener) bool {
	self, table := agent.Client.Self, agent.Client.Table
	if self.Source == identity.SourceEnvironment && self.Harness != h.row().Agent {
		return l.Session != "" && l.Session != agent.Session && identity.HasStarted(table, l.Process, []identity.Process{table.Self()})
	}
	return self.Root != nil && l.Session == agent.Session && identity.HasStarted(table, l.Process, []identity.Process{*self.Root})
}

// isGuest reports whether the hook is one of a second window that does not have the turn, or that the first has started: what its
// model does, and its end, says nothing of the agent. It is so from the beginning of the hook to its end.
func (h *run) isGuest(agent *listen.Agent) bool {
	if h.guest == nil {
		l := agent.Client.Hearing().Listener()
		h.inner = h.isInner(agent, l)
		guest := h.inner || h.isSecondWindow(agent, l) && !agent.Client.HoldsIn(agent.Client.Self.Root)
		h.guest = &guest
	}
	return *h.guest
}

// sessionAgent returns the agent that the session is to the commands its model runs.
func (h *run) sessionAgent() (*listen.Agent, error) {
	if h.self == nil { // to look at its process takes most of a hook's time
		self, err := h.resolve(toolEnvironments(h.Env.Lookup, h.call)[0])
		if err != nil {
			return nil, err
		}
		h.self = &self
	}
	return &listen.Agent{Client: h.Client(h.store, *h.self), Dir: h.call.Dir, Session: h.call.SessionID, Prompt: h.call.PromptText,
		Began: h.began}, nil
}

// resolve returns the identity of a process with an environment.
func (h *run) resolve(lookup func(string) string) (identity.Agent, error) {
	env := *h.Env
	env.Lookup = lookup
	return identity.Resolve(session.IdentityEnv(&env, h.AgentID != ""), h.Table, h.AgentID)
}

// row is what is known of the harness.
func (h *run) row() *harness.Harness { return harness.Get(h.call.Harness) }

// watches reports whether the harness can watch the wake file and wake the agent. One that
// says that it runs a single turn ends with it, and who runs the hooks of another one does not know of it.
func (h *run) watches() bool {
	return !h.call.Foreign && h.row().Hooks.Has(harness.KindFileChanged) && (h.lasts() || h.Env.Lookup(h.row().Hooks.Interactive.Var) == "")
}

// isProved reports whether what the hooks of the harness do to wake an agent is known to work: the environment has a
// variable of the harness, so that it has run the hook itself, or it has noticed a notification.
func (h *run) isProved(agent *listen.Agent) bool {
	row := h.row()
	has := func(name string) bool { return name != "" && h.Env.Lookup(name) != "" }
	own := row.PIDVar == "" || has(row.PIDVar) || has(row.Hooks.Interactive.Var) || slices.ContainsFunc(row.SessionVars, has) ||
		slices.ContainsFunc(row.Markers, func(m harness.Marker) bool { return has(m.Var) })
	l := agent.Client.Hearing().Listener()
	return !h.call.Foreign && (own || l.Proved())
}

// lasts reports whether the session is known to go on after this turn.
func (h *run) lasts() bool {
	kind := h.row().Hooks.Interactive
	return kind.Var == "" || h.Env.Lookup(kind.Var) == kind.Value
}

// begin tells the harness what to watch, and the model how things stand. Where there is
// nothing to watch, nothing is recorded for an agent that is in no room.
func (h *run) begin(ctx context.Context) error {
	watches := h.watches()
	agent, err := h.agent()
	second := h.guest != nil && *h.guest
	if second { // it is the only one when the first has ended
		agent, err = h.sessionAgent()
	}
	if err != nil {
		return err
	}
	var r payload.Reply
	if watches {
		path, err := agent.WakePath()
		if err != nil {
			return err
		}
		r.Watch = []string{path}
	}
	if second {
		h.sign(agent, agent.Client.RoomsHeard())
		if w, err := h.Locate(h.call.Dir); err == nil {
			placesIn(w.Root, agent.Client).keep()
		}
		return h.finish(r)
	}
	told := watches && h.isProved(agent)
	if h.call.Kind == harness.KindSessionStart {
		if h.endSessionsBefore(ctx, agent) {
			return nil
		}
		// What another process of it did is over. In this one it goes on, as after its context was made shorter.
		if agent.Client.Hearing().Activity().What == "" || !isOf(agent.Client.Hearing().Listener().Process, agent) {
			h.note(turn.ActivityIdle)
		}
	}
	rooms := agent.Client.RoomsHeard()
	h.sign(agent, rooms)
	replaceGuardians(ctx, rooms) // one may have ended with the session that is resumed
	if watches || len(agent.Client.Hearing().Rooms()) > 0 {
		if err := h.open(ctx, agent, watches); err != nil {
			return err
		}
		told = h.startListener(agent) || told
		h.startHearing(agent)
	}
	if h.call.Kind == harness.KindSessionStart {
		if w, err := h.Locate(h.call.Dir); err == nil {
			others := h.arrive(agent, w)
			if r.Context, _ = agent.SessionLine(ctx, w, told); r.Context == "" {
				r.Context = others
			}
		}
	}
	if err := h.finish(r); !errors.Is(err, errAnswered) {
		return err
	}
	if watches {
		_ = agent.Client.StartDetached("hook", proveCommand, "--agent", agent.Client.Self.ID)
	}
	return errAnswered
}

// configDir returns the directory in which the harness keeps its configuration.
func (h *run) configDir() string {
	return h.installed().Root(h.call.Harness)
}

// statusFile returns the file in which the harness says what its model does, "" if there is
// none.
func (h *run) statusFile(process *identity.Process) string {
	dir := h.row().Hooks.StatusDir
	if dir == "" || process == nil {
		return ""
	}
	return filepath.Join(h.configDir(), dir, strconv.Itoa(int(process.PID))+".json")
}

// version returns the version of the harness as it says in its status file, "" if it does not.
func (h *run) version() string {
	var status struct{ Version string }
	agent, err := h.sessionAgent()
	if err == nil {
		data, _ := os.ReadFile(h.statusFile(agent.Client.Self.Root))
		_ = json.Unmarshal(data, &status)
	}
	return status.Version
}

// open records that the session is open. Of a second window nothing is recorded.
func (h *run) open(ctx context.Context, agent *listen.Agent, watches bool) error {
	if h.isSecondWindow(agent, agent.Client.Hearing().Listener()) {
		return nil
	}
	return agent.Begin(ctx, listen.Session{ID: h.call.SessionID, Process: agent.Client.Self.Root, Watches: watches, Own: h.isProved(agent)})
}
