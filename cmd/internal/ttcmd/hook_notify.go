package ttcmd

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/listen"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/hook"
)

const (
	// byHooks is the way in which news was shown that a hook has printed.
	byHooks = "hook"
	// proveAfter is how long after a harness was told to watch the wake file it is
	// notified for the first time, which shows whether it does.
	proveAfter = 2 * time.Second
	// watchPatience is how long a hook that was run because the wake file has changed
	// waits for the end of the model's turn. The harness ends it a little later.
	watchPatience = 80 * time.Second
	// lookEvery is how often that hook looks whether the turn has ended.
	lookEvery = 3 * time.Second
	// patientFile is held by the hook that waits.
	patientFile = "patient"
)

// proveCommand notifies an agent once, a little later.
var proveCommand = &cli.Command{
	Name:   "hook prove",
	Hidden: true,
	Short:  "notify the caller's own listener",
	Long:   "Waits a moment and notifies what listens for the caller. The hook of a new session starts it, to see whether its harness takes notice.",
	Run: func(ctx context.Context, c *cli.Invocation) error {
		client, err := newClient(c)
		if err != nil {
			return err
		}
		select {
		case <-time.After(proveAfter):
			(&listen.Agent{Client: client}).Notify()
		case <-ctx.Done():
		}
		return nil
	},
}

// notify does what the kinds do that are no guards, and what a stop does besides: objection
// is that of the guard, "" if there is none.
func (h *hookRun) notify(ctx context.Context, store *fsroom.Store, objection string) error {
	if h.call.Subagent || h.call.Busy || h.call.SessionID == "" && objection == "" {
		return nil
	}
	agent, err := h.agent(store)
	if err != nil {
		return err
	}
	switch h.call.Kind {
	case hook.SessionStart, hook.CwdChanged:
		return h.begin(ctx, agent)
	case hook.FileChanged:
		return h.fileChanged(ctx, agent)
	case hook.Context:
		return h.context(ctx, agent)
	case hook.Stop:
		return h.stop(ctx, agent, objection)
	case hook.Listen:
		return h.listen(ctx, agent, objection)
	case hook.SessionEnd:
		return agent.End(ctx, h.call.SessionID)
	}
	return nil
}

// agent returns the agent that the session is to the commands its model runs.
func (h *hookRun) agent(store *fsroom.Store) (*listen.Agent, error) {
	env := *h.c.Env
	env.Lookup = toolEnvironments(h.c.Env.Lookup, h.call)[0]
	table := identity.System()
	self, err := identity.Resolve(identityEnv(&env, h.c.Agent != ""), table, h.c.Agent)
	if err != nil {
		return nil, err
	}
	return &listen.Agent{Client: clientFor(h.c, store, table, self)}, nil
}

// row is what is known of the harness.
func (h *hookRun) row() *harness.Harness { return harness.Get(h.call.Harness) }

// watches reports whether the harness can watch the wake file and wake the agent. One that
// says that it runs a single turn ends with it.
func (h *hookRun) watches() bool {
	return h.row().Hooks.Has(string(hook.FileChanged)) && (h.lasts() || h.c.Env.Lookup(h.row().Hooks.Interactive.Var) == "")
}

// lasts reports whether the session is known to go on after this turn.
func (h *hookRun) lasts() bool {
	kind := h.row().Hooks.Interactive
	return kind.Var == "" || h.c.Env.Lookup(kind.Var) == kind.Value
}

// begin tells the harness what to watch, and the model how things stand. Where there is
// nothing to watch, nothing is recorded for an agent that is in no room.
func (h *hookRun) begin(ctx context.Context, agent *listen.Agent) error {
	var r hook.Reply
	watches := h.watches()
	if watches {
		path, err := agent.WakePath()
		if err != nil {
			return err
		}
		r.Watch = []string{path}
	}
	told := watches
	if watches || len(agent.RoomsToHear()) > 0 {
		if err := h.open(ctx, agent, watches); err != nil {
			return err
		}
		told = h.startListener(agent) || watches
		h.startHearing(agent)
	}
	if h.call.Kind == hook.SessionStart {
		if w, err := locatePath(h.c, h.call.Dir); err == nil {
			r.Context, _ = agent.SessionLine(w, told)
		}
	}
	if err := h.end(r); !errors.Is(err, errAnswered) {
		return err
	}
	if watches {
		_ = agent.StartDetached("hook", "prove", "--agent", agent.Self.ID)
	}
	return errAnswered
}

