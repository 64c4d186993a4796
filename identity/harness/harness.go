// Package harness is a table of what is known about each agent harness: how it
// is recognised, where it keeps its configuration, and how its hooks work.
//
// A new harness is a new row in table.go. What cannot be said in a row stands
// in identity (recognising a process) and in skills (writing into a harness).
package harness

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// An ID is the name of a harness on the command line and in the record of
// installations. Agent ids start with [Harness.Agent] instead: the harness
// "claude-code" runs agents called "claude:…".
type ID string

// The harnesses.
const (
	ClaudeCode  ID = "claude-code"
	Codex       ID = "codex"
	Antigravity ID = "antigravity"
	Gemini      ID = "gemini"
	OpenCode    ID = "opencode"
	Copilot     ID = "copilot"
	Qwen        ID = "qwen"
	Cursor      ID = "cursor"
	Grok        ID = "grok"
)

// SkillDir is where every harness looks for skills, below its ConfigDir.
const SkillDir = "skills"

// A Harness is a program that runs agents: one row of the table. Paths are
// relative and have "/" between their elements.
type Harness struct {
	ID      ID
	Agent   string   // what agent ids start with, and the display name
	Aliases []string // other names of the harness and its program, in lower case, "-" for a blank
	Program string   // the name of its executable
	Desktop string   // the name of its graphical program, which hosts many sessions and terminals, and is the process of none
	Package string   // its npm package; "" if it is not one

	// How its agents are recognised in the environment.
	Markers     []Marker // any one of them identifies the harness; hooks run as if the first were set
	SessionVars []string // variables that may hold the session id, best first
	LaunchVar   string   // variable in which a terminal names the harness, whichever, that it has started; asked before Markers
	PIDVar      string   // variable with the pid of its process, which is taken as it is
	PIDHintVar  string   // variable with a pid that another program has set: an ancestor that is the harness goes first
	ServerArg   string   // argument of a process that serves many sessions: it and those above it belong to none of them
	DaemonArgs  []string // arguments of a process that starts sessions in the background, each as a process of its own; as ServerArg

	// What it keeps in the user's home directory.
	ConfigDir ConfigDir
	Hooks     Hooks
	Input     HookInput
	Answer    HookAnswer
	Note      string // what users should know once the guards are installed
	MCP       MCP
}

// A Marker is an environment variable that identifies a harness.
type Marker struct {
	Var   string
	Value string // the only value that counts; "" for any that is not blank
}

// A ConfigDir is the directory in which a harness keeps its configuration. The
// harness makes it, never this program.
type ConfigDir struct {
	Var    string // variable that replaces Base by an absolute path
	Base   string // below the home directory
	Sub    string // below Base
	Former string // below the home directory: used where it exists and Base/Sub does not; without hooks
}

// A Shape is the way in which hooks are configured.
type Shape string

// The shapes.
const (
	Groups  Shape = "groups"   // in a settings file, under "hooks" and the event: matchers with their handlers
	Named   Shape = "named"    // in a file of hooks: our name, with the events below it
	OwnFile Shape = "own file" // the same as Groups, in a file of our own
	Flat    Shape = "flat"     // as Groups, in a file of hooks with a version, and handlers have the matchers themselves
	Plugin  Shape = "plugin"   // a program of our own that the harness loads
)

// Hooks is how the guards, and the hooks that notify an agent, are installed.
type Hooks struct {
	File        string // below ConfigDir
	Shape       Shape
	StopEvent   string      // the agent is about to end its turn; "" if no hook can hold that back
	EditEvent   string      // a tool is about to run
	WriteTools  string      // matches the names of the tools that write files
	Millis      bool        // timeouts are in milliseconds and handlers have names; otherwise in seconds and without
	Events      []HookEvent // at which further hooks run, which notify the agent or note what it does
	Cut         []string    // what Input.Outcome is where the user or an error has ended the turn, as at Interrupt
	Interrupt   string      // the event at which the user has ended the turn: a hook of the kind stop runs; "" if there is none
	Queue       string      // how "tt listen" gives an idle agent a turn, by a command of the harness; "" if there is none
	Hold        bool        // nothing can wake an idle agent, but a hook may hold the end of its turn for as long as it likes
	Interactive Marker      // in the environment of hooks: a person's session, which lasts beyond one turn; zero if that is not told
	OneSession  bool        // a process has one session at a time: one that begins ends the one before
	Locks       string      // below ConfigDir: has a file for each session, ID.lock, which the process that runs it has locked; "" if there is none
	StaysAfter  []string    // the reasons for the end of a session with which its process goes on, as hooks are told them
	StatusDir   string      // below ConfigDir: has a file for each process, PID.json, in which it says what its model does; "" if there is none
	Sandbox     string      // the setting with the directories that its sandbox lets commands write; "" if there is none
	Trust       string      // below ConfigDir: the file that has a line for each hook that the user has approved
}

