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
