package ttcmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// guardCommand is the guardian of a turn. It is started by wait, try and take, never
// by hand, see [member.Client.Guard].
var guardCommand = &cli.Command{
	Name:   "guard",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true},
	Args:   []cli.Arg{{Name: "room", Usage: "the room's id"}},
	Short:  "keep the lease of one turn alive",
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