// A HookEvent is an event at which a hook runs.
type HookEvent struct {
	Kind    Kind
	Event   string
	Matcher string // what the event has to be about, as the harness matches it; "" for all
	Prompt  bool   // the user has typed a prompt: what was printed beside the last one may not have been in a request
	Seconds int    // how long the harness waits for it; 0 for as long as for a guard
	Wakes   bool   // it runs in the background, and its exit status 2 gives the agent a turn
	Mute    bool   // what it prints does not reach the model for sure
}

// Has reports whether a hook of the kind is in Events.
func (h Hooks) Has(kind Kind) bool { return h.Event(kind) != "" }

// Event returns the first event at which a hook of the kind runs, "" if there is none.
func (h Hooks) Event(kind Kind) string {
	for _, e := range h.Events {
		if e.Kind == kind {
			return e.Event
		}
	}
	return ""
}

// HookInput is what the fields of a hook's input are called, "" where there is
// no such field. A dot separates the names of nested fields, a bar those of which one is there.
type HookInput struct {
	Session    string   // the session id
	Event      string   // the name of the event
	SessionVar string   // the session variable that holds the same id
	Dir        string   // where the agent works: a string, or a list whose first element counts
	Tool       string   // the name of the tool that is about to run
	ToolInput  string   // the input of the tool
	Files      []string // in ToolInput: the files that the tool writes
	Patch      string   // in ToolInput: the patch that the tool apply_patch applies
	Command    []string // in ToolInput: the command that a shell is to run; of a list the last element counts
	CommandDir []string // in ToolInput: where it is to run
	Asked      string   // the command of a shell, or for which the user is asked, where ToolInput does not have it
	Prompt     string   // what the model is about to be asked
	Reply      string   // what the model has said in the turn, also in what a held end of it was followed by
	Repeated   string   // true if the agent goes on only because a stop guard held it back
	Subagent   string   // not empty if a helper inside the session asks
	Idle       string   // false while something still runs in the background
	Tasks      string   // what the session has started in the background: a list of objects with a status
	Changed    string   // the file that has changed
	Reason     string   // why the session has ended
	Outcome    string   // how the turn of the model has ended
	Failure    string   // why the turn of the model has failed
	Transcript string   // the file of the session, if that says when a turn of the model ends
	Version    string   // the version of the harness
	Foreign    string   // sent by another program that runs the hooks of this harness, and cannot do what they are told: its Version
	Signature  string   // sent by no other harness; tells whose input it is
}

// HookAnswer is how a hook refuses.
type HookAnswer struct {
	Stop           string // the decision that makes the agent go on instead of stopping
	EditIsSpecific bool   // a refused edit is a "hookSpecificOutput", otherwise a decision "deny"
	StopMayQuote   bool   // the model does not take the reason for a refused stop for words of its user
	StopIsContext  string // from this version on a refused stop is an "additionalContext", not a decision, which is said to be an error
	SilenceRefuses bool   // permission has to be given explicitly
	ContextIsPlain bool   // a text for the model stands on the top level of the answer
	IsFlat         bool   // its "permission" and "additional_context" stand on the top level, and Stop is the field with the reason
	ContextIsSteps bool   // a text for the model is one of "injectSteps", not an "additionalContext"
}

// MCP is where a harness registers MCP servers.
type MCP struct {
	Old      []string                 // the files below ConfigDir in which an older version may have registered a server; "" is that of Servers
	Servers  []string                 // the files below ConfigDir that may list the user's servers: the first that exists counts, else the last
	InHome   bool                     // the last of Servers is in the home directory unless ConfigDir.Var is set, and has secrets in it
	Key      string                   // of the servers in the file: an object in JSON, a table in TOML
	LaterKey string                   // below Key, from a later version on: has the servers where it is there
	EnvVars  bool                     // the server gets only those variables of the environment that are named
	Entry    func(command string) any // the entry of a server, as JSON; nil for a command and its arguments
}

