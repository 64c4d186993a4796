package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

var closeCommand = &cli.Command{
	Name:  "close",
	Group: groupTurns,
	Args:  []cli.Arg{pathArg()},
	Short: "end the room, because the work is done",
	Long: "The holder of the turn may close the room; while nobody holds it, any member may, and a person always. " +
		"Every wait and every stream in the room ends, and each wait says the reason. The journal goes to the archive, " +
		"where tt log still reads it; nothing is deleted.",
	Examples: []cli.Example{{Line: `tt close --reason "the parser is merged"`}},
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; required, kept in the journal, and told to everybody who waits")
		pathFlag(f)
	},
	Errors: []code.Code{code.ReasonRequired, code.RoomNotFound, code.NotJoined, code.TurnMismatch, code.NoActiveLease, code.StaleLease, code.LockTimeout},
	Run:    runClose,
}

func runClose(ctx context.Context, c *cli.Invocation) error {
	reason := c.String("reason")
	if err := turn.CheckClose(reason); err != nil {
		return err
	}
	room, err := openRoom(c)
	if err != nil {
		return err
	}
	res, err := room.Close(ctx, reason)
	if err != nil {
		return err
	}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("Closed %s. The room has ended; its journal is in the archive.", room.Directory())
	})
}
