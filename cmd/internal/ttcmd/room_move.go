package ttcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A roomImportResult is what an import did.
type roomImportResult struct {
	Status       string `json:"status"` // imported, or unchanged
	RoomID       string `json:"room_id"`
	Path         string `json:"path"`
	Events       int64  `json:"events"` // in the file
	Added        int64  `json:"added"`
	LastEventSeq int64  `json:"last_event_seq"`
}

// mostImport is the longest history that is imported, in bytes: it is kept in memory.
const mostImport = 1 << 30

func runRoomImport(ctx context.Context, c *cli.Invocation) error {
	store, err := openStore(c)
	if err != nil {
		return err
	}
	path, err := session.Given(c)
	if err != nil {
		return err
	}
	w, err := locatePath(c, path)
	if err != nil {
		return err
	}
	lines, err := readImport(c)
	if err != nil {
		return err
	}
	name := fsroom.RoomName(w.Identity(w.Root))
	h, err := history.Check(stick, name, lines)
	if err != nil {
		return err
	}
	res := roomImportResult{Status: "imported", Path: w.Root, Events: h.Last(), LastEventSeq: h.Last()}
	for _, dir := range w.Chain() {
		if id := fsroom.RoomName(w.Identity(dir)); id == h.Room {
			name, res.Path = id, dir
		}
	}
	res.RoomID = name
	if store.Options().Engine != nil {
		res.Added, err = build.Sharing.Import(ctx, store, stick.Folder+"."+name, h)
	} else {
		room := fsroom.At(store, stick, name)
		if res.Added, err = history.Import(ctx, room, h, isMove); err == nil && name != h.Room {
			room.Keep(member.PathFile, res.Path)
		}
	}
	if err != nil {
		return err
	}
	if res.Added == 0 {
		res.Status = "unchanged"
	}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("The room of %s has all of the file: %s, of which %d new.", res.Path, counted(int(res.Events), "event"), res.Added)
	})
}

// isMove reports whether the event says that the room went on elsewhere, from where it may
// come back.
func isMove(e *event.Event) bool {
	return e.Type == turn.Closed && strings.HasPrefix(e.Reason, turn.MovedTo)
}

// readImport returns the content of the file.
func readImport(c *cli.Invocation) ([]byte, error) {
	file := c.Arg("file")
	var from io.Reader = c.Env.Stdin
	if file != "-" {
		f, err := os.Open(c.Env.Abs(file))
		if err != nil {
			return nil, c.Usagef("the file cannot be read: %v", err)
		}
		defer f.Close()
		from = f
	}
	b, err := io.ReadAll(io.LimitReader(from, mostImport+1))
	switch {
	case err != nil:
		return nil, c.Usagef("the file cannot be read: %v", err)
	case len(b) > mostImport:
		return nil, code.New(code.BodyTooLarge, "the file has more than %d bytes", mostImport).WithHint("copy the data directory instead")
	}
	return b, nil
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
	return copyTo(ctx, c, service, dir, w, missing)
}

func copyTo(ctx context.Context, c *cli.Invocation, service *hosts.Service, dataDir string, w *workspace.Workspace, missing error) error {
	given := c.Env.Lookup(hosts.RoomVariable)
	if c.Given("room") {
		given = c.String("room")
	}
	name, err := build.Sharing.Name(w.Root, given)
	if err != nil {
		return err
	}
	table := identity.System()
	self, err := caller(c, table)
	if err != nil {
		return err
	}
	store, err := fsroom.Open(dataDir, fsroom.Options{Warn: c.Notice, Fault: build.AtStep, Patience: build.Patience})
	if err != nil {
		return err
	}
	client := clientFor(c, store, table, self)
	room, _, err := client.Open(w, missing)
	if code.Of(err) == code.RoomNotFound {
		if ended := client.OpenEnded(w); ended != nil {
			room, err = ended, nil
		}
	}
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
			_, err := room.CloseMoved(ctx, reason, seq)
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
