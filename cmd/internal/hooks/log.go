package hooks

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// logVariable is the environment variable that names a file to which hooks append a line
// when they fail: in all else they are silent then.
const logVariable = "TT_HOOK_LOG"

// log records why the hook has failed. That it had nothing to say, or was not for the agent,
// is no failure.
func (h *run) log(err error) {
	if err == nil || errors.Is(err, errAnswered) || errors.Is(err, errWakes) || errors.Is(err, errNotTold) {
		return
	}
	logLine(h.Env, fmt.Sprintf("%s --harness %s: %s", h.call.Kind, h.call.Harness, cli.Line(err.Error())))
}

// Misread records that the command line of a hook could not be read. That stops no harness.
func Misread(env *cli.Env, err error) { logLine(env, cli.Line(err.Error())) }

func logLine(env *cli.Env, what string) {
	path := env.Lookup(logVariable)
	if path == "" {
		return
	}
	f, failed := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if failed != nil {
		return
	}
	defer f.Close()
	_, _ = fmt.Fprintf(f, "%s tt hook %s\n", time.Now().UTC().Format(time.RFC3339), what)
}
