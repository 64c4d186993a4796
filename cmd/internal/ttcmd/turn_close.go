package ttcmd

import (
	"context"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

var closeCommand = &cli.Command{
	Name:  "close",
	Args:  []cli.Arg{pathArg},
	Short: "end the room, because the work is done",
	Long: "The holder of the turn may close the room; while nobody holds it, and no assignment waits for its recipient, any member may, " +
		"and a person always. Every wait and every stream in the room ends, and each wait says the reason, as does every later tt wait, try " +
		"and take of who was a member, until somebody joins. The journal goes to the archive, where tt log still reads it; nothing is deleted.",
	Examples: []cli.Example{{Line: `tt close --reason "the parser is merged"`}},
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; required, kept in the journal, and told to everybody who waits")
		pathFlag(f)
	},
	Errors: []code.Code{code.ReasonRequired, code.RoomNotFound, code.NotJoined, code.TurnMismatch, code.NoActiveLease,
		code.StaleLease, code.UnreadAnswers, code.LockTimeout},
	Run: runClose,
}

// A closedResult is the result of close.
type closedResult struct {
	turn.CloseResult
	Open mailbox.LeftOpen `json:"open"`
}

func runClose(ctx context.Context, c *cli.Invocation) error {
	reason := c.String("reason")
	if err := turn.CheckClose(reason); err != nil {
		return err
	}
	room, seen, err := openSeen(c)
	if err != nil {
		return err
	}
	box := mailbox.Of(room)
	if err := box.CheckAnswers(ctx, seen.State); err != nil {
		return err
	}
	left := box.LeftOpen()
	res, err := room.Close(ctx, reason)
	if err != nil {
		return err
	}
	return c.Out.Result(closedResult{res, left}, func(t *cli.Text) {
		t.Line("Closed %s. The room has ended; its journal is in the archive.", room.Directory())
		if len(res.Told) > 0 {
			t.Line("Told    %s", strings.Join(res.Told, ", "))
		}
		if left.Notes+left.Questions > 0 {
			t.Line("Open    %s, %s", counted(int(left.Notes), "note"), counted(int(left.Questions), "question"))
		}
	})
}