// All returns every harness, in the order in which they are recognised and
// reported on. The rows must not be changed.
func All() []*Harness { return table }

// Get returns the row of id, nil for an id that is not in the table.
func Get(id ID) *Harness {
	for _, h := range table {
		if h.ID == id {
			return h
		}
	}
	return nil
}

// Queued returns the harness that has a queue, see [Hooks.Queue].
func Queued() *Harness {
	return table[slices.IndexFunc(table, func(h *Harness) bool { return h.Hooks.Queue != "" })]
}

// Find returns the harness that is called name: by its id, the name of its
// agents or its program, or an alias. Case does not matter, and a blank is the
// same as "-". It returns nil if there is none.
func Find(name string) *Harness {
	return find(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "-"))
}

func find(name string) *Harness {
	for _, h := range table {
		if name == string(h.ID) || name == h.Agent || name == h.Program || slices.Contains(h.Aliases, name) {
			return h
		}
	}
	return nil
}

// Parse returns the harness that a command line names, as [Find] does but with
// the exact spelling. An unknown name is a usage error that lists the harnesses.
func Parse(name string) (ID, error) {
	if h := find(name); h != nil {
		return h.ID, nil
	}
	return "", code.New(code.Usage, "unknown harness %q", name).
		WithHint("one of %s", strings.Join(Names(), ", ")).
		With("harness", name)
}

// IDs returns the ids of all harnesses, in the order of [All].
func IDs() []ID { return column(func(h *Harness) ID { return h.ID }) }

// Names returns the ids of all harnesses as strings, for completion and messages.
func Names() []string { return column(func(h *Harness) string { return string(h.ID) }) }

// Programs returns the programs of all harnesses, for messages.
func Programs() []string { return column(func(h *Harness) string { return h.Program }) }

// Agents returns the agent names of all harnesses, for completion and messages.
func Agents() []string { return column(func(h *Harness) string { return h.Agent }) }

func column[T any](of func(*Harness) T) []T {
	var values []T
	for _, h := range table {
		values = append(values, of(h))
	}
	return values
}

// HookCommand returns the shell command that a harness runs for a hook. Whatever tt does,
// it prints nothing on standard error and exits with status 0, except that a hook
// that may wake the agent prints there and exits with status 2 to do so. The texts
// never change again, because users of Codex approve them by their digest.
func HookCommand(id ID, kind Kind) string {
	const here = "command -v tt >/dev/null 2>&1 && "
	run := "tt hook " + string(kind) + " --harness " + string(id)
	h := Get(id)
	switch {
	case h.Wakes(kind):
		// A tt that does not know the kind would exit with status 2, too.
		return here + "tt hook " + string(kind) + " --help >/dev/null 2>&1 && exec " + run + "; exit 0"
	case !h.Answer.SilenceRefuses:
		return here + run + " 2>/dev/null || true"
	}
	return "tt_says=$(" + here + run + " 2>/dev/null) || tt_says=; " +
		`[ -n "$tt_says" ] || tt_says='` + h.Silence(kind) + `'; printf '%s\n' "$tt_says"`
}

// Wakes reports whether a hook of the kind may exit with status 2.
func (h *Harness) Wakes(kind Kind) bool {
	for _, e := range h.Hooks.Events {
		if e.Kind == kind {
			return e.Wakes
		}
	}
	return false
}

// Silence is what a harness to which silence is a refusal is told instead: to permit where
// a decision is asked for. Elsewhere a permission is never given: it would skip the
// dialog of Claude Code, and is an error to Codex.
func (h *Harness) Silence(kind Kind) string {
	if h.Hooks.Has(kind) {
		return "{}" // no decision is asked for
	}
	return `{"decision":"allow"}`
}

// IsHookCommand reports whether a command in a settings file is one that [HookCommand]
// returns for the kind.
func IsHookCommand(command string, kind Kind) bool {
	return strings.Contains(command, "tt hook "+string(kind)+" --harness ")
}
