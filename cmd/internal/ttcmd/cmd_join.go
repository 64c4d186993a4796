package ttcmd

import (
	"context"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

var joinCommand = &cli.Command{
	Name:  "join",
	Group: groupTurns,
	Args:  []cli.Arg{pathArg()},
	Short: "become a member of the workspace's room",
	Long: "Joins the deepest room between the path and the workspace root (the git top-level, else the nearest directory " +
		"with CLAUDE.md, AGENTS.md, package.json, pyproject.toml, Cargo.toml or go.mod, else the path itself). Where there is none, one is made at the root. " +
		"Joining again changes nothing.",
	Examples: []cli.Example{{Line: "tt join", What: "the room of the current directory"}},
	Flags: func(f *cli.Flags) {
		f.Bool("force-new", "make a room at exactly this path, inside an outer one")
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
}

func runJoin(ctx context.Context, c *cli.Invocation) error {
	d, err := openDesk(c)
	if err != nil {
		return err
	}
	s, snap, j, err := d.join(ctx, c.Bool("force-new"))
	if err != nil {
		return err
	}
	s.mendGuardian(ctx, snap.State)
	f := s.facts(snap.State)
	res := joinResult{
		AgentID: d.me.ID, RoomID: snap.State.RoomID, CanonicalPath: snap.State.CanonicalPath,
		RequestedPath: s.workspace.Requested, WorkspaceRoot: s.workspace.Root, JoinedExisting: j.existed, Warning: j.warning,
		Policy: snap.State.Policy, Room: snap.State.Room(f), Members: snap.State.MemberViews(f), Cursor: snap.State.Seq,
		Template: turn.Handoff{
			Status:     "what I did, what I learned, what is unfinished",
			NextAction: "what the next agent should do first",
		},
	}
	return c.Out.Result(&res, func(t *cli.Text) {
		t.Line("Joined %s as %s.", res.CanonicalPath, res.AgentID)
		if j.warning != "" {
			t.Line("%s %s", t.Yellow("Warning:"), j.warning)
		}
		writeRoom(t, res.Room)
		writeMembers(t, res.Members, d.me.ID)
	})
}

// joining tells how a join came about.
type joining struct {
	existed bool
	warning string
}

// join finds or makes the room of the path and makes the caller a member.
func (d *desk) join(ctx context.Context, forceNew bool) (*seat, *snapshot, joining, error) {
	w, err := d.workspace()
	if err != nil {
		return nil, nil, joining{}, err
	}
	s, j, err := d.choose(w, forceNew)
	if err != nil {
		return nil, nil, joining{}, err
	}
	snap, err := s.enter(ctx)
	return s, snap, j, err
}

// choose decides which room a join goes to.
func (d *desk) choose(w *workspace.Workspace, forceNew bool) (*seat, joining, error) {
	dirs := w.Chain()
	if forceNew {
		dirs = dirs[:1]
	}
	s, err := d.findIn(w, dirs)
	if err != nil {
		return nil, joining{}, err
	}
	if s != nil {
		j := joining{existed: true}
		if forceNew {
			j.warning = "--force-new had no effect: there is a room at exactly this path; for a room of its own, join a directory below it"
		}
		return s, j, nil
	}
	at := w.Root
	if forceNew {
		at = w.Path
	}
	s = &seat{desk: d, workspace: w, room: fsroom.At(d.store, rules, fsroom.RoomName(at))}
	outer, err := d.outer(w, forceNew)
	if err != nil {
		return s, joining{}, err
	}
	var warnings []string
	switch {
	case outer == "":
	case forceNew:
		warnings = append(warnings, "created a nested room inside the ancestor room at "+outer)
	default:
		warnings = append(warnings, "there is another room above the workspace root, at "+outer)
	}
	for _, path := range d.orphaned() {
		warnings = append(warnings, orphanWords(path))
	}
	return s, joining{warning: strings.Join(warnings, "; ")}, nil
}

// outer is the path of the nearest room around the one to be made.
func (d *desk) outer(w *workspace.Workspace, forceNew bool) (string, error) {
	dirs := w.Above()
	if forceNew {
		dirs = append(w.Chain()[1:], dirs...)
	}
	s, err := d.findIn(w, dirs)
	if err != nil || s == nil {
		return "", err
	}
	return s.first.State.CanonicalPath, nil
}

// enter makes the caller a member of the seat's room, opening it if need be.
func (s *seat) enter(ctx context.Context) (*snapshot, error) {
	snap, err := s.view()
	if err != nil {
		return nil, err
	}
	if s.isMember(snap.State) && !s.ended(snap.State) {
		s.arrive()
		return snap, nil
	}
	for again := true; again; {
		if snap, _, err = s.update(ctx, func(st *turn.State, f turn.Facts) (events []event.Event, err error) {
			var policy turn.Policy
			if !st.Open || st.Quiet(time.Now()) { // a room that is open has its own
				if policy, err = s.defaultPolicy(); err != nil {
					return nil, err
				}
			}
			events, again = turn.Enter(st, f, s.joinRequest(policy))
			return events, nil
		}); err != nil {
			return nil, err
		}
	}
	s.arrive()
	return snap, nil
}

// joinRequest is how the caller joins; the policy is that of a room to be opened.
func (s *seat) joinRequest(policy turn.Policy) turn.JoinRequest {
	return turn.JoinRequest{
		Agent: s.me.ID, DisplayName: s.me.DisplayName, SessionKind: s.me.SessionKind, Override: s.me.Source == identity.SourceOverride,
		CanonicalPath: s.canonicalPath(), WorkspaceRoot: s.workspace.Root, Policy: policy,
	}
}

// canonicalPath is the directory whose room this is.
func (s *seat) canonicalPath() string {
	for _, dir := range s.workspace.Chain() {
		if fsroom.RoomName(dir) == s.room.Name() {
			return dir
		}
	}
	return s.workspace.Root
}

// arrive marks a member that has just come: it counts as ready for a turn.
func (s *seat) arrive() {
	at := time.Now()
	_ = s.mine().Mark(markSeen, at)
	_ = s.mine().Mark(markWaiting, at)
	s.recordProcess()
}

// defaultPolicy is the policy of a new room, from the environment.
func (d *desk) defaultPolicy() (turn.Policy, error) {
	p := turn.DefaultPolicy()
	for _, l := range turn.Limits() {
		text := ""
		if l.Env != "" {
			text = d.call.Env.Lookup(l.Env)
		}
		if text == "" {
			continue
		}
		dur, err := cli.ParseDuration(text)
		if err != nil {
			return p, code.New(code.Usage, "%s=%s %s", l.Env, text, err).WithHint("unset it or give a duration such as 45m")
		}
		if err := l.Set(&p, dur); err != nil {
			return p, code.New(code.Usage, "%s=%s: %s", l.Env, text, messageOf(err))
		}
	}
	return p, nil
}
