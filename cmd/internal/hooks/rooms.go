package hooks

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
)

// rooms finds the stick for a guard, see [guard.Rooms].
type rooms struct {
	client  *member.Client
	locate  func(path string) (*workspace.Workspace, error)
	lookup  func(string) string
	callers []func() (identity.Agent, error) // who the session may be, the likeliest first
	sticks  map[string]*guard.Stick          // those that were looked at, by directory
	known   map[string]*guard.Stick          // the same, by the name of the room
	held    []held                           // the turns among them that the session has
	// others are all rooms whose turn somebody has, and elsewhere is what was looked at of those, see [rooms.Held]; nil:
	// they were not asked for.
	others    []*turn.State
	elsewhere *rooms
	// auto adds what a write has to do where tt takes turns by itself. It is nil where it does not.
	auto func(*workspace.Workspace, *member.Room, *turn.State, turn.Facts, *guard.Stick) *guard.Stick
}

func newRooms(client *member.Client, locate func(string) (*workspace.Workspace, error), lookup func(string) string) *rooms {
	return &rooms{client: client, locate: locate, lookup: lookup, sticks: map[string]*guard.Stick{}, known: map[string]*guard.Stick{}}
}

func (h *run) rooms() *rooms {
	r := newRooms(h.Client(h.store, identity.Agent{}), h.Locate, h.Env.Lookup)
	for i, lookup := range toolEnvironments(h.Env.Lookup, h.call) {
		r.callers = append(r.callers, func() (identity.Agent, error) {
			if i > 0 {
				return h.resolve(lookup)
			}
			agent, err := h.sessionAgent()
			if err != nil {
				return identity.Agent{}, err
			}
			return agent.Client.Self, nil
		})
	}
	if (h.call.Kind == harness.KindEdit || h.call.Kind == harness.KindShell) && h.actsAlone() {
		r.auto = h.auto
	}
	return r
}

// A held turn is one that the session has, in the room as it was when the guard looked at it.
type held struct {
	room  *member.Room
	st    *turn.State
	stick *guard.Stick
}

// Stick implements [guard.Rooms]. A room is looked at once.
func (r *rooms) Stick(ctx context.Context, path string, call payload.Call) (stick *guard.Stick, err error) {
	dir := nearestDir(path)
	stick, known := r.sticks[dir]
	if !known {
		if stick, err = r.look(dir, call); err == nil {
			r.sticks[dir] = stick
		}
	}
	return stick, err
}

// look returns the stick of a directory. Nobody is looked for while it is free.
func (r *rooms) look(dir string, call payload.Call) (stick *guard.Stick, err error) {
	w, err := r.locate(dir)
	if err != nil {
		return nil, err
	}
	client := *r.client
	room, seen, err := client.Find(w, nil)
	if (err != nil || room == nil) && r.auto != nil { // where others work, a room that cannot be read has to be asked
		return r.auto(w, nil, nil, turn.Facts{}, nil), nil
	}
	if err != nil || room == nil {
		return nil, err
	}
	if stick, known := r.known[room.FS.Name()]; known {
		return stick, nil
	}
	var st *turn.State
	_ = room.Steadily(seen, func(now *fsroom.Snapshot[*turn.State]) error {
		st = now.State
		if st.Owner != "" || st.ReservedFor != "" { // who calls depends on who has the turn
			client.Self = r.caller(st)
		}
		stick = r.stick(w, room, st, call)
		return nil
	})
	switch {
	case stick.ActsForHolder: // what it does is done in the holder's turn
		holder := *r.client
		holder.Self = identity.Agent{ID: st.Owner}
		r.held = append(r.held, held{holder.Room(room.FS.Name(), w), st, stick})
	case stick.Me != "" && st.Owner == stick.Me:
		r.held = append(r.held, held{room, st, stick})
	}
	r.known[room.FS.Name()] = stick
	return stick, nil
}

