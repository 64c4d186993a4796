package ttcmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks"
	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

var checkCommand = &cli.Command{
	Name:   "check",
	Hidden: true,
	Reads:  true,
	Args:   []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.String("command", "CMD", "what a command of the shell would write; exit 1 if that is refused to you")
		f.String("verified", "NAME", "whether a job of this name has passed on exactly this tree; exit 1 if not")
		f.Bool("commit", "with --verified: and whether what is staged is that tree")
	},
	Run: runCheck,
}

// A checkResult is whether the caller may change shared files.
type checkResult struct {
	Holds        bool           `json:"holds"`
	AgentID      string         `json:"agent_id"`
	RoomID       string         `json:"room_id,omitempty"`
	RoomState    string         `json:"room_state,omitempty"`
	TurnID       int64          `json:"turn_id,omitempty"`
	CurrentOwner string         `json:"current_owner,omitempty"`
	ReservedFor  string         `json:"reserved_for,omitempty"`
	PathMissing  bool           `json:"path_missing,omitempty"` // the path does not exist: the room is that of a directory that was removed, or one above it
	Reason       string         `json:"reason,omitempty"`       // why not
	Host         string         `json:"host,omitempty"`         // on which the caller has the turn, if that is another one
	HeldBy       int            `json:"held_by_pid,omitempty"`  // the process of the caller's session that has the turn, in another window
	Trouble      []turn.Trouble `json:"trouble,omitempty"`      // with the holder
	Shared       bool           `json:"shared,omitempty"`       // with other hosts: an engine has confirmed the answer
	ActsFor      string         `json:"acts_for,omitempty"`     // the holder, one of whose commands has started the caller's session
	Command      *commandResult `json:"command,omitempty"`
}

func runCheck(ctx context.Context, c *cli.Invocation) error {
	if c.Given("verified") {
		return runCheckVerified(ctx, c)
	}
	if c.Bool("commit") {
		return c.Usagef("--commit is for --verified").With("flag", "commit")
	}
	res, err := check(ctx, c)
	if err != nil {
		return err
	}
	_ = c.Out.Result(res, func(t *cli.Text) { writeCheck(t, res) }) // the status says the same
	if res.Command == nil && res.Holds || res.Command != nil && !res.Command.Refused {
		return nil
	}
	return cli.Exit(1)
}

func check(ctx context.Context, c *cli.Invocation) (checkResult, error) {
	client, err := newClient(c)
	if err != nil {
		return checkResult{}, err
	}
	res := checkResult{AgentID: client.Self.ID}
	w, err := locateArg(c)
	if err == nil && c.Given("command") {
		res.Command = checkCommandLine(ctx, c, client, w)
	}
	res.PathMissing = w != nil && err != nil
	room, _, err := client.Find(w, err)
	if err != nil {
		return res, client.WithTrouble(w, err)
	}
	if room == nil {
		res.Reason = "no_room"
		return res, nil
	}
	snap, err := room.FS.Confirm(ctx)
	if err != nil {
		return res, client.WithTrouble(w, err)
	}
	if res.Command == nil {
		room.RecordPresence(ctx, snap.State)
	}
	res.Shared = room.IsShared()
	now := room.Look(snap)
	st, f := now.State, now.Facts
	fence := room.CurrentFence(st)
	v := st.Room(f)
	res.RoomID, res.RoomState, res.TurnID, res.CurrentOwner, res.ReservedFor = v.RoomID, v.State, v.TurnID, v.Owner, v.ReservedFor
	res.Trouble = v.Trouble
	res.Reason = st.Holds(f, client.Self.ID, fence)
	if res.Host = room.Elsewhere(st); res.Host != "" {
		res.Reason = turn.HeldElsewhere
	}
	if res.HeldBy = f.Window; res.HeldBy != 0 {
		res.Reason = turn.HeldInWindow
	}
	if res.Reason != "" && v.Owner != "" && st.Holds(f, v.Owner, fence) == "" && room.ActsFor(st) != "" {
		res.Reason, res.ActsFor = "", v.Owner
	}
	res.Holds = res.Reason == ""
	return res, nil
}

func writeCheck(t *cli.Text, r checkResult) {
	no := t.Yellow("No.")
	if r.Command != nil && !r.Command.write(t) {
		no = "It is permitted."
	}
	switch {
	case r.ActsFor != "":
		t.Line("%s %s holds the stick (turn %d) and has started your session.", t.Green("Yes."), r.ActsFor, r.TurnID)
	case r.Holds:
		t.Line("%s You hold the stick (turn %d).", t.Green("Yes."), r.TurnID)
	case r.Reason == "no_room":
		t.Line("%s There is no room here.", no)
	case r.Host != "":
		t.Line(`%s You have turn %d on host %s.`, no, r.TurnID, r.Host)
	case r.HeldBy != 0:
		t.Line("%s This session holds the stick in another window (process %d).", no, r.HeldBy)
	case r.CurrentOwner == r.AgentID:
		t.Line(`%s The turn is yours, but its lease is not alive. Take it up again with: tt wait`, no)
	case r.CurrentOwner != "":
		t.Line(`%s %s holds the stick. Wait for it with: tt wait`, no, r.CurrentOwner)
	case r.ReservedFor != "":
		t.Line(`%s The turn is reserved for %s. Wait for it with: tt wait`, no, r.ReservedFor)
	default:
		t.Line(`%s Nobody holds the stick. Take it with: tt wait`, no)
	}
	if r.PathMissing {
		t.Line("The path is not there: this is the room of a directory that was removed, or of one above it.")
	}
	writeTrouble(t, r.Trouble)
}

