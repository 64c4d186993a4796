package member

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// The ways in which an agent can hear of news while its model is idle.
const (
	ByWatch    = "claude-watch" // Claude Code watches the wake file
	ByHook     = "claude-hook"  // a hook of Claude Code that lives in the background
	ByQueue    = "codex-queue"  // tt listen, which calls codex queue
	ByOpenCode = "opencode"     // the plugin, which reads tt listen
	ByHold     = "hold"         // a hook that holds the end of a turn
	ByExec     = "exec"         // tt listen, which runs a command or prints lines
	ByWait     = "wait"         // tt wait
	ByHooks    = "hook"         // the hooks, when its model works
)

// The files of an agent in the directory of its listener, see [fsroom.Store.Listener].
const (
	listenerFile  = fsroom.ListenerFile // a Listener
	listeningFile = "listening"         // held as long as a listener process lives
	roomsDir      = "rooms"             // has an empty file for each room that the agent is in
)

// BelongsToListener reports whether the folder of the listeners may have a file or
// directory. The path is below the folder, and separated by slashes.
func BelongsToListener(path string, mode fs.FileMode) bool {
	names := strings.Split(path, "/")
	name := names[len(names)-1]
	switch len(names) {
	case 1:
		return mode.IsDir()
	case 2:
		if mode.IsDir() {
			return name == roomsDir || name == "tmp"
		}
		// The first three are those of package fsroom, the last two of the hooks.
		files := []string{fsroom.ListenerWakeFile, fsroom.ListenerAskedFile, "lock", listenerFile, listeningFile, "looked", "patient", "hearing"}
		return mode.IsRegular() && slices.Contains(files, name)
	}
	return len(names) == 3 && mode.IsRegular() && (names[1] == roomsDir || names[1] == "tmp")
}

// A Listener is what is known of how an agent hears of news. It belongs to the agent and
// not to a room: the session of a harness is one, and so is its wake file.
type Listener struct {
	How     string            // what listens now or did last; "" for hooks alone
	Session string            // of the harness; "" if none is open
	Process *identity.Process // of the harness; nil: not known
	Since   event.Time        // when How began to listen
	Armed   event.Time        // when the harness was told to watch the wake file; zero: it was not
	Heard   event.Time        // when it last noticed a notification
	Spoke   event.Time        // when the agent was last woken
	Busy    event.Time        // since when the model is in a turn; zero: it is idle
	PutOff  event.Time        // since when news waits for a better moment; zero: none does
	Lately  []int64           // when, in seconds of Unix time, messages of agents woke it
	Off     bool              // it is woken for turns alone
	Error   string            // of the last attempt to wake the agent
}

// ListenerDir is the directory of the agent's listener.
func (c *Client) ListenerDir() fsroom.Agent { return c.Store.Listener(c.Self.ID) }

// Listener returns what is known of how the agent hears of news.
func (c *Client) Listener() Listener { return readListener(c.ListenerDir()) }

func readListener(dir fsroom.Agent) (l Listener) {
	if !dir.Read(listenerFile, &l) {
		return Listener{}
	}
	return l
}

// SaveListener stores what is known of how the agent hears of news. The caller has the
// lock of [Client.ListenerDir].
func (c *Client) SaveListener(l *Listener) error { return c.ListenerDir().Write(listenerFile, l) }

// HoldListening makes this process the listener of the agent until release is called.
// release is nil if another process is. The caller has the lock of [Client.ListenerDir].
func (c *Client) HoldListening() (release func(), err error) {
	dir := c.ListenerDir()
	if dir.Held(listeningFile) {
		return nil, nil
	}
	return dir.Hold(listeningFile)
}

// IsListening reports whether a process listens for the agent.
func (c *Client) IsListening() bool { return c.ListenerDir().Held(listeningFile) }

// Listens returns how the agent hears of news, "" if it does not. What a harness was told
// to do is believed when the harness has shown that it does it, and a process as long as
// it lives.
func (c *Client) Listens() string {
	l := c.Listener()
	return c.listens(&l, c.ListenerDir())
}

func (c *Client) listens(l *Listener, dir fsroom.Agent) string {
	switch {
	case l.Proved() && c.isAlive(l.Process):
		return ByWatch
	case !dir.Held(listeningFile):
		return ""
	case l.How == ByWatch:
		return ByHook
	}
	return cmp.Or(l.How, ByExec)
}

// Proved reports whether the harness has noticed a notification since it was told to
// watch the wake file.
func (l *Listener) Proved() bool {
	return l.How == ByWatch && !l.Armed.IsZero() && l.Heard.After(l.Armed.Time)
}

// Open reports whether a session of a harness is open, as far as is known.
func (c *Client) open(l *Listener) bool {
	return l.Session != "" && (l.Process == nil || c.Table.Verdict(*l.Process) != identity.Gone)
}

