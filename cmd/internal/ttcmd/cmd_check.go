package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/turn"
)

var checkCommand = &cli.Command{
	Name:  "check",
	Group: groupLook,
	Args:  []cli.Arg{pathArg()},
	Short: "exit 0 only if you hold the stick with a live lease",
	Long:  "For git hooks and harness hooks. Exits 1 otherwise, also where there is no room.",
	Flags: pathFlag,
	Exits: []cli.ExitStatus{{Status: 1, Meaning: "the caller does not hold the stick, or the command failed"}},
	Run:   runCheck,
}

// A checkResult says whether the caller may change shared files.
type checkResult struct {
	Holds        bool   `json:"holds"`
	AgentID      string `json:"agent_id"`
	RoomID       string `json:"room_id,omitempty"`
	RoomState    string `json:"room_state,omitempty"`
	TurnID       int64  `json:"turn_id,omitempty"`
	CurrentOwner string `json:"current_owner,omitempty"`
	ReservedFor  string `json:"reserved_for,omitempty"`
	Reason       string `json:"reason,omitempty"` // why not
}

func runCheck(ctx context.Context, c *cli.Invocation) error {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	res, err := d.check(ctx)
	if err != nil {
		return err
	}
	if err := c.Out.Result(res, func(t *cli.Text) { writeCheck(t, res) }); err != nil || res.Holds {
		return err
	}
	return cli.Exit(1)
}

func (d *desk) check(ctx context.Context) (checkResult, error) {
	res := checkResult{AgentID: d.me.ID}
	s, err := d.seatIfAny()
	if err != nil {
		return res, err
	}
	if s == nil {
		res.Reason = "no_room"
		return res, nil
	}
	snap, err := s.view()
	if err != nil {
		return res, err
	}
	s.present(ctx, snap.State)
	f := s.facts(snap.State)
	v := snap.State.Room(f)
	res.RoomID, res.RoomState, res.TurnID, res.CurrentOwner, res.ReservedFor = v.RoomID, v.State, v.TurnID, v.Owner, v.ReservedFor
	var fence turn.Fence
	if held := s.holdOf(snap.State); held != nil {
		fence = held.fence()
	}
	res.Reason = snap.State.Holds(f, d.me.ID, fence)
	res.Holds = res.Reason == ""
	return res, nil
}

func writeCheck(t *cli.Text, r checkResult) {
	switch {
	case r.Holds:
		t.Line("%s You hold the stick (turn %d).", t.Green("Yes."), r.TurnID)
	case r.Reason == "no_room":
		t.Line("No: there is no room here.")
	case r.CurrentOwner == r.AgentID:
		t.Line(`%s The turn is yours, but its lease is not alive. Take it up again with: tt wait`, t.Yellow("No."))
	case r.CurrentOwner != "":
		t.Line(`%s %s holds the stick. Wait for it with: tt wait`, t.Yellow("No."), r.CurrentOwner)
	case r.ReservedFor != "":
		t.Line(`%s The turn is reserved for %s. Wait for it with: tt wait`, t.Yellow("No."), r.ReservedFor)
	default:
		t.Line(`%s Nobody holds the stick. Take it with: tt wait`, t.Yellow("No."))
	}
}
