package ttcmd

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
)

// rules are those of the talking stick.
var rules = roomtypes.Stick()

type room = fsroom.Room[*turn.State]
type snapshot = fsroom.Snapshot[*turn.State]

// A desk is where a command works: who calls, and where the rooms are.
type desk struct {
	call  *cli.Invocation
	store *fsroom.Store
	table identity.Table
	me    identity.Agent
}

// identityEnv is what decides the identity. An id that was given needs no look
// into the user database.
func identityEnv(env *cli.Env, given bool) identity.Env {
	if given || env.Lookup("TT_HARNESS_AGENT_ID") != "" {
		host, _ := os.Hostname()
		return identity.Env{Lookup: env.Lookup, Home: env.Home, Host: host}
	}
	e := identity.SystemEnv()
	e.Lookup, e.Home = env.Lookup, env.Home
	return e
}

// whoCalls resolves the identity of the caller.
func whoCalls(c *cli.Invocation) (identity.Agent, identity.Table, error) {
	if c.Given("agent") && c.Agent == "" {
		return identity.Agent{}, nil, identity.ValidateAgentID("")
	}
	table := identity.System()
	me, err := identity.Resolve(identityEnv(c.Env, c.Agent != ""), table, c.Agent)
	return me, table, err
}

func openStore(c *cli.Invocation) (*fsroom.Store, error) {
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err != nil {
		return nil, err
	}
	return fsroom.Open(dir, fsroom.Options{Warn: warner(c), LeaveModes: c.Cmd.Name == doctorName, Fault: atStep})
}

// atStep is called before each step of a change that touches the disk. It is nil
// outside tests, where it holds a command up at a chosen step.
var atStep func(fsroom.Step) error

// warner returns the function that prints warnings of the store, nil for a
// prompt, which has no place for them.
func warner(c *cli.Invocation) func(string) {
	if forPrompt(c) {
		return nil
	}
	return c.Notice
}

func openDesk(c *cli.Invocation) (*desk, error) {
	me, table, err := whoCalls(c)
	if err != nil {
		return nil, err
	}
	store, err := openStore(c)
	if err != nil {
		return nil, err
	}
	return &desk{call: c, store: store, table: table, me: me}, nil
}

// openSeat is the caller's place in the room of the command line, or
// room_not_found.
func openSeat(c *cli.Invocation) (*seat, error) {
	d, err := openDesk(c)
	if err != nil {
		return nil, err
	}
	return d.seat()
}

// now is the moment on both clocks.
func now() turn.Instant {
	return turn.At(time.Now(), identity.BootID(), identity.Monotonic())
}

// isHuman reports whether the caller is a person and not a harness: such a one
// is an operator and needs nobody's leave to take over.
func (d *desk) isHuman() bool {
	switch d.me.Source {
	case identity.SourceHuman:
		return true
	case identity.SourceOverride:
		return humanID(d.me.ID)
	}
	return false
}

func humanID(id string) bool { return len(id) > 6 && id[:6] == "human:" }

// pathFlag declares --path, the other way to name the workspace.
func pathFlag(f *cli.Flags) {
	f.String("path", "DIR", "the workspace, instead of the argument or the current directory")
}

// pathArg is the optional last argument of most commands.
func pathArg() cli.Arg {
	return cli.Arg{Name: "path", Optional: true, Usage: "a directory of the workspace, or a file in it (default: the current directory)"}
}

// workspace finds the workspace that the command line names.
func (d *desk) workspace() (*workspace.Workspace, error) {
	arg := ""
	for _, a := range d.call.Cmd.Args {
		if a.Name == "path" {
			arg = a.Name
		}
	}
	path, err := givenPath(d.call, arg)
	if err != nil {
		return nil, err
	}
	return d.locate(path)
}

func (d *desk) locate(path string) (*workspace.Workspace, error) {
	return locate(d.call.Env, path)
}

