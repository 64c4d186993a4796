package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

var stateCommand = &cli.Command{
	Name:  "state",
	Reads: true,
	Args:  []cli.Arg{pathArg},
	Short: "show who holds the stick, and the members",
	Flags: func(f *cli.Flags) {
		freshFlag(f)
		pathFlag(f)
	},
	Errors: []code.Code{code.RoomNotFound, code.CorruptRoom},
	Run:    runState,
}

// A stateResult is the room and its members.
type stateResult struct {
	Room    turn.RoomView     `json:"room"`
	Members []turn.MemberView `json:"members"`
	lastKnown
}

func runState(ctx context.Context, c *cli.Invocation) error {
	room, seen, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	now := room.Look(seen)
	st, f := now.State, now.Facts
	res := stateResult{Room: st.Room(f), Members: st.MemberViews(f), lastKnown: knownOf(c, room)}
	res.Room.JournalShortened = now.Seen.Lost
	return c.Out.Result(&res, func(t *cli.Text) {
		writeRoom(t, res.Room)
		writeMembers(t, res.Members, room.Self.ID)
	})
}