// stick returns the stick of a room as it is. What it depends on is looked up here.
func (r *rooms) stick(w *workspace.Workspace, room *member.Room, st *turn.State, call payload.Call) *guard.Stick {
	f := room.Facts(st)
	stick := &guard.Stick{Root: room.Directory(), Me: room.Self.ID, Turn: st.Turn}
	window := f.Window
	if window != 0 { // what the session has in another window is no turn of this one
		stick.Me = ""
	}
	if st.Owner != "" && st.Owner != room.Self.ID {
		stick.ActsForHolder = room.IsOneWith(st.Owner, room.Self.Harness, r.root(room.Self))
	}
	switch status := st.Status(f); {
	case stick.ActsForHolder: // also where the lease has run out: it is good until somebody takes it over
		stick.Holder = st.Owner
	case status == turn.StateOwned:
		stick.Holder, stick.Window = st.Owner, window
	case status == turn.StateReserved:
		if !st.ClaimExpired(f) {
			stick.ReservedFor = st.ReservedFor
		}
	}
	stick.Lapsed = stick.Holder == "" && st.Owner != "" && st.Owner == stick.Me
	stick.Unconfirmed, stick.Changing = unconfirmed(room, st), room.Recorder(st).Changing()
	stick.ShellGuard = st.Policy.ShellGuard != "off" && !turn.IsOff(r.lookup("TALKING_STICK_SHELL_GUARD"))
	stick.Works = call.Kind == harness.KindStop && stick.Holder != "" && stick.Holder == stick.Me &&
		(room.RunningJob(stick.Me) != nil || call.Task && room.IsAuto(st))
	if stick.Changing || stick.Holder != "" && stick.Holder != stick.Me {
		if stick.Window == 0 {
			_, stick.TakenOver = st.TakenOver(room.Self.ID)
		}
		if list := st.Trouble(f); len(list) > 0 {
			stick.Trouble = list[0].Sentence() + ". Do: " + list[0].Do
		}
	}
	if r.auto != nil {
		return r.auto(w, room, st, f, stick)
	}
	return stick
}

// root is the process of the session that self is, if it is known.
func (r *rooms) root(self identity.Agent) *identity.Process {
	if self.Root == nil && len(r.callers) > 0 {
		self, _ = r.callers[0]()
	}
	return self.Root
}

// unconfirmed is [guard.Stick].Unconfirmed.
func unconfirmed(room *member.Room, st *turn.State) string {
	since, unproved := room.Unproved(st)
	switch {
	case !unproved:
		return ""
	case since.IsZero():
		return "on this host"
	}
	return "since " + since.UTC().Format(time.DateTime) + " UTC"
}

// caller returns the member that the calling session is, the zero Agent if it is none. If
// several ids of the session are members, it is the one that has the turn.
func (r *rooms) caller(st *turn.State) identity.Agent {
	var member identity.Agent
	for _, resolve := range r.callers {
		me, err := resolve()
		if err != nil {
			continue
		}
		if me.ID == st.Owner || me.ID == st.ReservedFor {
			return me
		}
		if member.ID == "" && st.Member(me.ID) != nil {
			member = me
		}
	}
	return member
}

// nearestDir is path, or the nearest directory above it that is there: a
// tool may be about to make the rest.
func nearestDir(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// toolEnvironments returns the environments in which the session of call may run
// tt, the likeliest first. A harness gives its tools more variables than its hooks,
// and how many depends on its version: so the session id is that of the call, then
// that of this process, then none. An id of this process that is not that of the
// call belongs to a session that has started this one: the session may write on its
// behalf, but does not end its turn.
func toolEnvironments(lookup func(string) string, call payload.Call) []func(string) string {
	h := harness.Get(call.Harness)
	sessionVar := h.Input.SessionVar
	with := func(session string) func(string) string {
		return func(name string) string {
			switch name {
			case sessionVar:
				return session
			case h.Markers[0].Var:
				return h.Markers[0].Value
			}
			return lookup(name)
		}
	}
	if sessionVar == "" {
		return []func(string) string{with("")}
	}
	sessions := []string{}
	if call.SessionID != "" {
		sessions = append(sessions, call.SessionID)
	}
	here, known := lookup(sessionVar), call.SessionID != ""
	if here != "" && here != call.SessionID && (!known || call.Kind == harness.KindEdit || call.Kind == harness.KindShell) {
		sessions = append(sessions, here)
	}
	envs := []func(string) string{}
	for _, session := range append(sessions, "") {
		envs = append(envs, with(session))
	}
	return envs
}
