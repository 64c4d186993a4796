package ttcmd

import (
	"context"
	"fmt"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
)

var roomNameCommand = &cli.Command{
	Name: "room name",
	Args: []cli.Arg{{Name: "room", Show: "NAME", Optional: true, Usage: "letters, digits, - _ . ~ + and single slashes: acme/api"}},
	Run:  runRoomName,
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
	if !c.HasArg("room") {
		c.Out.Reads()
	}
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

var roomCopyCommand = &cli.Command{
	Name: "room copy",
	Args: []cli.Arg{{Name: "to", Show: "[PATH] URL", Rest: true,
		Usage: "the workspace, and nats://HOST:PORT/NAMESPACE or an alias of engines.json"}},
	Run: runRoomCopy,
}

// importShared gives the engine of the store what it does not have of a room's history.
func importShared(ctx context.Context, store *fsroom.Store, room string, h *history.History) (added int64, err error) {
	return build.Sharing.Import(ctx, store, stick.Folder+"."+room, h)
}

// A roomCopyResult is a room that was moved.
type roomCopyResult struct {
	Status       string `json:"status"` // always copied
	Room         string `json:"room"`   // the name by which all hosts know it
	RoomID       string `json:"room_id"`
	FromRoomID   string `json:"from_room_id"`
	Engine       string `json:"engine"`
	Events       int64  `json:"events"`
	Added        int64  `json:"added"`  // by this call
	Closed       bool   `json:"closed"` // by this call
	LastEventSeq int64  `json:"last_event_seq"`
}

func runRoomCopy(ctx context.Context, c *cli.Invocation) error {
	if build.Sharing == nil {
		return becomeEngine(c, &hosts.Service{URL: "nats:"})
	}
	to := c.Rest("to")
	path := c.String("path")
	if len(to) > 2 || len(to) == 2 && c.Given("path") {
		return c.Usagef("unexpected argument %q", to[len(to)-1])
	}
	if len(to) == 2 {
		path = to[0]
	}
	dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err != nil {
		return err
	}
	service, err := hosts.Named(dir, to[len(to)-1])
	if err != nil {
		return err
	}
	w, missing := session.LocatePath(c.Env, path)
	if w == nil {
		return missing
	}
	given := c.Env.Lookup(hosts.RoomVariable)
	if c.Given("room") {
		given = c.String("room")
	}
	name, err := build.Sharing.Name(w.Root, given)
	if err != nil {
		return err
	}
	self, err := session.Caller(c, identity.System())
	if err != nil {
		return err
	}
	store, err := fsroom.Open(dir, fsroom.Options{Warn: c.Notice, Fault: build.AtStep, Patience: build.Patience})
	if err != nil {
		return err
	}
	client := clientFor(c, store, identity.System(), self)
	room, _, err := client.OpenPast(w, missing)
	if err != nil {
		return err
	}
	at := w.Root
	for _, dir := range w.Chain() {
		if fsroom.RoomName(dir) == room.FS.Name() {
			at = dir
		}
	}
	shared := *w
	shared.Shared = name
	res := roomCopyResult{Status: "copied", Room: shared.Identity(at), FromRoomID: room.FS.Name(), Engine: service.URL}
	res.RoomID = fsroom.RoomName(res.Room)
	moved, err := build.Sharing.Copy(ctx, service, hosts.Move{
		From: store, Room: room.FS.Name(), To: res.RoomID,
		Close: func(ctx context.Context, reason string, seq int64) error {
			_, err := room.Close(ctx, reason, seq)
			return err
		},
	})
	if err != nil {
		return err
	}
	res.Events, res.LastEventSeq, res.Added, res.Closed = moved.Events, moved.Events, moved.Added, moved.Closed
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("The room goes on at %s as %s: %s, %d of them published now. It is closed here.", res.Engine, res.Room,
			counted(int(res.Events), "event"), res.Added)
		t.Line("%s", t.Dim(fmt.Sprintf("Set %s=%s on every host, or name an alias for it in %s.", hosts.EngineVariable,
			res.Engine, workspace.RoomFilePath(w.Root))))
	})
}
