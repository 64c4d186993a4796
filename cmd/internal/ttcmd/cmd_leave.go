package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

var leaveCommand = &cli.Command{
	Name:  "leave",
	Args:  []cli.Arg{pathArg},
	Short: "leave the room",
	Long: "A turn that is held ends without a handoff of its own; the one it was given waits for the next agent. " +
		"When nobody active remains the room ends: its journal goes to the archive, and nothing is deleted.",
	Flags:  pathFlag,
	Errors: []code.Code{code.RoomNotFound, code.NotJoined},
	Run:    runLeave,
}

func runLeave(ctx context.Context, c *cli.Invocation) error {
	room, err := openRoom(c)
	if err != nil {
		return err
	}
	res, err := room.Leave(ctx)
	if err != nil {
		return err
	}
	return c.Out.Result(res, func(t *cli.Text) { writeLeave(t, "Left", res) })
}

func writeLeave(t *cli.Text, verb string, r turn.LeaveResult) {
	switch {
	case r.Status == turn.StatusEnded:
		t.Line("%s %s. Nobody active remained, so the room has ended; its journal is in the archive.", verb, r.CanonicalPath)
	case r.RemainingMembers == 1:
		t.Line("%s %s. One member remains.", verb, r.CanonicalPath)
	default:
		t.Line("%s %s. %d members remain.", verb, r.CanonicalPath, r.RemainingMembers)
	}
}

var kickCommand = &cli.Command{
	Name:  "kick",
	Args:  []cli.Arg{{Name: "agent", Usage: "the member's id"}, pathArg},
	Short: "remove a member that is gone",
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
	if room.FS.IsShared() {
		if snap, err := room.FS.View(); err == nil && snap.State.Owner == r.Target {
			warning = room.OverrideWarning(snap.State)
		}
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
