// Package member is one agent in one room of the talking stick: how it joins and
// waits, the record of its lease and the guardian that renews it, its presence, and the
// facts that [turn] decides on. Commands of tt call it; it knows nothing of flags or
// output. What the agent is told is a matter of package mailbox.
package member

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// A Client is an agent on this machine, and the data directory of its rooms.
type Client struct {
	Store *fsroom.Store
	Table identity.Table
	Self  identity.Agent // the agent
	Dir   string         // in which its commands run, "" if it is not known

	Policy     func() (turn.Policy, error)       // the policy of a room that is created
	Executable func() (string, error)            // the path of this program, which is started as guardian
	Warn       func(string)                      // prints a warning
	Record     func(*Room, turn.Policy) Recorder // of a room, nil for none; nil: nothing is recorded
	Clock      func() turn.Instant               // that of the engine; nil: that of this machine
	Machine    Machine                           // on which processes are started; the zero Machine is this one
	// Pull keeps the mirrors of rooms up to date while the agent listens; nil without an
	// engine. See Listen of package hosts.
	Pull func(agent string, rooms func() []string, how func() string) (update, stop func())

	// Elsewhere reports whether the room of the workspace at a path is one that hosts share, or it is not
	// known; nil: none is.
	Elsewhere func(root string) bool

	away error // why the engine of a room could not be reached; nil: it was

	Shows string // how what the client prints reaches the agent, see [hearing.Shown]
}

// A Machine starts and ends the processes in which this program goes on after a command. Its
// functions are nil outside simulations.
type Machine struct {
	// Start starts the program as [jobs.StartDetached] does, without the program's name in args.
	Start func(args []string, out *os.File, files ...*os.File) (pid int, err error)
	Kill  func(pid int) // ends a process that Start has started
	// Uptime returns the boot of the machine, and how long it has been on, also asleep.
	Uptime func() (boot string, on time.Duration)
}

// uptime is Uptime of the machine.
func (m *Machine) uptime() (boot string, on time.Duration) {
	if m.Uptime != nil {
		return m.Uptime()
	}
	return identity.BootID(), identity.Uptime()
}

// Now returns the current time on both clocks: by which leases are judged.
func (c *Client) Now() turn.Instant {
	if c.Clock != nil {
		return c.Clock()
	}
	return turn.At(time.Now(), identity.BootID(), identity.Monotonic())
}

// time returns the current time on the wall clock by which rooms are judged: all times that
// hosts tell each other are on that of the engine.
func (c *Client) time() time.Time { return time.Now().Add(c.Skew()) }

// Skew returns how much the clock of the engine is ahead of that of this machine.
func (c *Client) Skew() time.Duration {
	if c.Clock == nil {
		return 0
	}
	return time.Until(c.Clock().Wall.Time)
}

// IsHuman reports whether the agent is a person and not a harness. A person is an
// operator and may always take the turn over.
func (c *Client) IsHuman() bool { return turn.IsPerson(c.Self.ID) }

// Room returns the room with the name, which need not exist. The workspace may be
// nil for a room that nobody joins.
func (c *Client) Room(name string, w *workspace.Workspace) *Room {
	r := &Room{Client: c, FS: fsroom.At(c.Store, roomtypes.Stick(), name), Workspace: w}
	if shared := r.FS.Shared(); shared != nil {
		r.hosts = &hosts{r, shared, c.Store.Options().Host}
	}
	return r
}

// Rooms returns the names of all rooms of the data directory. With an engine they are all
// rooms of the engine, whose mirrors are brought up to date.
func (c *Client) Rooms() ([]string, error) { return fsroom.Rooms(c.Store, roomtypes.Stick()) }

// RoomNames returns the names that the rooms between the path of a workspace and its root
// have, whether they exist or not.
func RoomNames(w *workspace.Workspace) (names []string) {
	for _, dir := range w.Chain() {
		names = append(names, fsroom.RoomName(w.Identity(dir)))
	}
	return names
}

// In returns what a command about the room of a path needs that runs in the directory dir: --path, unless
// it finds that room there.
func (c *Client) In(dir, path string) string {
	home, _ := os.UserHomeDir()
	w, err := workspace.Locate(dir, "", home)
	if err != nil || len(w.Path) <= 1 { // a process that was detached works in /
		return ""
	}
	if i := slices.Index(w.Chain(), path); i >= 0 {
		if nearer, _, err := c.Offline().find(w, w.Chain()[:i]); nearer == nil && err == nil {
			return ""
		}
	}
	return " --path " + code.ShellWord(path)
}

// Next returns what to do next with in, see [Client.In], at each command of it.
func Next(text, in string) string {
	if in == "" {
		return text
	}
	return regexp.MustCompile(`\btt [a-z]+`).ReplaceAllStringFunc(text, func(command string) string { return command + in })
}

// Offline returns a client that sees rooms as this host has them, and asks no engine.
func (c *Client) Offline() *Client {
	offline := *c
	offline.Store = c.Store.Offline()
	return &offline
}

// WithTrouble adds to the error of an engine that cannot be reached what that means to a holder of this host.
func (c *Client) WithTrouble(w *workspace.Workspace, err error) error {
	var e *code.Error
	if !fsroom.IsUnreachable(err) || !errors.As(err, &e) {
		return err
	}
	offline := c.Offline()
	offline.away = err
	room, snap, openErr := offline.Find(w, nil)
	if openErr != nil || room == nil {
		return err
	}
	if list := room.Look(snap).Room().Trouble; turn.IsCutOff(list) {
		return e.With("trouble", list).WithHint("%s", list[0].Do)
	}
	return err
}

