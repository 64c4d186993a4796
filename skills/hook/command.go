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

// Command returns the shell command that a harness runs for a guard. It exits with
// status 0 and prints nothing on standard error, whatever tt does.
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

// Ours reports whether a command in a settings file is one that [Command] returns for
// the guard, or returned in an older version.
func Ours(command string, kind Kind) bool {
	return strings.Contains(command, "tt hook "+string(kind)+" --harness ")
}
