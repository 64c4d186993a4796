package ttcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sort"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/mailbox"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/cmd/internal/viewers"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
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
		writeUnreadable(t, res.Unreadable)
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

func writeUnreadable(t *cli.Text, rooms []unreadable) {
	for _, r := range rooms {
		t.Line("%s %s: %s", t.Red("unreadable"), r.RoomID, r.Message)
	}
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

var whyCommand = &cli.Command{
	Name:   "why",
	Reads:  true,
	Traits: cli.Traits{LastKnown: true},
	Args:   []cli.Arg{{Name: "agent", Optional: true, Usage: "only this member: an agent id, or the name of one active member"}},
	Run:    runWhy,
}

type whyResult struct {
	Turn    turn.Standing         `json:"turn"`
	Members []mailbox.MemberReach `json:"members"`
	Locks   []*locks.View         `json:"locks,omitempty"`
	Next    []string              `json:"next"`

	JournalShortened *event.Lost `json:"journal_shortened,omitempty"` // what the journal has lost
}

func runWhy(ctx context.Context, c *cli.Invocation) error {
	room, seen, err := viewRoom(ctx, c)
	if err != nil {
		return err
	}
	now := room.Look(seen)
	st, f := now.State, now.Facts
	standing, told := st.Standing(f), mailbox.Of(room).Reach(st, f)
	elsewhere := ""
	if c.HasArg("agent") {
		away, err := room.Away(st, c.Arg("agent"))
		if err != nil {
			return err
		}
		id := ""
		if away != nil {
			elsewhere = c.Arg("agent") + " works in another tree of the repository: " + away.Name(room.Workspace.Root)
		} else if id, err = turn.WhoIs(st, f, room.Self.ID, c.Arg("agent")); err != nil {
			return err
		}
		told = slices.DeleteFunc(told, func(m mailbox.MemberReach) bool { return m.ID != id })
	}
	tree := room.Recorder(st)
	files, since := tree.Lost(ctx)
	if files > 0 {
		standing.Lost = json.RawMessage(cli.JSONLine(map[string]any{"files": files, "since": event.NewTime(since)}))
	}
	res := whyResult{Turn: standing, Members: told, Locks: locksOf(room), Next: st.Outlook(f), JournalShortened: now.Seen.Lost}
	if elsewhere != "" {
		res.Next = append(res.Next, elsewhere)
	}
	switch {
	case files > 0:
		res.Next = append(res.Next, counted(files, "file")+" went after "+since.UTC().Format("15:04:05")+
			" UTC, not committed; to bring back what went: tt restore --lost")
	case tree.Changing():
		res.Next = append(res.Next, "an undo or restore changes files at this moment: look again when it has ended")
	case tree.Interrupted():
		res.Next = append(res.Next, "an undo or restore was killed half-way; to put back what it changed: tt doctor --repair")
	}
	outside := outsideText(ctx, c, room, st)
	return c.Out.Result(res, func(t *cli.Text) { writeWhy(t, res, outside) })
}

func writeWhy(t *cli.Text, r whyResult, outside string) {
	hears, lock, next := titled(t, "Hears"), titled(t, "Locks"), titled(t, "Next")
	since, owner := "", r.Turn.Owner
	if r.Turn.Since != nil {
		since = ", " + t.Ago(r.Turn.Since.Time)
	}
	words := "free"
	switch v := r.Turn; {
	case owner != "":
		words = owner + " has turn " + itoa(v.TurnID) + since
	case v.ReservedFor != "":
		words = "turn " + itoa(v.TurnID+1) + " is reserved for " + v.ReservedFor + since
	case v.OfferedTo != "":
		words = "turn " + itoa(v.TurnID+1) + " is offered to " + v.OfferedTo + since
	case v.From != "":
		words = "free, with a handoff of " + v.From + since
	}
	t.Line("Turn    %s", words)
	if outside != "" {
		t.Line("%s", outside)
	}
	for _, m := range r.Members {
		words := m.ID + " " + reachWords(m.Listening, m.Reach, m.Within)
		if !m.NotifiedAt.IsZero() {
			words += ", " + t.Ago(m.NotifiedAt.Time)
		}
		if m.Unread > 0 {
			words += "; " + counted(int(m.Unread), "unread message")
		}
		if m.Note != "" {
			words += "; " + m.Note
		}
		if m.Why != "" && m.ID != owner { // what is wrong with whom is told below
			words += "; " + m.Why
		}
		if doing := m.Activity.Words(); doing != "" {
			words += "; " + doing + " since " + t.Ago(m.Activity.Since.Time)
			if m.Activity.Detail != "" {
				words += ": " + m.Activity.Detail
			}
		}
		if m.Activity.Job != "" && m.ID != owner { // whose job is told below
			words += "; runs job " + m.Activity.Job
		}
		switch {
		case m.Error != "" && m.Listening == "":
			words += "; nothing can wake it: " + m.Error
		case m.Error != "":
			words += "; the last attempt failed: " + m.Error
		}
		hears(words)
	}
	for _, l := range r.Locks {
		lock(lockWords(l, t.Now))
	}
	for _, what := range r.Next {
		next(what)
	}
	writeShortened(t, r.JournalShortened)
}

var whoamiCommand = &cli.Command{
	Name:   "whoami",
	Traits: cli.Traits{NoSubject: true},
	Hidden: true,
	Reads:  true,
	Flags: func(f *cli.Flags) {
		f.Bool("explain", "also say which signals were seen and which decided")
	},
	Run: runWhoami,
}

func runWhoami(_ context.Context, c *cli.Invocation) error {
	if _, err := openStore(c); err != nil { // it says what this host is called
		c.Warn("%v", err)
	}
	me, err := session.Caller(c, processes(c))
	if err != nil {
		return err
	}
	return c.Out.Result(identity.WhoamiJSON(me), func(t *cli.Text) {
		if !c.Bool("explain") {
			t.Line("%s", me.ID)
			return
		}
		for _, line := range identity.Explain(me) {
			t.Line("%s", line)
		}
		if dir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home); err == nil {
			t.Line("data directory %s: agents with another one do not see each other", dir)
		}
	})
}

var (
	consoleCommand = viewers.Console(runViewer)
	reportCommand  = viewers.Report(runViewer)
)

// runViewer becomes tt-console, with the same command line.
func runViewer(_ context.Context, c *cli.Invocation) error {
	program, err := second.Find(c.Env, second.Console)
	if err == nil {
		if err = second.Become(c, program, second.Console); code.Of(err) != code.Usage {
			return err
		}
	}
	own, _ := c.Env.Executable()
	return code.New(code.ConsoleNotInstalled, "%s is in the program %s, which is not beside tt and not in PATH, or cannot be run",
		c.Cmd.Name, second.Console).
		WithHint(`run "make install" in a checkout, take it from the release archive of tt, or: CGO_ENABLED=0 GOBIN=%s go install github.com/talking-stick/tt/cmd/%s@latest`,
			code.ShellWord(filepath.Dir(own)), second.Console)
}