// find returns the room of the first of the directories that has one, nil if none has, and
// the room as it was read. An idle room that has outlived its time counts as ended.
func (c *Client) find(w *workspace.Workspace, dirs []string) (*Room, *snapshot, error) {
	if w.Lost != "" && w.Shared == "" {
		dirs = append([]string{w.Lost}, dirs...)
	}
	for _, dir := range dirs {
		r := c.Room(fsroom.RoomName(w.Identity(dir)), w)
		if !r.FS.Exists() {
			c.reached(r)
			continue
		}
		snap, err := r.FS.View()
		if err != nil {
			return nil, nil, err
		}
		c.reached(r)
		if !r.Ended(snap.State) {
			return r, snap, nil
		}
	}
	return nil, nil, nil
}

// reached keeps why the engine could not be reached for a room, if it could not.
func (c *Client) reached(r *Room) {
	if _, away := r.Unreachable(); away != nil {
		c.away = away
	}
}

// Find returns the deepest room between the path of the workspace and its root, nil
// if there is none, and the room as it was read. w and missing are as for [Client.Open].
func (c *Client) Find(w *workspace.Workspace, missing error) (*Room, *snapshot, error) {
	if w == nil {
		return nil, nil, missing
	}
	r, seen, err := c.find(w, w.Chain())
	if err == nil && r == nil {
		err = missing
	}
	return r, seen, err
}

// Open returns the room of a workspace and the room as it was read, or room_not_found,
// whose hint says how to get a room and which rooms the agent may have lost. w and missing
// are the results of [workspace.Locate]: a directory that was removed may still have a room,
// which can be looked at and left.
func (c *Client) Open(w *workspace.Workspace, missing error) (*Room, *snapshot, error) {
	r, seen, err := c.Find(w, missing)
	if err == nil && r == nil {
		err = c.notFound(w)
	}
	return r, seen, err
}

// OpenPast is [Client.Open] that returns also a room that has ended; seen is nil then.
func (c *Client) OpenPast(w *workspace.Workspace, missing error) (r *Room, seen *snapshot, err error) {
	r, seen, err = c.Open(w, missing)
	if w != nil && err != nil && (err == missing || code.Of(err) == code.RoomNotFound || fsroom.IsUnreachable(err)) {
		if ended := c.openEnded(w); ended != nil {
			return ended, nil, nil
		}
	}
	return r, seen, err
}

// notFound is the error of [Client.Open] for a workspace without a room.
func (c *Client) notFound(w *workspace.Workspace) error {
	if c.away != nil { // it may have the room
		return c.away
	}
	e, hint := noRoom(w), `open one with "tt join"`
	if c.IsHuman() { // who only looks is in no order of turns
		hint = `an agent opens one with "tt join"; "tt list --all" shows every room`
	}
	if w.ByID() {
		if c.openEnded(w) == nil {
			return e
		}
		return e.WithHint(`it has ended: "tt log" shows its history`)
	}
	if outer, seen, err := c.find(w, w.Above()); err == nil && outer != nil {
		path := outer.above(seen.State)
		hint += ", or name the outer one: " + path
		e.With("outer_room", path)
	}
	if ended := c.openEnded(w); ended != nil {
		if snap, err := ended.FS.View(); err == nil && !snap.State.Open {
			end, _ := ended.closing(context.Background(), snap.State.Seq-1, true)
			end = cmp.Or(end, &event.Event{})
			if there := turn.GoOnAt(end.Reason, ended.hosts != nil); there != "" {
				return e.WithHint("the room was %s: %s", end.Reason, there)
			}
			if end.From != "" {
				e.Message = fmt.Sprintf("%s has closed the room at %s: %s", end.From, ended.Directory(), end.Reason)
				e.With("from_agent_id", end.From).With("reason", end.Reason)
			}
		}
		hint = `"tt log" shows the history of the one that has ended; ` + hint
	}
	return c.tellLost(e.WithHint("%s", hint))
}

// openEnded returns the room of a workspace that has ended and whose events are in
// the archive, nil if there is none.
func (c *Client) openEnded(w *workspace.Workspace) *Room {
	for _, name := range RoomNames(w) {
		r := c.Room(name, w)
		if snap, err := r.FS.View(); err == nil && snap.State.Seq > 0 {
			return r
		}
	}
	return nil
}

// noRoom is the error for a workspace without a room.
func noRoom(w *workspace.Workspace) *code.Error {
	if w.ByID() {
		id := strings.TrimPrefix(w.Shared, workspace.ByID)
		return code.New(code.RoomNotFound, "there is no room with the id %s", id).
			WithHint(`"tt list --all" shows those that there are`).With("room_id", id)
	}
	return code.New(code.RoomNotFound, "there is no room at %s", w.Root).With("path", w.Path).With("workspace_root", w.Root)
}

// Held returns the open rooms whose turn somebody has, as this host knows them, and those in which somebody may have had
// one since a moment. It takes no lock and asks no engine.
func Held(store *fsroom.Store, since time.Time) (rooms []*turn.State) {
	store = store.Offline()
	names, _ := fsroom.Folders(store, roomtypes.Stick())
	for _, name := range names {
		room := fsroom.At(store, roomtypes.Stick(), name)
		ended := !room.HasJournal()
		if info, err := os.Stat(room.StatePath()); ended && (err != nil || !info.ModTime().After(since)) {
			continue
		}
		snap, err := room.Known()
		if err == nil && (snap.State.Owner != "" || snap.State.Pending.At.Wall.After(since) || ended && snap.State.Turn > 0) {
			snap.State.CanonicalPath = cmp.Or(room.Kept(PathFile), snap.State.CanonicalPath)
			rooms = append(rooms, snap.State)
		}
	}
	return rooms
}
