package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
)

// A Command is the command that a harness has called, as far as a hook needs it.
type Command struct {
	Env       *cli.Env
	AgentID   string // that --agent names; "" if it was not given
	Table     identity.Table
	Print     func(text string) error
	OpenStore func() (*fsroom.Store, error) // in which the rooms of an engine are as this host knows them
	OpenAll   func() (*fsroom.Store, error) // in which they can be changed
	Locate    func(path string) (*workspace.Workspace, error)
	Client    func(*fsroom.Store, identity.Agent) *member.Client
	// RecordAlone takes a snapshot of a tree that has no room, as Before of a [member.Recorder] does of one that has.
	RecordAlone func(ctx context.Context, store *fsroom.Store, root, destroys string)
	// UntilSignal returns a context that ends with a signal that asks the process to end.
	UntilSignal func(context.Context) (context.Context, context.CancelFunc)
}

// A run is one run of a hook.
type run struct {
	Command
	call   payload.Call
	store  *fsroom.Store
	self   *identity.Agent // that the session is to its tools; nil: not known yet
	stderr io.Writer
	began  time.Time
	lost   int   // how often a guard looked again
	again  bool  // a guard has to look again: a turn has ended meanwhile
	guest  *bool // see isGuest; nil: not known yet
	inner  bool  // the guest is that of isInner
}

// The errors that end a hook which has given its answer.
var (
	errAnswered = errors.New("the hook has answered")
	errWakes    = errors.New("the agent is woken")
)

// Patience is how long a hook waits for a lock. A harness waits for the hook meanwhile, and what it
// could not say is said by a later one.
const Patience = 300 * time.Millisecond

// Run runs a hook of a kind for the harness that is called name, and returns the exit
// status. It never fails, and writes nothing on standard error but what wakes an agent: a
// hook that cannot find out must not stop anybody, nor start a turn of a model.
func Run(ctx context.Context, c Command, name string, kind harness.Kind) (status int) {
	id, err := harness.Parse(name)
	if err != nil {
		return 0
	}
	h := run{Command: c, call: payload.Call{Harness: id, Kind: kind}, stderr: c.Env.Stderr, began: time.Now()}
	c.Env.Stderr = io.Discard
	defer func() {
		if cause := recover(); cause != nil {
			h.log(fmt.Errorf("panic: %v", cause))
			status = 0
		}
	}()
	err = h.run(ctx)
	h.log(err)
	switch {
	case errors.Is(err, errWakes):
		return 2
	case !errors.Is(err, errAnswered):
		_ = h.answer(payload.Reply{})
	}
	return 0
}

// run returns errAnswered or errWakes if the hook has given its answer, and anything else
// if it has nothing to say.
func (h *run) run(ctx context.Context) (err error) {
	// The store first: the program that has its engine has to read the payload.
	if h.store, err = h.OpenStore(); err != nil {
		return err
	}
	if h.Env.StdinTTY {
		return io.EOF
	}
	call, err := payload.Read(h.Env, h.call.Harness, h.call.Kind)
	if err != nil {
		return err
	}
	if call.Runner != "" && h.installed().Runs(call.Runner, harness.KindShell) {
		return nil // it runs its own, too, which do the same for the same session
	}
	h.call = call
	h.call.Interrupt = call.Interrupt || h.dropped()
	if h.provesRequest() {
		h.confirm(ctx)
	}
	if h.goesOn() {
		if agent, err := h.agent(); err == nil {
			agent.Client.Hearing().GoOn()
		}
	}
	h.noteBefore()
	return h.handler()(ctx)
}

// handler returns what a hook of the kind does.
func (h *run) handler() func(context.Context) error {
	switch h.call.Kind {
	case harness.KindStop:
		return h.stop
	case harness.KindEdit:
		return h.edit
	case harness.KindSessionStart, harness.KindCwdChanged:
		return h.begin
	case harness.KindFileChanged:
		return h.fileChanged
	case harness.KindContext:
		return h.context
	case harness.KindListen:
		return h.await
	case harness.KindSessionEnd:
		return h.end
	case harness.KindFails:
		return h.fail
	case harness.KindShell:
		return h.shell
	case harness.KindAsks: // it says nothing
		return func(context.Context) error { return nil }
	}
	return nil
}

// answer prints the reply. It returns errWakes if that wakes the agent.
func (h *run) answer(r payload.Reply) error {
	if r.Refuse != "" && h.row().Answer.StopIsContext != "" {
		h.call.Version = h.version()
	}
	stdout, stderr, status := payload.Answer(h.call, r)
	if status != 0 {
		if _, err := h.stderr.Write(stderr); err != nil {
			return err
		}
		return errWakes
	}
	return h.Print(string(stdout))
}

// finish is answer for a reply with which the hook ends.
func (h *run) finish(r payload.Reply) error {
	return cmp.Or(h.answer(r), errAnswered)
}
