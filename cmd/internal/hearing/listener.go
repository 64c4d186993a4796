// Package hearing keeps what is known of how an agent hears of news: what listens for it, what it was shown, and what it was woken for.
// What there is to hear is a matter of package mailbox, and waking one of package listen.
package hearing

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
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

// QueueLooks is how often Codex looks into its queue if its window runs the session: its server is told at once.
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
			PatientMark, BudgetMark, MirrorMark, activityFile, endedFile}
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
	BegunBy *identity.Process `json:"begun_by,omitzero"`         // of the hook that said last that the session is open
	Since   event.Time        `json:"since,omitzero"`            // when How began to listen
	Armed   event.Time        `json:"armed_at,omitzero"`         // when the harness was told to watch the wake file; zero: it was not
	Own     bool              `json:"own_variables,omitempty"`   // the harness itself was told, as its variables show
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
	a.Dir().Read(listenerFile, &l)
	return l
}

// Save stores what is known of how the agent hears of news. The caller has the lock of [Agent.Dir].
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

// Hears returns what is known of how the agent hears of news, and how it does, "" if it does not. What a harness was told to do is
// believed when it has shown that it does it or who it is, and a process as long as it lives.
func (a Agent) Hears() (l Listener, how string) {
	held := a.IsListening() // first: who listens has recorded how before
	l = a.Listener()
	switch {
	case (l.Proved() || l.Own && !held && !l.Armed.IsZero()) && l.Process != nil && a.Table.Verdict(*l.Process) == identity.Alive:
		return l, ByWatch
	case !held:
		return l, ""
	case l.How == ByWatch:
		return l, ByHook
	}
	return l, cmp.Or(l.How, ByExec)
}

// Proved reports whether the harness has noticed a notification since it was told to watch the wake file.
func (l *Listener) Proved() bool {
	return l.How == ByWatch && !l.Armed.IsZero() && l.Heard.After(l.Armed.Time)
}

// BegunAfter reports whether the session began in the same process, and after the hook did that p runs.
func (l *Listener) BegunAfter(p, session identity.Process) bool {
	return l.BegunBy != nil && l.Process != nil && *l.Process == session && begunAfter(*l.BegunBy, p)
}

// begunAfter reports whether a process of the same machine was started after p, as far as is known.
func begunAfter(process, p identity.Process) bool {
	start, after := process.Start, process.Start > p.Start
	process.PID, p.PID, p.Start = 0, 0, start
	return after && process == p
}

// IsReplaced reports whether another session began in the process of l after its own: it is open there no
// more, where a process has one session.
func (a Agent) IsReplaced(l *Listener) bool {
	if l.BegunBy == nil || l.Process == nil {
		return false
	}
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(a.Dir().Path("")), "*", listenerFile))
	return slices.ContainsFunc(files, func(file string) bool {
		var other Listener
		data, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(data, &other) == nil && other.BegunAfter(*l.BegunBy, *l.Process)
	})
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

// Rooms returns the rooms that the agent is in, as far as is known without looking into each room.
func (a Agent) Rooms() []string { return a.Dir().Within(roomsDir).Names() }

// Clear removes the directory of an agent that is in no room and has no session, if it has
// nothing that its user has set: sessions that never were in a room leave nothing.
func (a Agent) Clear() {
	_, ended := a.Ended() // which a late hook has to find
	if l := a.Listener(); !ended && l.Session == "" && !l.Off && len(a.Rooms()) == 0 {
		_ = a.Dir().Clear()
	}
}

// endedFile has the [Ending] of an agent's session. It is removed when the session goes on.
const endedFile = "ended.json"

// endedLasts is how long an agent that is in no room keeps its Ending, for hooks that come late.
const endedLasts = 24 * time.Hour

// An Ending says that the session of an agent has ended, although its process may go on.
type Ending struct {
	At      event.Time        `json:"at"`
	Quits   bool              `json:"process_ends,omitempty"` // the process ends, too
	Process *identity.Process `json:"process,omitzero"`       // in which the session was open; nil: not known
	By      *identity.Process `json:"by,omitzero"`            // that recorded it
}

