package ttcmd

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var roomExportCommand = &cli.Command{
	Name:   "room export",
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Args:   []cli.Arg{pathArg},
	Short:  "print all events of the room, those of its earlier lives too",
	Long: "One event a line, as they are in the room's journals, in every mode: tt room import makes the same room of them. " +
		"Questions of a room are on a topic of the agent bus and not among them.",
	Examples: []cli.Example{{Line: "tt room export > room.jsonl"}},
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
	Errors:   []code.Code{code.CorruptRoom, code.UnsupportedFormat, code.BodyTooLarge, code.NoSharedIdentity, code.EngineUnreachable},
	Run:      runRoomImport,
}

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
	if store.IsShared() {
		res.Added, err = importShared(ctx, store, name, h)
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
