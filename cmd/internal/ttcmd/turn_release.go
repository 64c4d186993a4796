package ttcmd

import (
	"context"
	"os"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

var (
	releaseErrors = []code.Code{code.InvalidHandoff, code.NoActiveLease, code.TurnMismatch, code.StaleLease, code.NotJoined,
		code.RoomNotFound, code.UnreadAnswers}
	assignErrors = []code.Code{
		code.InvalidHandoff, code.NoActiveLease, code.TurnMismatch, code.StaleLease, code.NotJoined, code.RoomNotFound, code.UnreadAnswers,
		code.UnknownMember, code.UnknownRecipient, code.AmbiguousRecipient,
	}
)

var releaseCommand = &cli.Command{
	Name:  "release",
	Args:  []cli.Arg{pathArg},
	Short: "end the turn with a handoff; the fairest other member is next",
	Long: "The turn goes to the active member that never held the stick, else to the one that held it longest ago. It is " +
		"reserved at once for one that is waiting, or that joined or waited within waiter_grace (10 s); otherwise the handoff " +
		"stays pending for the next agent.\n\n" + handoffHelp,
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
	Name: "assign",
	Args: []cli.Arg{
		{Name: "agent", Usage: `who is next: an agent id, the name of one active member, or "next" for the fairest`},
		pathArg,
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
	Name:   "pass",
	Hidden: true,
	Args: []cli.Arg{
		{Name: "agent", Optional: true, Usage: `who is next, as for assign; without, pass is release`},
		pathArg,
	},
	Short: "release, or assign when an agent is named",
	Long: "A single argument is an agent if it is \"next\", or has a colon and no slash, as most agent ids have, or if there " +
		"is no file of that name; otherwise it is the path.\n\n" +
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

// handOver ends the caller's turn: for the target, or for the fairest member if target
// is "". pathArg names the argument that holds the path.
func handOver(ctx context.Context, c *cli.Invocation, target, pathArg string) (err error) {
	if _, err := handoffSource(c); err != nil {
		return err
	}
	path, err := givenPath(c, pathArg)
	if err != nil {
		return err
	}
	client, err := newClient(c)
	if err != nil {
		return err
	}
	w, missing := locatePath(c, path)
	if code.Of(missing) == code.Usage && !c.Given("path") && strings.ContainsAny(path, " \n") {
		missing = c.Usagef("%q is no path", path).WithHint(`a handoff is --status "…" --next-action "…", or JSON with --stdin`)
	}
	room, seen, err := client.Open(w, missing)
	if err != nil {
		return err
	}
	var d *draft
	defer func() { d.finish(c, err) }()
	handoff, err := handoffFromFlags(c)
	if handoff == nil && err == nil { // it is to be written in an editor
		if err = room.CheckRelease(ctx, target); err != nil {
			return err
		}
		handoff, d, err = editHandoff(ctx, c, room.Workspace.Root)
	}
	if !c.Given("status") { // it may have been long in coming
		if now, viewErr := room.FS.View(); viewErr == nil {
			seen = now
		}
	}
	if err != nil {
		room.RecordPresence(ctx, seen.State)
		return err
	}
	if err := mailbox.Of(room).CheckAnswers(ctx, seen.State); err != nil {
		return err
	}
	if err := worksElsewhere(room, seen.State, target); err != nil {
		return err
	}
	res, after, err := room.Release(ctx, seen, handoff, target)
	if err != nil {
		return err
	}
	res.Unread = mailbox.Of(room).Unread(after)
	return c.Out.Result(&res, func(t *cli.Text) { writeRelease(t, res) })
}

// worksElsewhere refuses an assignment to an agent that works in another tree of the repository.
func worksElsewhere(room *member.Room, st *turn.State, target string) error {
	if target == "" {
		return nil
	}
	away, err := room.Away(st, target)
	if err != nil || away == nil {
		return err
	}
	return code.New(code.UnknownRecipient, "%s works in another tree of the repository, %s: the turn of this one "+
		"is not for it", target, away.Name(room.Workspace.Root)).
		WithHint("a word reaches it: tt msg send %s \"…\"", target).With("to_agent_id", target).With("path", away.Path)
}
