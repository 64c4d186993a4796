package ttcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

var joinCommand = &cli.Command{
	Name: "join",
	Args: []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.Bool("force-new", "make a room at exactly this path, inside an outer one")
		f.Bool("observe", "join as an observer, who is given no turns")
	},
	Run: runJoin,
}

// A joinResult is what join answers.
type joinResult struct {
	AgentID       string      `json:"agent_id"`
	RoomID        string      `json:"room_id"`
	WorkspaceRoot string      `json:"workspace_root"`
	Warning       string      `json:"warning,omitempty"`
	Turn          string      `json:"turn"`    // see [turn.State.Words]
	Members       any         `json:"members"` // [shortMember]s, with --verbose whole ones
	Unread        talk.Unread `json:"unread,omitzero"`
	Next          string      `json:"next"` // what to do now
}

// A shortMember is a member in the result of join.
type shortMember struct {
	AgentID string `json:"agent_id"`
	Status  string `json:"status"`
}

// A joinDetails is what join answers with --verbose.
type joinDetails struct {
	joinResult
	CanonicalPath  string        `json:"canonical_path"`
	RequestedPath  string        `json:"requested_path"`
	JoinedExisting bool          `json:"joined_existing_room"`
	Policy         turn.Policy   `json:"policy"`
	Room           turn.RoomView `json:"room"`
	Cursor         int64         `json:"cursor_event_seq"`
	Template       turn.Handoff  `json:"handoff_template"`
}

func runJoin(ctx context.Context, c *cli.Invocation) error {
	client, w, err := openToJoin(c)
	if err != nil {
		return err
	}
	room, snap, err := client.Join(ctx, w, c.Bool("force-new"), c.Bool("observe"))
	if err != nil {
		return err
	}
	room.ReplaceGuardian(ctx, snap.State, false)
	st, f := snap.State, room.Facts(snap.State)
	v, members := st.Room(f), st.MemberViews(f)
	res := joinResult{AgentID: room.Self.ID, RoomID: st.RoomID, WorkspaceRoot: room.Workspace.Root, Warning: room.Warning,
		Turn: st.Words(f, room.Self.ID), Members: members, Unread: mailbox.Of(room).Unread(st),
		Next: member.Next(nextStep(st, f, room.Self.ID), client.In(client.Dir, room.Path(st)))}
	details := joinDetails{joinResult: res, CanonicalPath: v.CanonicalPath, RequestedPath: room.Workspace.Requested,
		JoinedExisting: !room.Created, Policy: st.Policy, Room: v, Cursor: st.Seq, Template: handoffTemplate}
	asText := func(t *cli.Text) { writeJoin(t, details, members) }
	if c.Verbose {
		return c.Out.Result(&details, asText)
	}
	short := make([]shortMember, len(members))
	for i := range members {
		short[i] = shortMember{members[i].AgentID, members[i].Status}
	}
	res.Members = short
	return c.Out.Result(&res, asText)
}

// handoffTemplate says what the fields of a handoff are for.
var handoffTemplate = turn.Handoff{
	Status:        "what I did, what I learned, what is unfinished",
	NextAction:    "what the next agent should do first",
	Artifacts:     []turn.Artifact{{Path: "a file to look at", Lines: []int64{1, 40}, Role: "review", Note: "why"}},
	OpenQuestions: []string{"what nobody has decided yet"},
	DoNot:         []string{"what to stay away from"},
}

// waitForAll is the wait with which an agent hears of everything.
const waitForAll = "tt wait --inbox --json --timeout 9m"

// nextStep says what an agent does after it has joined.
func nextStep(st *turn.State, f turn.Facts, id string) string {
	me := st.Member(id)
	hears := f.Hearing(id)
	switch {
	case st.Owner == id && f.Window != 0:
		return otherWindow
	case st.Owner == id:
		return "the turn is yours: go on, and end it with tt release"
	case turn.IsPerson(id):
		return "nothing: tt status and tt console show how it stands, tt take gives you the stick at any time"
	case me != nil && me.Observer:
		return "tt inbox shows what is for you"
	case hears.How != "" && !hears.Unheard:
		return "go on with what needs no stick: you are woken when it is yours or something has come; to wait now: " + waitForAll
	}
	return waitForAll + ": it ends when the stick is yours or something has come for you"
}

