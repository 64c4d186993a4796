package ttcmd

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/hook"
)

// hookRooms finds the stick for a guard, see [hook.Rooms].
type hookRooms struct {
	client  *member.Client
	call    *cli.Invocation
	callers []func() (identity.Agent, error) // who the session may be, the likeliest first
}

func newHookRooms(c *cli.Invocation, store *fsroom.Store, call hook.Call) *hookRooms {
	h := &hookRooms{client: clientFor(c, store, identity.System(), identity.Agent{}), call: c}
	for _, lookup := range toolEnvironments(c.Env.Lookup, call) {
		h.callers = append(h.callers, func() (identity.Agent, error) {
			env := *c.Env
			env.Lookup = lookup
			return identity.Resolve(identityEnv(&env, c.Agent != ""), h.client.Table, c.Agent)
		})
	}
	return h
}

// Stick implements [hook.Rooms]. Nobody is looked for while the stick is free.
func (h *hookRooms) Stick(_ context.Context, path string, _ hook.Call) (*hook.Stick, error) {
	w, err := locatePath(h.call, nearestExisting(path))
	if err != nil {
		return nil, err
	}
	client := *h.client
	room, err := client.Find(w)
	if err != nil || room == nil {
		return nil, err
	}
	snap, err := room.Snapshot()
	if err != nil {
		return nil, err
	}
	st := snap.State
	if st.Owner != "" || st.ReservedFor != "" {
		client.Self = h.caller(st)
	}
	f := room.Facts(st)
	stick := &hook.Stick{Root: room.Directory(), Me: client.Self.ID, Turn: st.Turn}
	switch st.Status(f) {
	case turn.StateOwned:
		stick.Holder = st.Owner
	case turn.StateReserved:
		ttl := time.Duration(st.Policy.ClaimTTL) * time.Millisecond
		if !f.Now.Expired(st.Pending.At, ttl) {
			stick.ReservedFor = st.ReservedFor
		}
	}
	stick.Unconfirmed = unconfirmed(room, st)
	return stick, nil
}

// unconfirmed is [hook.Stick].Unconfirmed.
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

// caller is the member that the session is; nobody if it is none. Somebody who
// has the stick goes before one who only is a member.
func (h *hookRooms) caller(st *turn.State) identity.Agent {
	var member identity.Agent
	for _, resolve := range h.callers {
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

// nearestExisting is path, or the nearest directory above it that is there: a
// tool may be about to make the rest.
func nearestExisting(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
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
func toolEnvironments(lookup func(string) string, call hook.Call) []func(string) string {
	h := harness.Get(call.Harness)
	sessionVar := h.Input.SessionVar
	with := func(session string) func(string) string {
		return func(name string) string {
			switch name {
			case h.Markers[0].Var:
				return h.Markers[0].Value
			case sessionVar:
				return session
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
	if here != "" && here != call.SessionID && (!known || call.Kind == hook.Edit) {
		sessions = append(sessions, here)
	}
	envs := []func(string) string{}
	for _, session := range append(sessions, "") {
		envs = append(envs, with(session))
	}
	return envs
}