// open records that the session is open.
func (h *hookRun) open(ctx context.Context, agent *listen.Agent, watches bool) error {
	return agent.Begin(ctx, listen.Session{ID: h.call.SessionID, Process: agent.Self.Root, Watches: watches})
}

// context shows the model what is new. At most uses of a tool that costs a few looks at
// files.
func (h *hookRun) context(ctx context.Context, agent *listen.Agent) error {
	if len(agent.RoomsToHear()) == 0 {
		return nil
	}
	if l := agent.Listener(); l.Session != h.call.SessionID {
		if err := h.open(ctx, agent, false); err != nil {
			return err
		}
	}
	h.startListener(agent)
	h.startHearing(agent)
	if err := agent.SetBusy(ctx, true); err != nil {
		return err
	}
	return h.show(ctx, agent, func(text string) hook.Reply { return hook.Reply{Context: text} })
}

// show prints what was not shown yet as a reply.
func (h *hookRun) show(ctx context.Context, agent *listen.Agent, reply func(text string) hook.Reply) error {
	shown, err := agent.Show(ctx, byHooks, func(text string) error { return h.answer(reply(text)) })
	if err == nil && shown {
		err = errAnswered
	}
	return err
}

// stop lets the agent end its turn, unless the guard objects or the agent would be woken
// at once: then it goes on with what is new.
func (h *hookRun) stop(ctx context.Context, agent *listen.Agent, objection string) error {
	var reason string // beside the news
	if objection != "" {
		reason = objection + "\n"
	} else {
		if err := agent.SetBusy(ctx, false); err != nil { // before it is looked for news
			return err
		}
		if l := agent.Listener(); !l.Armed.IsZero() && !l.Proved() {
			agent.Notify()
		}
		if !hasNews(ctx, agent) {
			return nil
		}
	}
	wake, err := agent.Speak(ctx, byHooks)
	objection = cmp.Or(objection, wake.Text)
	if objection == "" {
		return err
	}
	_ = agent.SetBusy(ctx, true)
	if h.row().Answer.StopMayQuote {
		err := h.show(ctx, agent, func(text string) hook.Reply {
			if reason != "" && !strings.Contains(text, "\n") { // it says the same of the turn
				return hook.Reply{Refuse: objection}
			}
			return hook.Reply{Refuse: reason + text}
		})
		if errors.Is(err, errAnswered) {
			return err
		}
	}
	return h.end(hook.Reply{Refuse: objection})
}

// hasNews reports whether there is news in any room that the agent was not woken for. It
// writes nothing.
func hasNews(ctx context.Context, agent *listen.Agent) bool {
	return slices.ContainsFunc(agent.RoomsToHear(), func(name string) bool {
		n, err := agent.Room(name, nil).News(ctx)
		return err == nil && !n.Fresh.IsZero()
	})
}

// fileChanged wakes the agent if there is something new, once the turn of the model is
// over. One such hook waits for that, however often the file changes.
func (h *hookRun) fileChanged(ctx context.Context, agent *listen.Agent) error {
	path, err := agent.WakePath()
	if err != nil || h.call.Changed != "" && h.call.Changed != path || !h.watches() {
		return err
	}
	wait := agent.ListenerDir()
	waits := false
	for start := time.Now(); ; {
		wake, err := agent.Speak(ctx, member.ByWatch)
		switch {
		case err != nil:
			return err
		case wake.Text != "":
			return h.end(hook.Reply{Wake: wake.Text})
		}
		// What the agent was woken for already is left to the next notification.
		if wake.Later == 0 || agent.Listener().PutOff.IsZero() || time.Since(start)+wake.Later > watchPatience {
			return nil
		}
		if !waits {
			if wait.Held(patientFile) {
				return nil
			}
			release, err := wait.Hold(patientFile)
			if err != nil {
				return err
			}
			defer release()
			waits = true
		}
		select {
		case <-time.After(min(wake.Later, lookEvery)): // the turn may end before
		case <-ctx.Done():
			return nil
		}
	}
}

// startListener starts the process that listens for an agent of a harness with a queue of
// prompts, unless there is one. It reports whether a process listens, or was started to.
func (h *hookRun) startListener(agent *listen.Agent) bool {
	if agent.IsListening() {
		return true
	}
	queue := h.row().Hooks.Queue
	if queue == "" || len(agent.RoomsToHear()) == 0 {
		return false
	}
	if _, err := exec.LookPath(h.row().Program); err != nil {
		return false
	}
	return agent.StartDetached("listen", "--via", queue, "--agent", agent.Self.ID) == nil
}
