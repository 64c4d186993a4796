package ttcmd

import (
	"slices"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/completion"
)

// Every flag with a value and every argument is completed, or is listed here as
// something that only the user knows.
func TestEveryPositionHasValuesOrIsFree(t *testing.T) {
	freeFlags := []string{
		"after", "command", "do-not", "exec", "lease", "ledger-size", "limit", "moment", "next-action", "note", "question", "reason", "room", "since", "status", "tail", "timeout", "token", "turn", "verified", // texts and numbers
	}
	freeArgs := []string{"body", "kind", "line", "room", "seq", "snapshot", "turn", "word"}
	home := t.TempDir()
	call := &cli.Invocation{Env: &cli.Env{Lookup: func(string) string { return "" }, Dir: home, Home: home}, Program: program(), Cmd: completeCommand}
	filled := func(at completion.Position) bool {
		a := valuesAt(t.Context(), call, at)
		return len(a.Candidates) > 0 || a.Paths != completion.NoPaths
	}
	// These come from the room and from the locks of the workspace; here there are none.
	ofRoom := []string{"agent", "from", "id", "job", "name", "question", "replace", "target"}
	for _, c := range program().All() {
		for _, f := range program().FlagsOf(c) {
			at := completion.Position{Command: c, Flag: f.Name}
			known := f.Placeholder == "" || f.Choices != nil || f.Placeholder == "D" || filled(at)
			if !known && !slices.Contains(freeFlags, f.Name) && !slices.Contains(ofRoom, f.Name) {
				t.Errorf("tt %s --%s is not completed", c.Name, f.Name)
			}
		}
		for _, arg := range c.Args {
			at := completion.Position{Command: c, Arg: arg.Name}
			if arg.Choices == nil && !filled(at) && !slices.Contains(freeArgs, arg.Name) && !slices.Contains(ofRoom, arg.Name) {
				t.Errorf("tt %s %s is not completed", c.Name, arg.Name)
			}
		}
	}
}
