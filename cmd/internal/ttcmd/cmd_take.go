package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var takeCommand = &cli.Command{
	Name:    "take",
	Aliases: []string{"takeover"},
	Group:   groupTurns,
	Args:    []cli.Arg{pathArg()},
	Short:   "take the turn over from somebody who cannot go on",
	Long: "Claims the turn if it is free. Else takes it over, where that is allowed: the lease or the claim time has run out, or the " +
		"owner or the recipient is known to be gone. A person may always; a harness that was told to says so with --operator-requested.",
	Examples: []cli.Example{{Line: `tt take --reason "claude's terminal was closed"`}},
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; it is kept in the journal")
		f.Bool("operator-requested", "a person asked for it, so nothing needs to have run out")
		turnFlag(f)
		pathFlag(f)
	},
	Errors: []code.Code{code.ReasonRequired, code.TakeoverNotAvailable, code.TakeoverIneligible, code.TurnMismatch, code.NotJoined, code.GuardianFailed, code.LockTimeout},
	Run:    runTake,
}

func runTake(ctx context.Context, c *cli.Invocation) error {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	r := turn.TakeRequest{
		Agent: d.me.ID, Lease: fsroom.NewID(), Reason: c.String("reason"),
		Operator: c.Bool("operator-requested") || d.isHuman(), Human: d.isHuman(), Turn: onlyTurn(c),
	}
	if r.Reason == "" && !c.Given("reason") {
		r.Reason = defaultReason(d, c)
	}
	if err := turn.CheckReason(r.Reason); err != nil {
		return err
	}
	w, err := d.workspace()
	if err != nil {
		return err
	}
	s, j, err := d.choose(w, false)
	if err != nil {
		return err
	}
	t := waiting{seat: s}
	if !j.existed {
		t.warn(j)
		if _, err := s.enter(ctx); err != nil {
			return err
		}
	}
	snap, err := s.view()
	if err != nil {
		return err
	}
	s.present(ctx, snap.State)
	t.joins, r.Join = !s.isMember(snap.State), s.joinRequest(snap.State.Policy)
	if _, err := t.ask(ctx, snap, func(st *turn.State, f turn.Facts) ([]event.Event, turn.WaitResult, error) {
		return turn.Take(st, f, r)
	}); err != nil {
		t.ahead.abandon()
		return err
	}
	return t.answer()
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

// defaultReason is what the journal says when a person gives none. A harness
// has to.
func defaultReason(d *desk, c *cli.Invocation) string {
	switch {
	case c.Bool("operator-requested"):
		return "operator requested takeover"
	case d.isHuman():
		return "operator takeover"
	}
	return ""
}
