package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/fsroom/workspace"
)

var roomNameCommand = &cli.Command{
	Name:  "room name",
	Args:  []cli.Arg{{Name: "room", Show: "NAME", Optional: true, Usage: "letters, digits, - _ . ~ + and single slashes: acme/api"}},
	Short: "show or set the name by which all hosts know the workspace's room",
	Long: "With NAME, writes it to .talking-stick/room at the workspace's root; its other lines stay. Commit the file: then " +
		"every checkout has the name. Without, prints the name that is in force: that of --room or TALKING_STICK_ROOM, else of the " +
		"file, else of git's origin.",
	Examples: []cli.Example{{Line: "tt room name acme/api"}},
	Flags:    pathFlag,
	Errors:   []code.Code{code.NoSharedIdentity},
	Run:      runRoomName,
}

// A roomNameResult is the name of the workspace's room.
type roomNameResult struct {
	Room          string `json:"room"`
	Source        string `json:"source"` // flag, environment, file or git
	RoomID        string `json:"room_id"`
	WorkspaceRoot string `json:"workspace_root"`
	File          string `json:"file,omitempty"`
	Engine        string `json:"engine,omitempty"` // the alias in the file
}

func runRoomName(_ context.Context, c *cli.Invocation) error {
	w, err := session.Locate(c)
	if err != nil {
		return err
	}
	res := roomNameResult{WorkspaceRoot: w.Root}
	given := c.Env.Lookup(hosts.RoomVariable)
	switch {
	case c.HasArg("room") && c.Given("room"):
		return c.Usagef("the name was given twice: as %q and as --room %q", c.Arg("room"), c.String("room"))
	case c.HasArg("room"):
		f, err := workspace.WriteRoomName(w.Root, c.Arg("room"))
		if err != nil {
			return err
		}
		res.Room, res.Source, res.Engine = f.Room, workspace.FromFile, f.Engine
		if given != "" && given != f.Room {
			c.Notice(hosts.RoomVariable + " is set, and wins over the file: " + given)
		}
	case c.Given("room"):
		res.Source = "flag"
		res.Room, err = workspace.CheckSharedName(c.String("room"))
	case given != "":
		res.Source = "environment"
		res.Room, err = workspace.CheckSharedName(given)
	default:
		res.Room, res.Source, err = workspace.StoredName(w.Root)
	}
	if err != nil {
		return err
	}
	res.RoomID = fsroom.RoomName(res.Room)
	from := map[string]string{"flag": "--room", "environment": hosts.RoomVariable, workspace.FromGit: "git's origin"}[res.Source]
	if res.Source == workspace.FromFile {
		res.File = workspace.RoomFilePath(w.Root)
		from = res.File
	}
	return c.Out.Result(res, func(t *cli.Text) { t.Line("%s %s", res.Room, t.Dim("from "+from)) })
}

var roomExportCommand = &cli.Command{
	Name:   "room export",
	Traits: cli.Traits{LastKnown: true},
	Args:   []cli.Arg{pathArg},
	Short:  "print all events of the room, those of its earlier lives too",
	Long: "One event a line, as they are in the room's journals, in every mode: tt room import makes the same room of them. " +
		"Questions of a room are on a topic of the agent bus and not among them.",
	Examples: []cli.Example{{Line: "tt room export > room.jsonl"}},
	Flags:    pathFlag,
	Errors:   []code.Code{code.RoomNotFound, code.CorruptRoom},
	JSONOnly: true,
	Run:      runRoomExport,
}

func runRoomExport(ctx context.Context, c *cli.Invocation) error {
	room, err := openHistory(c, true)
	if err != nil {
		return err
	}
	lines, err := history.Lines(ctx, fsroom.At(room.Client.Store, stick, room.FS.Name()))
	if err != nil {
		return err
	}
	return c.Out.Print(string(lines))
}

var roomImportCommand = &cli.Command{
	Name:  "room import",
	Args:  []cli.Arg{{Name: "file", Usage: "what tt room export has printed; - is standard input"}},
	Short: "make the workspace's room of an export",
	Long: "Checks every line before it changes anything. A room that is there already must be the beginning of what is " +
		"imported; it gets the rest. With an engine the room goes to the engine.",
	Examples: []cli.Example{{Line: "tt room import room.jsonl"}},
	Flags:    pathFlag,
	Errors:   []code.Code{code.CorruptRoom, code.UnsupportedFormat, code.BodyTooLarge, code.NoSharedIdentity, code.EngineUnreachable},
	Run:      runRoomImport,
}

var roomCopyCommand = &cli.Command{
	Name: "room copy",
	Args: []cli.Arg{{Name: "to", Show: "[PATH] URL", Rest: true,
		Usage: "the workspace, and nats://HOST:PORT/NAMESPACE or an alias of engines.json"}},
	Short: "move the room of this host to an engine that several hosts share",
	Long: "Closes the room here, with the reason \"moved to URL\", and publishes its events under the name that all hosts know " +
		"the workspace by, see tt room name. There it goes on: the members, the handoff and the notes are those that it had. A " +
		"held turn is refused: release it first.\n\n" +
		"If it is interrupted, run it again: what stands is compared and skipped. A room of the name that has other events is " +
		"refused.",
	Examples: []cli.Example{{Line: "tt room copy nats://10.0.0.7:4222/acme"}},
	Flags:    pathFlag,
	Errors: []code.Code{code.RoomNotFound, code.TurnMismatch, code.NotJoined, code.RoomClosed, code.CorruptRoom, code.NoSharedIdentity,
		code.EngineMissing, code.EngineUnreachable, code.EngineDenied, code.InDoubt},
	Run: runRoomCopy,
}
