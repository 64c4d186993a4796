package ttcmd

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

var joinCommand = &cli.Command{
	Name:  "join",
	Group: groupTurns,
	Args:  []cli.Arg{pathArg()},
	Short: "become a member of the workspace's room",
	Long: "Joins the deepest room between the path and the workspace root (the git top-level, else the nearest directory " +
		"with CLAUDE.md, AGENTS.md, package.json, pyproject.toml, Cargo.toml or go.mod, else the path itself). Where there is none, one is made at the root. " +
		"Joining again changes nothing. unread says what is there for you, questions for example: tt inbox shows it.\n\n" +
		"An observer takes part in the talk and not in the turns: a turn never comes to it by itself, nobody has to wait for it, and it does not keep " +
		"the room open. It can be written to, asked, and named by tt assign, and it may take the stick. A person who sends a message, adds or " +
		"resolves a note or takes the stick without having joined is an observer; tt join, tt wait and tt try make a full member of one.",
	Examples: []cli.Example{
		{Line: "tt join", What: "the room of the current directory"},
		{Line: "tt join --observe", What: "to follow the work and to talk"},
	},
	Flags: func(f *cli.Flags) {
		f.Bool("force-new", "make a room at exactly this path, inside an outer one")
		f.Bool("observe", "join as an observer, who is given no turns")
		pathFlag(f)
	},
	Errors: []code.Code{code.Usage, code.InvalidAgentID, code.LockTimeout},
	Run:    runJoin,
}

// A joinResult is what join answers.
type joinResult struct {
	AgentID        string
	RoomID         string
	CanonicalPath  string
	RequestedPath  string
	WorkspaceRoot  string
	JoinedExisting bool
	Warning        string
	Policy         turn.Policy
	Room           turn.RoomView
	Members        []turn.MemberView
	Cursor         int64
	Template       turn.Handoff
	Unread         turn.Unread
}

func runJoin(ctx context.Context, c *cli.Invocation) error {
	room, snap, err := join(ctx, c, c.Bool("force-new"), c.Bool("observe"))
	if err != nil {
		return err
	}
	room.ReplaceGuardian(ctx, snap.State)
	st, f := snap.State, room.Facts(snap.State)
	res := joinResult{
		AgentID: room.Self.ID, RoomID: st.RoomID, CanonicalPath: st.CanonicalPath,
		RequestedPath: room.Workspace.Requested, WorkspaceRoot: room.Workspace.Root, JoinedExisting: !room.Created, Warning: room.Warning,
		Policy: st.Policy, Room: st.Room(f), Members: st.MemberViews(f), Cursor: st.Seq,
		Template: turn.Handoff{
			Status:     "what I did, what I learned, what is unfinished",
			NextAction: "what the next agent should do first",
		},
		Unread: mailbox.Of(room).Unread(st),
	}
	return c.Out.Result(&res, func(t *cli.Text) { writeJoin(t, res) })
}

// join finds or creates the room of the command line and makes the caller a member, or
// with observe an observer.
func join(ctx context.Context, c *cli.Invocation, forceNew, observe bool) (*member.Room, *snapshot, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, nil, err
	}
	w, err := locateArg(c)
	if err != nil {
		return nil, nil, err
	}
	if observe {
		return client.Observe(ctx, w, forceNew)
	}
	return client.Join(ctx, w, forceNew)
}

func writeJoin(t *cli.Text, r joinResult) {
	as := r.AgentID
	if isObserver(r.Members, r.AgentID) {
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
		t.Line("This stick counts below %s alone, not in the rest of %s. When the work on this part is done: tt leave --path '%[1]s'", r.CanonicalPath, r.WorkspaceRoot)
	}
	writeRoom(t, r.Room)
	writeMembers(t, r.Members, r.AgentID)
	writeUnread(t, r.Unread)
}

func isObserver(members []turn.MemberView, id string) bool {
	return slices.ContainsFunc(members, func(m turn.MemberView) bool { return m.AgentID == id && m.Observer })
}
