package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

var kickCommand = &cli.Command{
	Name:   "kick",
	Hidden: true,
	Args:   []cli.Arg{{Name: "agent", Usage: "the member's id"}, pathArg},
	Short:  "remove a member that is gone",
	Long: "Without --force only a member that is known to be gone and was silent past gone_grace, or whose presence has run " +
		"out, and none that holds the stick with a live lease. Its turn or reservation ends with it. With --force that can be the " +
		"turn of a member on another host, which may still use it until its lease ends.",
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; it is kept in the journal")
		f.Bool("force", "also a member that is active")
		turnFlag(f)
		pathFlag(f)
	},
	Errors: []code.Code{code.CannotKickSelf, code.NotJoined, code.UnknownTarget, code.TargetActive, code.TurnMismatch},
	Run:    runKick,
}

func runKick(ctx context.Context, c *cli.Invocation) error {
	client, err := newClient(c)
	if err != nil {
		return err
	}
	r := turn.KickRequest{Agent: client.Self.ID, Target: c.Arg("agent"), Reason: c.String("reason"), Force: c.Bool("force"), Turn: onlyTurn(c)}
	if err := turn.CheckKick(r); err != nil {
		return err
	}
	room, _, err := client.Open(locateArg(c))
	if err != nil {
		return err
	}
	warning := ""
	if snap, err := room.FS.View(); err == nil && snap.State.Owner == r.Target {
		warning = room.OverrideWarning(snap.State)
	}
	res, err := room.Kick(ctx, r)
	if err != nil {
		return err
	}
	if warning != "" && res.TargetWasOwner != nil && *res.TargetWasOwner {
		res.Warning = warning
		c.Warn("%s", warning)
	}
	return c.Out.Result(res, func(t *cli.Text) { writeLeave(t, "Kicked "+r.Target+" out of", res) })
}
