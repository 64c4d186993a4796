package ttcmd

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
)

// A harness runs hookCommand when something happens in a session, see [hooks]. It is installed into
// the settings of the harness; nobody types it.
var hookCommand = &cli.Command{
	Name:    "hook",
	Hidden:  true,
	Traits:  cli.Traits{Silent: true, NoSync: true, Offline: true, NoSubject: true},
	Args:    []cli.Arg{{Name: "kind", Optional: true, Rest: true}},
	Flags:   func(f *cli.Flags) { f.String("harness", "NAME", "whose payload it is") },
	Run:     runHook,
	Misread: hooks.Misread, // a newer version has installed it, see runHook
}

func runHook(ctx context.Context, c *cli.Invocation) error {
	kind := harness.Kind(c.Arg("kind"))
	if !slices.Contains(harness.Kinds(), kind) { // a newer version has installed it, which must not stop a harness
		return nil
	}
	status := hooks.Run(ctx, hooks.Command{
		Env:       c.Env,
		AgentID:   c.Agent,
		Table:     processes(c),
		Print:     c.Out.Print,
		OpenStore: func() (*fsroom.Store, error) { return openPatientStore(c, hooks.Patience, false) },
		OpenAll:   func() (*fsroom.Store, error) { return openPatientStore(c, hooks.Patience, true) },
		Locate:    func(path string) (*workspace.Workspace, error) { return locatePath(c, path) },
		Client: func(store *fsroom.Store, self identity.Agent) *member.Client {
			return clientFor(c, store, processes(c), self)
		},
		RecordAlone: func(ctx context.Context, store *fsroom.Store, root, destroys string) {
			changes.BeforeAlone(ctx, root, store, destroys, ledgerSetting(c))
		},
		UntilSignal: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return onSignal(ctx, endings...)
		},
	}, c.String("harness"), kind)
	if status != 0 {
		return cli.Exit(status)
	}
	return nil
}

// proveCommand notifies an agent once, a little later.
var proveCommand = &cli.Command{
	Name:   "hook prove",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true, Offline: true, NoSubject: true},
	Flags:  func(f *cli.Flags) { f.Duration("after", "D", 0, "wait that long") },
	Run: func(ctx context.Context, c *cli.Invocation) error {
		client, err := newClient(c)
		if err == nil {
			hooks.Prove(ctx, client, c.Duration("after"))
		}
		return err
	},
}

// Hear returns the command that keeps the wake file of an agent true on this host, see
// [listen.Agent.Hear]. The hooks start it where an engine has the rooms.
func Hear() *cli.Command {
	return &cli.Command{
		Name:   "hook hear",
		Hidden: true,
		Traits: cli.Traits{Silent: true, NoSync: true, Offline: true, NoSubject: true},
		Run: func(ctx context.Context, c *cli.Invocation) error {
			client, err := newClient(c)
			if err != nil {
				return err
			}
			ctx, stop := onSignal(ctx, endings...)
			defer stop()
			return (&listen.Agent{Client: client}).Hear(ctx)
		},
	}
}

// guardCommand is the guardian of a turn. It is started by wait, try and take, never
// by hand, see [member.Client.Guard].
var guardCommand = &cli.Command{
	Name:   "guard",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true, NoSubject: true},
	Args:   []cli.Arg{{Name: "room", Usage: "the room's id"}},
	Flags: func(f *cli.Flags) {
		f.Int64("turn", "N", 0, "the turn to keep")
		f.String("lease", "DIGEST", "a digest of its fencing token")
	},
	Run: runGuard,
}

func runGuard(ctx context.Context, c *cli.Invocation) error {
	_ = os.WriteFile("/proc/self/comm", []byte("tt-guard"), 0) // Linux: what ps shows, and not exe
	signal.Ignore(syscall.SIGHUP)                              // the guardian outlives the terminal
	client, err := newClient(c)
	if err != nil {
		return err
	}
	ctx, stop := onSignal(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return client.Guard(ctx, c.Arg("room"), c.Int64("turn"), c.String("lease"))
}