// A commandResult is what a command of the shell would do.
type commandResult struct {
	Verdict string          `json:"verdict"` // read, write, unknown
	Refused bool            `json:"refused"`
	Effects []commandEffect `json:"effects"`
	Unknown []string        `json:"unknown"` // programs and targets of which nothing is known
}

type commandEffect struct {
	Op       string `json:"op"`
	Path     string `json:"path"`
	Git      bool   `json:"git"`
	Destroys bool   `json:"destroys"`
	Ignored  bool   `json:"ignored"`
	Outside  bool   `json:"outside,omitempty"` // of the workspace
	Room     string `json:"room,omitempty"`    // another one that refuses it, and who holds its stick
	Holder   string `json:"holder,omitempty"`
	// Sharing are sessions in other working trees of a repository whose stash is moved.
	Sharing []guard.Neighbour `json:"sharing,omitempty"`
}

// checkCommandLine judges --command as the guard of the shell does, in the directory that
// is checked.
func checkCommandLine(ctx context.Context, c *cli.Invocation, client *member.Client, w *workspace.Workspace) *commandResult {
	locate := func(path string) (*workspace.Workspace, error) { return locatePath(c, path) }
	j := hooks.JudgeCommand(ctx, c.Env, client, locate, w.Path, c.String("command"))
	res := &commandResult{Verdict: "read", Refused: j.Refused() != nil, Effects: []commandEffect{},
		Unknown: append([]string{}, j.Unknown...)}
	if len(j.Unknown) > 0 {
		res.Verdict = "unknown"
	}
	for _, change := range j.Changes {
		outside := change.Stick == nil && !isBelow(w.Root, change.Path) && !(change.Below && isBelow(change.Path, w.Root))
		e := commandEffect{Op: change.Op, Path: change.Path, Git: change.Git, Destroys: change.Destroys, Ignored: change.Ignored,
			Outside: outside, Sharing: change.Sharing}
		if change.Other && change.Refused {
			e.Room, e.Holder = change.Stick.Root, change.Stick.Holder
		}
		res.Effects = append(res.Effects, e)
		if !change.Ignored && !outside {
			res.Verdict = "write"
		}
	}
	return res
}

// isBelow reports whether path is root or below it.
func isBelow(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (r *commandResult) write(t *cli.Text) (refused bool) {
	line := r.Verdict
	if r.Refused {
		line += ", refused"
	}
	t.Line("The command: %s", line)
	for _, e := range r.Effects {
		note := ""
		switch {
		case e.Outside:
			note = " (outside of the workspace)"
		case e.Ignored:
			note = " (ignored)"
		case e.Holder != "":
			note = fmt.Sprintf(" (%s holds the stick of %s)", cli.Line(e.Holder), cli.Line(e.Room))
		}
		for _, n := range e.Sharing {
			note += fmt.Sprintf(" (%s works in %s, another tree with the same stash)", cli.Line(n.AgentID), cli.Line(n.Path))
		}
		t.Line("  %s: %s%s", cli.Line(e.Op), cli.Line(e.Path), note)
	}
	for _, what := range r.Unknown {
		t.Line("  not known: %s", cli.Line(what))
	}
	return r.Refused
}

// runCheckVerified tells whether the tree as it is now has a verdict of a name, and with --commit whether
// what is about to be committed is that tree.
func runCheckVerified(ctx context.Context, c *cli.Invocation) error {
	name := c.String("verified")
	if !locks.ValidName(name) {
		return badName(c, "job", name, "").With("flag", "verified")
	}
	if c.Given("command") {
		return c.Usagef("--verified and --command are two questions").WithHint("ask one of them")
	}
	tree, err := openTree(ctx, c)
	if err != nil {
		return err
	}
	res, err := tree.CheckVerified(ctx, name, c.Bool("commit"), c.Env.Lookup("GIT_INDEX_FILE"))
	if err != nil {
		return err
	}
	err = c.Out.Result(res, func(t *cli.Text) { writeCheckVerified(t, name, &res) })
	if err != nil || res.Verified {
		return err
	}
	return cli.Exit(1)
}

func writeCheckVerified(t *cli.Text, name string, r *changes.VerifiedCheck) {
	switch v := r.Verdict; {
	case r.Verified:
		t.Line("%s %s.", t.Green("Yes."), verdictWords(t, v))
		return
	case v == nil:
		t.Line("%s No job %s has passed on a tree that is known here.", t.Yellow("No."), name)
	case r.Differs == nil:
		t.Line("%s %s. What has changed since is not known.", t.Yellow("No."), verdictWords(t, v))
	case r.Differs.Commit:
		t.Line("%s What would be committed is not the tree that was tested: %s.", t.Yellow("No."), differWords(r.Differs.Differences))
	default:
		t.Line("%s %s. Since then: %s.", t.Yellow("No."), verdictWords(t, v), differWords(r.Differs.Differences))
	}
	if r.Differs != nil {
		for _, p := range r.Differs.Paths {
			t.Line("    %s  %s", p.Path, p.Status)
		}
		if r.Differs.Commit {
			t.Line("Stage it with git add, or ignore what is no part of it, and ask again.")
			return
		}
	}
	if len(r.LeftOut) > 0 {
		t.Line("The tree is not recorded whole, so it can have no verdict.")
		writeLeftOut(t, r.LeftOut)
		return
	}
	t.Line("Test it: tt job run %s --once -- COMMAND", name)
}