// Of reports whether the session has ended in a process, nil for one that is not known.
func (e Ending) Of(p *identity.Process) bool { return e.Process == nil || p == nil || *e.Process == *p }

// Ended returns how the agent's session has ended, false if it has not as far as is known. Where it has not, it costs one look at a file.
func (a Agent) Ended() (e Ending, ended bool) {
	ended = a.Store.ListenerHas(a.ID, endedFile) && a.Dir().Read(endedFile, &e)
	return e, ended
}

// SetEnded records that the agent's session has ended, by this process. It removes what is left of sessions that have ended long ago.
func (a Agent) SetEnded(e Ending) error {
	top := filepath.Dir(a.Dir().Path(""))
	all, _ := os.ReadDir(top)
	for _, entry := range all {
		dir := filepath.Join(top, entry.Name())
		info, err := os.Lstat(filepath.Join(dir, endedFile))
		rooms, _ := os.ReadDir(filepath.Join(dir, roomsDir))
		if err == nil && e.At.Sub(info.ModTime()) > endedLasts && len(rooms) == 0 {
			_ = os.RemoveAll(dir)
		}
	}
	self := a.Table.Self()
	e.By = &self
	return a.Dir().Write(endedFile, &e)
}

// GoOn records that the agent's session goes on, which is what a command or hook of it shows, unless it was begun
// before the session ended.
func (a Agent) GoOn() {
	if e, ended := a.Ended(); ended && (e.By == nil || !begunAfter(*e.By, a.Table.Self())) {
		_ = a.Dir().Remove(endedFile)
	}
}

// MostWakes is how often an agent is woken within WakesSpan for messages of other agents, and as often for turns that they release without
// naming it as the next. Further news waits, so that agents that answer each other do not go on for ever.
const (
	MostWakes = 6
	WakesSpan = 10 * time.Minute
)

// WakeBudget is the environment variable that replaces both, as in "6/10m".
const WakeBudget = "TALKING_STICK_WAKE_BUDGET"

// A Budget says how often an agent was woken lately, and whether it may be again. There is one for messages and one for turns.
type Budget struct {
	Lately []int64    `json:"lately,omitempty"` // the times, in Unix seconds, at which it was woken
	Until  event.Time `json:"from,omitzero"`    // it is not woken before; zero: it may be
}

// Left returns how long it is until the agent may be woken again, 0 if it may be now.
func (b *Budget) Left(now time.Time) time.Duration {
	return max(0, b.Until.Sub(now))
}

// Spend records that the agent is woken. What the environment says counts in the process that
// wakes the agent, so that all others know the same.
func (b *Budget) Spend(now time.Time) {
	most, span, err := readBudget(os.Getenv(WakeBudget))
	if err != nil {
		most, span = MostWakes, WakesSpan
	}
	b.Lately = slices.DeleteFunc(b.Lately, func(at int64) bool { return now.Sub(time.Unix(at, 0)) >= span })
	b.Lately, b.Until = append(b.Lately, now.Unix()), event.Time{}
	if n := len(b.Lately); n >= most {
		b.Until = event.NewTime(time.Unix(b.Lately[n-most], 0).Add(span))
	}
}

// CheckBudget returns an error if the environment has a budget that cannot be read.
func CheckBudget() error {
	_, _, err := readBudget(os.Getenv(WakeBudget))
	return err
}

func readBudget(text string) (most int, span time.Duration, err error) {
	if text == "" {
		return MostWakes, WakesSpan, nil
	}
	times, within, _ := strings.Cut(text, "/")
	most, err = strconv.Atoi(times)
	if err == nil {
		span, err = time.ParseDuration(within)
	}
	if err != nil || most < 1 || span <= 0 {
		return 0, 0, code.New(code.Usage, "%s=%s is no budget", WakeBudget, text).WithHint("such as %d/%s: six times in ten minutes", MostWakes, "10m")
	}
	return most, span, nil
}
