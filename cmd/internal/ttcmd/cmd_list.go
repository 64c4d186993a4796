package ttcmd

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

var listCommand = &cli.Command{
	Name:  "list",
	Group: groupLook,
	Args:  []cli.Arg{pathArg()},
	Short: "list the rooms of the workspace, or all",
	Long:  "Rooms between the path and the workspace root; with --all, every room of the data directory. Changes nothing.",
	Flags: func(f *cli.Flags) {
		f.Bool("all", "every room of the data directory")
		pathFlag(f)
	},
	Errors: []code.Code{code.CorruptRoom, code.DataDirUnusable},
	Run:    runList,
}

func runList(ctx context.Context, c *cli.Invocation) error {
	client, err := newClient(c)
	if err != nil {
		return err
	}
	path, err := givenPath(c, "path")
	if err != nil {
		return err
	}
	w, err := locate(c.Env, path)
	if err != nil && (path != "" || !c.Bool("all")) {
		return err
	}
	var names []string
	if !c.Bool("all") {
		names = roomNames(w)
	} else if names, err = client.Rooms(); err != nil {
		return err
	}
	res := listResult{Rooms: []turn.RoomView{}}
	for _, name := range names {
		room := client.Room(name, w)
		if !room.Exists() {
			continue
		}
		snap, err := room.View()
		if err != nil && c.Bool("all") {
			// A damaged room must not hide the others.
			res.Unreadable = append(res.Unreadable, unreadable{name, string(code.Of(err)), err.Error()})
			continue
		}
		if err != nil {
			return err
		}
		if !room.Ended(snap.State) {
			v := snap.State.Room(room.Facts(snap.State))
			v.PathMissing = member.PathMissing(v.CanonicalPath)
			res.Rooms = append(res.Rooms, v)
		}
	}
	return c.Out.Result(res, func(t *cli.Text) {
		writeRooms(t, res.Rooms)
		for _, r := range res.Unreadable {
			t.Line("%s %s: %s", t.Red("unreadable"), r.RoomID, r.Message)
		}
	})
}

// A listResult lists rooms, and with --all also the rooms that cannot be read.
type listResult struct {
	Rooms      []turn.RoomView `json:"rooms"`
	Unreadable []unreadable    `json:"unreadable,omitempty"`
}

type unreadable struct {
	RoomID  string `json:"room_id"`
	Error   string `json:"error"`
	Message string `json:"message"`
}

// roomNames returns the names that the rooms between the path and the workspace root
// have, whether they exist or not.
func roomNames(w *workspace.Workspace) (names []string) {
	for _, dir := range w.Chain() {
		names = append(names, fsroom.RoomName(dir))
	}
	return names
}

func writeRooms(t *cli.Text, rooms []turn.RoomView) {
	if len(rooms) == 0 {
		t.Line("No rooms found.")
		return
	}
	var table cli.Table
	for _, r := range rooms {
		who := "—"
		switch {
		case r.Owner != "":
			who = r.Owner
		case r.ReservedFor != "":
			who = "for " + r.ReservedFor
		}
		remark := "changed " + t.Ago(r.UpdatedAt.Time)
		if r.PathMissing {
			remark += ", its directory is gone"
		}
		table.Row(stateStyle(t, r.State), r.CanonicalPath, who, remark)
	}
	t.Table(&table)
}