// hearing returns how a member can hear of news. For an agent without a listener that
// costs one look at a file.
func (r *Room) hearing(st *turn.State, id string) (h turn.Hearing) {
	if !r.Client.Store.ListenerHas(id, listenerFile) {
		return r.hearingElsewhere(id)
	}
	dir := r.Client.Store.Listener(id)
	l := readListener(dir)
	h.How, h.Hooks = r.listens(&l, dir), r.open(&l)
	h.Busy = h.Hooks && !l.Busy.IsZero()
	if h.How == "" {
		if there := r.hearingElsewhere(id); there != (turn.Hearing{}) {
			return there
		}
		return h
	}
	h.Notified = dir.Marked(fsroom.ListenerWakeFile)
	unnoticed := func(t time.Time) bool { return t.Truncate(time.Millisecond).After(l.Heard.Time) }
	if unnoticed(h.Notified) {
		first := dir.Marked(fsroom.ListenerAskedFile)
		if first.After(h.Notified) || !unnoticed(first) {
			first = h.Notified
		}
		h.UnheardIn = max(0, turn.UnheardAfter-time.Since(first))
		h.Unheard = h.UnheardIn == 0
	}
	if !h.Notified.IsZero() {
		h.Notified = h.Notified.Add(r.skew())
	}
	if r.ignored(st, id) {
		h.Unheard, h.UnheardIn = true, 0
	}
	return h
}

// hearingElsewhere is hearing for an agent of another host, of which is known what a
// process there says.
func (r *Room) hearingElsewhere(id string) (h turn.Hearing) {
	if !r.IsShared() {
		return h
	}
	h.How = r.Agent(id).SignedElsewhere(HearingFile)
	if h.How == ByHooks {
		h.How, h.Hooks = "", true
	}
	return h
}

// MaxTries is how often an agent is woken for the same news.
const MaxTries = 3

// ignored reports whether the agent was woken as often as it is for the same news, and
// has neither been shown anything nor run a command since.
func (r *Room) ignored(st *turn.State, id string) bool {
	at := r.CursorOf(st, id)
	w := at.Woken
	return w.Tries >= MaxTries && at.Shown.At.Before(w.At.Time) &&
		r.time().Sub(w.At.Time) > turn.UnheardAfter && r.Agent(id).Marked(seenFile).Before(w.At.Time)
}

// enterRooms records that the agent is in the room, for its listener.
func (r *Room) enterRooms() {
	dir := r.ListenerDir().Within(roomsDir)
	if !dir.Has(r.Name()) && dir.Mark(r.Name(), time.Now()) == nil && r.IsShared() {
		r.Client.Store.NotifyListener(r.Self.ID) // it has to hear what other hosts do in the room
	}
}

// leaveRooms forgets that agents are in the room. That of another agent with a wake file
// is left to its listener, which has to tell the agent first.
func (r *Room) leaveRooms(ids ...string) {
	for _, id := range ids {
		if dir := r.Client.Store.Listener(id); id == r.Self.ID || !dir.Has(fsroom.ListenerWakeFile) {
			_ = dir.Within(roomsDir).Remove(r.Name())
		}
	}
}

// ForgetRoom forgets that the agent is in a room.
func (c *Client) ForgetRoom(name string) { _ = c.ListenerDir().Within(roomsDir).Remove(name) }

// RoomsToHear returns the rooms that the agent is in, as far as is known without looking
// into each room.
func (c *Client) RoomsToHear() []string { return c.ListenerDir().Within(roomsDir).Names() }

// FindRoomsToHear looks into every room whether the agent is in it: it may have joined
// with a program that did not record it for a listener.
func (c *Client) FindRoomsToHear() {
	c = c.Offline()
	names, _ := c.Rooms()
	known := c.RoomsToHear()
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		r := c.Room(name, nil)
		if snap, err := r.View(); err == nil && r.IsMember(snap.State) {
			r.enterRooms()
		}
	}
}

// Fields implements [wire.Fields].
func (l *Listener) Fields(c *wire.Codec) {
	c.OptText("how", &l.How)
	c.OptText("harness_session", &l.Session)
	if l.Process == nil && !c.Writes() {
		l.Process = new(identity.Process)
	}
	c.OptObject("process", l.Process, l.Process == nil)
	if !c.Writes() && *l.Process == (identity.Process{}) {
		l.Process = nil
	}
	for _, f := range []struct {
		name string
		at   *event.Time
	}{{"since", &l.Since}, {"armed_at", &l.Armed}, {"heard_at", &l.Heard}, {"spoke_at", &l.Spoke}, {"busy", &l.Busy}, {"put_off_at", &l.PutOff}} {
		if !c.Writes() || !f.at.IsZero() {
			c.Time(f.name, f.at)
		}
	}
	c.OptInts("lately", &l.Lately)
	c.OptBool("off", &l.Off)
	c.OptText("error", &l.Error)
}
