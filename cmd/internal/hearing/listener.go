// Package hearing keeps what is known of how an agent hears of news: what listens for it,
// what it was shown, and what it was woken for. What there is to hear is a matter of
// package mailbox, and waking one of package listen.
package hearing

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
)

// The ways in which an agent can hear of news while its model is idle.
const (
	ByWatch    = "claude-watch" // Claude Code watches the wake file
	ByHook     = "claude-hook"  // a hook of Claude Code that lives in the background
	ByQueue    = "codex-queue"  // tt listen, which calls codex queue
	ByOpenCode = "opencode"     // the plugin, which reads tt listen
	ByHold     = turn.ByHold    // a hook that holds the end of a turn
	ByExec     = "exec"         // tt listen, which runs a command or prints lines
	ByWait     = "wait"         // tt wait
	ByHooks    = "hook"         // the hooks, when its model works
)

// QueueLooks is how often Codex looks into its queue if its window runs the session: its server
// is told at once.
const QueueLooks = 10 * time.Second

// The files of an agent in the directory of a room, see [fsroom.Agent].
const (
	CursorFile = "cursor.json" // a [Cursor]
	File       = "hearing"     // with an engine: locked while a process listens for the agent, and says how
)

// MaxTries is how often an agent is woken for the same news.
const MaxTries = 3

// The files of an agent in the directory of its listener, see [fsroom.Store.Listener].
const (
	listenerFile  = fsroom.ListenerFile // a Listener
	listeningFile = "listening"         // held as long as a listener process lives
	roomsDir      = "rooms"             // has an empty file for each room that the agent is in
	printedFile   = "printed.json"      // a Printed
	LookedMark    = "looked"            // its time is that of the last look for what was not shown
	PatientMark   = "patient"           // held by the hook of a watching harness that waits for the end of a turn
	BudgetMark    = "budget"            // held by the process that waits until a watching harness may be woken again
	MirrorMark    = "hearing"           // with an engine: held by the process that hears for the agent what other hosts do
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
		// The first three are those of package fsroom.
		files := []string{fsroom.ListenerWakeFile, fsroom.ListenerAskedFile, "lock", listenerFile, listeningFile, printedFile,
			LookedMark, PatientMark, BudgetMark, MirrorMark, activityFile, endedFile}
		return mode.IsRegular() && slices.Contains(files, name)
	}
	return len(names) == 3 && mode.IsRegular() && (names[1] == roomsDir || names[1] == "tmp")
}

// A Listener is what is known of how an agent hears of news. It belongs to the agent and
// not to a room: the session of a harness is one, and so is its wake file.
type Listener struct {
	How     string            `json:"how,omitempty"`             // what listens now or did last; "" for hooks alone
	Session string            `json:"harness_session,omitempty"` // of the harness; "" if none is open
	Process *identity.Process `json:"process,omitzero"`          // of the harness; nil: not known
	Since   event.Time        `json:"since,omitzero"`            // when How began to listen
	Armed   event.Time        `json:"armed_at,omitzero"`         // when the harness was told to watch the wake file; zero: it was not
	Heard   event.Time        `json:"heard_at,omitzero"`         // when it last noticed a notification
	Woken   event.Time        `json:"spoke_at,omitzero"`         // when the agent was last woken
	PutOff  event.Time        `json:"put_off_at,omitzero"`       // since when there is news for which it was not woken yet; zero: there is none
	Needed  event.Time        `json:"needed_at,omitzero"`        // of a person: since when an agent needed what was told last
	Budgets
	Off   bool   `json:"off,omitempty"`   // it is woken for turns alone
	Error string `json:"error,omitempty"` // of the last attempt to wake the agent
}

// The Budgets of an agent, see [Budget].
type Budgets struct {
	Messages Budget `json:"messages,omitzero"`
	Turns    Budget `json:"turns,omitzero"`
}

// An Agent is an agent of this host, as far as it hears of news.
type Agent struct {
	Store *fsroom.Store
	Table identity.Table
	ID    string
}

// Dir is the directory of the agent's listener.
func (a Agent) Dir() fsroom.Agent { return a.Store.Listener(a.ID) }

// IsKnown reports whether there is a [Listener] of the agent. It costs one look at a file.
func (a Agent) IsKnown() bool { return a.Store.ListenerHas(a.ID, listenerFile) }

// Listener returns what is known of how the agent hears of news.
func (a Agent) Listener() (l Listener) {
	if !a.Dir().Read(listenerFile, &l) {
		return Listener{}
	}
	return l
}

// Save stores what is known of how the agent hears of news. The caller has the lock of
// [Agent.Dir].
func (a Agent) Save(l *Listener) error { return a.Dir().Write(listenerFile, l) }

// Hold makes this process the listener of the agent until release is called. The caller has the
// lock of [Agent.Dir], and knows that no other process is.
func (a Agent) Hold() (release func(), err error) { return a.Dir().Hold(listeningFile) }

// IsListening reports whether a process listens for the agent.
func (a Agent) IsListening() bool { return a.Dir().Held(listeningFile) }

// Listens returns how the agent hears of news, "" if it does not.
func (a Agent) Listens() string {
	_, how := a.Hears()
	return how
}

// Hears returns what is known of how the agent hears of news, and how it does, "" if it does
// not. What a harness was told to do is believed when the harness has shown that it does it,
// and a process as long as it lives.
func (a Agent) Hears() (l Listener, how string) {
	held := a.IsListening() // first: who listens has recorded how before
	l = a.Listener()
	switch {
	case l.Proved() && l.Process != nil && a.Table.Verdict(*l.Process) == identity.Alive:
		return l, ByWatch
	case !held:
		return l, ""
	case l.How == ByWatch:
		return l, ByHook
	}
	return l, cmp.Or(l.How, ByExec)
}

// Proved reports whether the harness has noticed a notification since it was told to
// watch the wake file.
func (l *Listener) Proved() bool {
	return l.How == ByWatch && !l.Armed.IsZero() && l.Heard.After(l.Armed.Time)
}

// InSession reports whether a session of a harness is open, as far as is known.
func (a Agent) InSession(l *Listener) bool {
	return l.Session != "" && (l.Process == nil || a.Table.Verdict(*l.Process) != identity.Gone)
}

// Enter records that the agent is in a room. It reports whether that was not known.
func (a Agent) Enter(room string) bool {
	rooms := a.Dir().Within(roomsDir)
	return !rooms.Has(room) && rooms.Mark(room, time.Now()) == nil
}

// Leave forgets that the agent is in a room.
func (a Agent) Leave(room string) { _ = a.Dir().Within(roomsDir).Remove(room) }

// Rooms returns the rooms that the agent is in, as far as is known without looking into
// each room.
func (a Agent) Rooms() []string { return a.Dir().Within(roomsDir).Names() }

// Clear removes the directory of an agent that is in no room and has no session, if it has
// nothing that its user has set: sessions that never were in a room leave nothing.
func (a Agent) Clear() {
	if _, ended := a.Ended(); ended { // a late hook has to find that
		return
	}
	if l := a.Listener(); l.Session == "" && !l.Off && len(a.Rooms()) == 0 {
		_ = a.Dir().Clear()
	}
}