// locate finds the workspace of a path. Of a current directory that was removed
// only the shell still knows the name.
func locate(env *cli.Env, path string) (*workspace.Workspace, error) {
	w, err := workspace.Locate(path, env.Dir, env.Home)
	var gone *code.Error
	if pwd := env.Lookup("PWD"); w == nil && env.Dir == "" && filepath.IsAbs(pwd) && errors.As(err, &gone) {
		gone.WithHint("go to another directory, or name the workspace with --path; it may have been %s", pwd).With("path", pwd)
	}
	return w, err
}

// givenPath is the path named by --path or by the argument, "" for neither.
func givenPath(c *cli.Invocation, arg string) (string, error) {
	flag := c.Given("path")
	if arg != "" && c.HasArg(arg) {
		if flag {
			return "", c.Usagef("the path was given twice: as %q and as --path %q", c.Arg(arg), c.String("path"))
		}
		return nonEmpty(c, c.Arg(arg))
	}
	if flag {
		return nonEmpty(c, c.String("path"))
	}
	return "", nil
}

func nonEmpty(c *cli.Invocation, path string) (string, error) {
	if path == "" {
		return "", c.Usagef("the path is empty")
	}
	return path, nil
}

// find returns the deepest room between the path and the workspace root that
// is alive, nil if there is none. An idle room that has outlived its time
// counts as ended.
func (d *desk) find(w *workspace.Workspace) (*seat, error) {
	return d.findIn(w, w.Chain())
}

func (d *desk) findIn(w *workspace.Workspace, dirs []string) (*seat, error) {
	for _, dir := range dirs {
		r := fsroom.At(d.store, rules, fsroom.RoomName(dir))
		if !r.Exists() {
			continue
		}
		s := &seat{desk: d, room: r, workspace: w}
		snap, err := r.View()
		if err != nil {
			return nil, err
		}
		if !s.ended(snap.State) {
			s.first = snap
			return s, nil
		}
	}
	return nil, nil
}

// seat returns the caller's place in the room of the path, or room_not_found.
func (d *desk) seat() (*seat, error) {
	w, err := d.workspace()
	return d.seatIn(w, err)
}

func (d *desk) seatAt(path string) (*seat, error) {
	w, err := d.locate(path)
	return d.seatIn(w, err)
}

// seatIfAny is seat for commands that say nothing of how to get a room: it returns
// nil if there is none, and costs little.
func (d *desk) seatIfAny() (*seat, error) {
	w, err := d.workspace()
	return d.seatIfAnyIn(w, err)
}

// seatIfAnyIn finds the room of a workspace, nil for none. One whose directory was
// removed (missing says so) may still have a room, to be looked at and left.
func (d *desk) seatIfAnyIn(w *workspace.Workspace, missing error) (*seat, error) {
	if w == nil {
		return nil, missing
	}
	s, err := d.find(w)
	if err == nil && s == nil {
		err = missing
	}
	return s, err
}

// seatIn finds the room of a workspace. Without one, room_not_found says how to
// get one, and which rooms the caller may have lost.
func (d *desk) seatIn(w *workspace.Workspace, missing error) (*seat, error) {
	s, err := d.seatIfAnyIn(w, missing)
	if err != nil || s != nil {
		return s, err
	}
	e := code.New(code.RoomNotFound, "there is no room at %s", w.Root).With("path", w.Path).With("workspace_root", w.Root)
	hint := `open one with "tt join"`
	if outer, err := d.findIn(w, w.Above()); err == nil && outer != nil {
		path := outer.first.State.CanonicalPath
		hint += ", or name the outer one: " + path
		e.With("outer_room", path)
	}
	if paths := d.orphaned(); len(paths) > 0 {
		e.With("missing_paths", paths)
		for _, path := range paths {
			hint += "; " + orphanWords(path)
		}
	}
	return nil, e.WithHint("%s", hint)
}
