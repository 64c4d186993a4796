package ttcmd

import (
	"context"
	"os"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var (
	releaseErrors = []code.Code{code.InvalidHandoff, code.NoActiveLease, code.TurnMismatch, code.StaleLease, code.NotJoined, code.RoomNotFound}
	assignErrors  = append(releaseErrors[:len(releaseErrors):len(releaseErrors)], code.UnknownMember, code.AmbiguousRecipient)
)

var releaseCommand = &cli.Command{
	Name:  "release",
	Group: groupTurns,
	Args:  []cli.Arg{pathArg()},
	Short: "end the turn with a handoff; the fairest other member is next",
	Long: "The turn goes to the active member that never held the stick, else to the one that held it longest ago. " +
		"It is reserved at once for one that is waiting; otherwise the handoff stays pending for whoever comes.\n\n" + handoffHelp,
	Examples: []cli.Example{
		{Line: `tt release --status "half done" --next-action "fix it" --artifact a.go=edit`},
		{Line: `echo '{"status":"…","next_action":"…"}' | tt release --stdin`},
	},
	Flags:  releaseFlags,
	Errors: releaseErrors,
	Run: func(ctx context.Context, c *cli.Invocation) error {
		return handOver(ctx, c, "", "path")
	},
}

var assignCommand = &cli.Command{
	Name:  "assign",
	Group: groupTurns,
	Args: []cli.Arg{
		{Name: "agent", Usage: `who is next: an agent id, the name of one active member, or "next" for the fairest`},
		pathArg(),
	},
	Short:    "end the turn with a handoff to one member",
	Long:     "The turn is reserved for that member, which must be active.\n\n" + handoffHelp,
	Examples: []cli.Example{{Line: `tt assign codex --status "plan written" --next-action "review plan.md"`}},
	Flags:    releaseFlags,
	Errors:   assignErrors,
	Run: func(ctx context.Context, c *cli.Invocation) error {
		return handOver(ctx, c, c.Arg("agent"), "path")
	},
}

var passCommand = &cli.Command{
	Name:  "pass",
	Group: groupTurns,
	Args: []cli.Arg{
		{Name: "agent", Optional: true, Usage: `who is next, as for assign; without, pass is release`},
		pathArg(),
	},
	Short: "release, or assign when an agent is named",
	Long: "A single argument is an agent if it is \"next\", or has a colon and no slash, as most agent ids have, or if there is no file of that name; otherwise it is the path.\n\n" +
		handoffHelp,
	Examples: []cli.Example{{Line: `tt pass claude:1f2e3d4c --status "…" --next-action "…"`}},
	Flags:    releaseFlags,
	Errors:   assignErrors,
	Run:      runPass,
}

func runPass(ctx context.Context, c *cli.Invocation) error {
	first := c.Arg("agent")
	switch {
	case !c.HasArg("agent"):
		return handOver(ctx, c, "", "path")
	case c.HasArg("path"), looksLikeAgent(first), !somethingAt(c, first):
		return handOver(ctx, c, first, "path")
	}
	return handOver(ctx, c, "", "agent")
}

// looksLikeAgent tells an agent from a path. An agent id has no slash, and a
// path that has a colon but no slash can be written as ./path.
func looksLikeAgent(arg string) bool {
	return arg == turn.TargetNext || strings.Contains(arg, ":") && !strings.ContainsAny(arg, `/\`)
}

// somethingAt reports whether there is something of that name.
func somethingAt(c *cli.Invocation, arg string) bool {
	_, err := os.Lstat(c.Env.Abs(arg))
	return err == nil
}

// handOver ends the caller's turn: by fairness, or for the target if there is
// one. pathArg names the argument that holds the path.
func handOver(ctx context.Context, c *cli.Invocation, target, pathArg string) (err error) {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	path, err := givenPath(c, pathArg)
	if err != nil {
		return err
	}
	s, err := d.seatAt(path)
	if err != nil {
		return err
	}
	defer func() { s.draft.settle(c, err) }()
	handoff, err := s.handoff(ctx, func() error { return s.mayHandOver(ctx, target) })
	if err != nil {
		return err
	}
	s.first = nil // the room may have changed while the handoff was written
	fence, err := s.myFence(ctx)
	if err != nil {
		return err
	}
	request := turn.ReleaseRequest{Fence: fence, Handoff: handoff}
	var res turn.ReleaseResult
	snap, _, err := s.updateThen(ctx, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
		events, res, err = endTurn(st, f, request, target)
		return events, err
	}, func() { _ = s.mine().Remove(fileHold) })
	if err != nil {
		return err
	}
	s.touch()
	err = c.Out.Result(&res, func(t *cli.Text) { writeRelease(t, res) })
	if next := snap.State.ReservedFor; next != "" && !s.room.Agent(next).Held(markWaiting) {
		s.wake(turn.Change{After: snap.State, Unclaimed: true})
	}
	return err
}

// endTurn decides a release, or an assignment if there is a target.
func endTurn(st *turn.State, f turn.Facts, r turn.ReleaseRequest, target string) ([]event.Event, turn.ReleaseResult, error) {
	if target == "" {
		return turn.Release(st, f, r)
	}
	return turn.Assign(st, f, r, target)
}

// mayHandOver returns the error that handing over would end with now. It is
// asked before an editor opens.
func (s *seat) mayHandOver(ctx context.Context, target string) error {
	fence, err := s.myFence(ctx)
	if err != nil {
		return err
	}
	snap, err := s.room.View()
	if err != nil {
		return err
	}
	_, _, err = endTurn(snap.State, s.facts(snap.State), turn.ReleaseRequest{Fence: fence}, target)
	return err
}
