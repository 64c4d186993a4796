package ttcmd

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

var listCommand = &cli.Command{
	Name:  "list",
	Reads: true,
	Args:  []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		f.Bool("all", "every room of the data directory, or of the engine")
		freshFlag(f)
	},
	Run: runList,
}

func runList(ctx context.Context, c *cli.Invocation) error {
	client, err := newClient(c)
	if err != nil {
		return err
	}
	path, err := session.Path(c, "path")
	if err != nil {
		return err
	}
	w, err := locatePath(c, path)
	if err != nil && (path != "" || !c.Bool("all")) {
		return err
	}
	var names []string
	if !c.Bool("all") {
		names = member.RoomNames(w)
	} else if names, err = client.Rooms(); err != nil {
		return err
	}
	seen := client
	if c.Bool("all") {
		seen = client.Offline() // they were brought up to date all at once
	}
	res := listResult{Rooms: []turn.RoomView{}}
	var read []*member.Room
	for _, name := range names {
		room := seen.Room(name, w)
		if !room.FS.Exists() {
			continue
		}
		snap, err := view(ctx, c, room)
		if err != nil && c.Bool("all") {
			// A damaged room must not hide the others.
			res.Unreadable = append(res.Unreadable, unreadable{name, string(code.Of(err)), err.Error()})
			continue
		}
		if err != nil {
			return err
		}
		read = append(read, room)
		if !room.Ended(snap.State) {
			if snap.State.Owner != "" || snap.State.ReservedFor != "" {
				room = client.Room(name, w) // what is known of them on other hosts
			}
			v := room.Look(snap).Room()
			v.PathMissing = member.PathMissing(v.RoomID, v.CanonicalPath)
			res.Rooms = append(res.Rooms, v)
		}
	}
	if !c.Bool("all") {
		siblings := client.Siblings(w)
		res.Siblings = &siblings
		if len(res.Rooms) == 0 {
			res.Seen = hooks.Seen(client, w.Root)
		}
	}
	res.lastKnown = knownOf(c, read...)
	return c.Out.Result(res, func(t *cli.Text) {
		rooms, here := res.Rooms, ""
		if !c.Bool("all") {
			if len(rooms) > 0 {
				here = rooms[0].CanonicalPath
			}
			rooms = append(rooms, client.Offline().RoomsBelow(w, names)...)
		}
		writeRooms(t, rooms, here)
		if res.Seen > 0 {
			t.Line("seen: %s", counted(res.Seen, "session"))
		}
		if res.Siblings != nil {
			writeSiblings(t, w.Root, *res.Siblings)
		}
		for _, r := range res.Unreadable {
			t.Line("%s %s: %s", t.Red("unreadable"), r.RoomID, r.Message)
		}
	})
}

// A listResult lists rooms, and with --all also the rooms that cannot be read.
type listResult struct {
	Rooms      []turn.RoomView   `json:"rooms"`
	Siblings   *[]member.Sibling `json:"siblings,omitempty"` // nil with --all
	Seen       int               `json:"seen,omitempty"`     // sessions that work here although there is no room
	Unreadable []unreadable      `json:"unreadable,omitempty"`
	lastKnown
}

type unreadable struct {
	RoomID  string `json:"room_id"`
	Error   string `json:"error"`
	Message string `json:"message"`
}

// writeSiblings writes the other working trees of the repository, a line each.
func writeSiblings(t *cli.Text, root string, list []member.Sibling) {
	if len(list) == 0 {
		return
	}
	t.Line("Other working trees of the repository")
	var table cli.Table
	for i := range list {
		s := &list[i]
		state, who := cli.Styled("—"), "no room"
		if s.State != "" {
			state, who = stateStyle(t, s.State), cmp.Or(s.Owner, "—")
		}
		remark := ""
		if s.State != "" && s.State != member.StateUnknown {
			remark = counted(s.Members, "member")
		}
		if s.Job != "" {
			remark += ", job " + s.Job
		}
		table.Row(state, s.Name(root), who, remark)
	}
	t.Table(&table)
}

// writeRooms writes rooms in the order of their paths. here is the path of the room to be marked.
func writeRooms(t *cli.Text, rooms []turn.RoomView, here string) {
	if len(rooms) == 0 {
		t.Line("No rooms found.")
		return
	}
	rooms = slices.Clone(rooms)
	sort.Slice(rooms, func(i, j int) bool { return rooms[i].CanonicalPath < rooms[j].CanonicalPath })
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
		for i := range r.Trouble {
			remark += ", " + r.Trouble[i].Fact() + sinceWords(t, r.Trouble[i])
		}
		if r.PathMissing {
			remark += ", its directory is gone"
		}
		if r.CanonicalPath == here && len(rooms) > 1 {
			remark += ", ← here"
		}
		table.Row(stateStyle(t, r.State), r.CanonicalPath, who, remark)
	}
	t.Table(&table)
}
