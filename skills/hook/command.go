package hook

import (
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

// A Kind is what a hook is for: the word after "tt hook".
type Kind string

// The kinds. The first two are guards, the others notify the agent.
const (
	Stop         Kind = "stop"          // the agent is about to end its turn
	Edit         Kind = "edit"          // a tool is about to write a file
	SessionStart Kind = "session-start" // a session begins, or goes on
	CwdChanged   Kind = "cwd-changed"   // the session has another working directory
	FileChanged  Kind = "file-changed"  // the wake file, which the harness watches, has changed
	Context      Kind = "context"       // the model is about to be asked
	Listen       Kind = "listen"        // the agent has ended its turn: the hook may wait for what is new
	SessionEnd   Kind = "session-end"   // the session ends
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Stop, Edit, SessionStart, CwdChanged, FileChanged, Context, Listen, SessionEnd}
}

// Command returns the shell command that a harness runs for a hook. Whatever tt does,
// it prints nothing on standard error and exits with status 0, except that a hook
// that may wake the agent prints there and exits with status 2 to do so. The texts
// never change again, because users of Codex approve them by their digest.
func Command(id harness.ID, kind Kind) string {
	const here = "command -v tt >/dev/null 2>&1 && "
	run := "tt hook " + string(kind) + " --harness " + string(id)
	h := harness.Get(id)
	switch {
	case wakes(h, kind):
		// A tt that does not know the kind would exit with status 2, too.
		return here + "tt hook " + string(kind) + " --help >/dev/null 2>&1 && exec " + run + "; exit 0"
	case !h.Answer.SilenceRefuses:
		return here + run + " 2>/dev/null || true"
	}
	return "tt_says=$(" + here + run + " 2>/dev/null) || tt_says=; " +
		`[ -n "$tt_says" ] || tt_says='` + silence(h, kind) + `'; printf '%s\n' "$tt_says"`
}

// wakes reports whether a hook of the kind may exit with status 2.
func wakes(h *harness.Harness, kind Kind) bool {
	for _, e := range h.Hooks.Notify {
		if e.Kind == string(kind) {
			return e.Wakes
		}
	}
	return false
}

// Ours reports whether a command in a settings file is one that [Command] returns for
// the kind, or returned in an older version.
func Ours(command string, kind Kind) bool {
	return strings.Contains(command, "tt hook "+string(kind)+" --harness ")
}
