package hook

import (
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

// A Kind is one of the two guards.
type Kind string

// The guards, by their name on the command line of "tt hook".
const (
	Stop Kind = "stop"
	Edit Kind = "edit"
)

// Command returns the shell command that a harness runs for a guard. It exits 0
// and says nothing on standard error whatever happens to tt.
func Command(id harness.ID, kind Kind) string {
	run := invocation(id, kind) + " 2>/dev/null"
	if !harness.Get(id).Answer.SilenceRefuses {
		return "command -v tt >/dev/null 2>&1 && " + run + " || true"
	}
	return "tt_says=$(command -v tt >/dev/null 2>&1 && " + run + ") || tt_says=; " +
		`[ -n "$tt_says" ] || tt_says='` + permission + `'; printf '%s\n' "$tt_says"`
}

func invocation(id harness.ID, kind Kind) string {
	return "tt hook " + string(kind) + " --harness " + string(id)
}

// Ours reports whether a command in somebody's settings is one that [Command]
// makes, or made in an older version, for the guard.
func Ours(command string, kind Kind) bool {
	return strings.Contains(command, "tt hook "+string(kind)+" --harness ")
}