// openToJoin returns the client for the caller and the workspace of the command line, which need not have a room.
// A directory that was removed is a workspace only if it still has one.
func openToJoin(c *cli.Invocation) (*member.Client, *workspace.Workspace, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, nil, err
	}
	w, err := locateArg(c)
	if err != nil {
		_, _, err = client.Find(w, err)
	}
	return client, w, err
}

func writeJoin(t *cli.Text, r joinDetails, members []turn.MemberView) {
	as := r.AgentID
	if slices.ContainsFunc(members, func(m turn.MemberView) bool { return m.AgentID == r.AgentID && m.Observer }) {
		as += ", an observer"
	}
	t.Line("Joined %s as %s.", r.CanonicalPath, as)
	if r.Warning != "" {
		t.Line("%s %s", t.Yellow("Warning:"), r.Warning)
	}
	if r.RequestedPath != r.CanonicalPath {
		t.Line("This stick counts for all below %s. A part has one of its own after: tt join --force-new", r.CanonicalPath)
	}
	if r.CanonicalPath != r.WorkspaceRoot {
		t.Line("This stick counts below %s alone, not in the rest of %s. When the work on this part is done: tt leave "+
			"--path %s", r.CanonicalPath, r.WorkspaceRoot, code.ShellWord(r.CanonicalPath))
	}
	writeRoom(t, r.Room)
	writeMembers(t, members, r.AgentID)
	writeUnread(t, r.Unread)
	t.Line("Next    %s", r.Next)
}

var leaveCommand = &cli.Command{
	Name: "leave",
	Args: []cli.Arg{pathArg},
	Run:  runLeave,
}

func runLeave(ctx context.Context, c *cli.Invocation) error {
	room, _, err := openRoom(c)
	if err != nil {
		return err
	}
	res, err := room.Leave(ctx, nil)
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

var kickCommand = &cli.Command{
	Name:   "kick",
	Hidden: true,
	Args:   []cli.Arg{{Name: "agent", Usage: "the member's id"}, pathArg},
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; it is kept in the journal")
		f.Bool("force", "also a member that is active")
		turnFlag(f)
	},
	Run: runKick,
}

func runKick(ctx context.Context, c *cli.Invocation) error {
	client, err := newClient(c)
	if err != nil {
		return err
	}
	r := turn.KickRequest{Agent: client.Self.ID, Target: c.Arg("agent"), Reason: c.String("reason"), Force: c.Bool("force"), Turn: onlyTurn(c)}
	if err := turn.CheckKick(r); err != nil {
		return err
	}
	room, _, err := client.Open(locateArg(c))
	if err != nil {
		return err
	}
	warning := ""
	if snap, err := room.FS.View(); err == nil && snap.State.Owner == r.Target {
		warning = room.OverrideWarning(snap.State)
	}
	res, err := room.Kick(ctx, r)
	if err != nil {
		return err
	}
	if warning != "" && res.TargetWasOwner != nil && *res.TargetWasOwner {
		res.Warning = warning
		c.Warn("%s", warning)
	}
	return c.Out.Result(res, func(t *cli.Text) { writeLeave(t, "Kicked "+r.Target+" out of", res) })
}

var closeCommand = &cli.Command{
	Name: "close",
	Args: []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.String("reason", "TEXT", "why; required, kept in the journal, and told to everybody who waits")
	},
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
	room, seen, err := openRoom(c)
	if err != nil {
		return err
	}
	box := mailbox.Of(room)
	if err := box.CheckAnswers(ctx, seen.State); err != nil {
		return err
	}
	left := box.LeftOpen()
	res, err := room.Close(ctx, reason, 0)
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
