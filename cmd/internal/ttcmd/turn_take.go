package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

var takeCommand = &cli.Command{
	Name:    "take",
	Aliases: []string{"takeover"},
	Args:    []cli.Arg{pathArg},
	Short:   "take the turn over from somebody who cannot go on",
	Long: "Claims the turn if it is free. Else takes it over, where that is allowed: the lease or the claim time has run out, " +
		"or the owner or the recipient is known to be gone. A person may always, and becomes an observer if it is no member; a " +
		"harness that was told to says so with --operator-requested.",
	Examples: []cli.Example{{Line: `tt take --reason "claude's terminal was closed"`}},
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; it is kept in the journal")
		f.Bool("operator-requested", "a person asked for it, so nothing needs to have run out")
		turnFlag(f)
		pathFlag(f)
	},
	Errors: []code.Code{code.ReasonRequired, code.TakeoverNotAvailable, code.TakeoverIneligible, code.TurnMismatch,
		code.NotJoined, code.RoomNotFound, code.GuardianFailed, code.LockTimeout},
	Run: runTake,
}

func runTake(ctx context.Context, c *cli.Invocation) error {
	client, err := newClient(c)
	if err != nil {
		return err
	}
	r := turn.TakeRequest{
		Agent: client.Self.ID, Lease: fsroom.NewLease(), Reason: c.String("reason"),
		Operator: c.Bool("operator-requested") || client.IsHuman(), Human: client.IsHuman(), Turn: onlyTurn(c),
	}
	switch { // a harness has to give a reason of its own
	case c.Given("reason"):
	case c.Bool("operator-requested"):
		r.Reason = "operator requested takeover"
	case client.IsHuman():
		r.Reason = "operator takeover"
	}
	if err := turn.CheckReason(r.Reason); err != nil {
		return err
	}
	w, err := locateToJoin(c, client)
	if err != nil {
		return err
	}
	if err := client.CheckClosed(ctx, w); err != nil {
		return (&waitOutput{c: c}).answerClosed(err)
	}
	room, err := client.SelectRoom(w, false)
	if err == nil && room.Created && client.IsHuman() {
		_, _, err = client.Open(w, nil) // room_not_found
	}
	if err != nil {
		return err
	}
	recordFirst(ctx, c, room)
	out := newWaitOutput(c, room)
	if r.Operator {
		if snap, err := room.FS.View(); err == nil {
			out.override = room.OverrideWarning(snap.State)
		}
	}
	return room.Take(ctx, r, out)
}

// turnFlag declares --turn, for decisions that somebody made about one turn.
func turnFlag(f *cli.Flags) {
	f.Int64("turn", "N", 0, "only if N is still the current turn, else turn_mismatch")
}

// onlyTurn is the value of --turn, nil if it was not given.
func onlyTurn(c *cli.Invocation) *int64 {
	if !c.Given("turn") {
		return nil
	}
	n := c.Int64("turn")
	return &n
}
