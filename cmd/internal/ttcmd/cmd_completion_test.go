package ttcmd

import (
	"slices"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/completion"
)

// Every flag with a value and every argument is completed, or is listed here as
// something that only the user knows.
func TestEverySlotIsFilledOrFree(t *testing.T) {
	freeFlags := []string{
		"after", "do-not", "limit", "next-action", "question", "reason", "since", "status", "timeout", "turn", // texts and numbers
	}
	freeArgs := []string{"body", "room", "word"}
	home := t.TempDir()
	call := &cli.Invocation{Env: &cli.Env{Lookup: func(string) string { return "" }, Dir: home, Home: home}, Program: program(), Cmd: completeCommand}
	filled := func(slot completion.Slot) bool {
		a := fillSlot(t.Context(), call, slot)
		return len(a.Candidates) > 0 || a.Paths != completion.NoPaths
	}
	// These come from the room; here there is none.
	ofRoom := []string{"agent", "from", "id", "target"}
	for _, c := range program().All() {
		for _, f := range program().FlagsOf(c) {
			slot := completion.Slot{Command: c, Flag: f.Name}
			known := f.Placeholder == "" || f.Choices != nil || f.Placeholder == "D" || filled(slot)
			if !known && !slices.Contains(freeFlags, f.Name) && !slices.Contains(ofRoom, f.Name) {
				t.Errorf("tt %s --%s is not completed", c.Name, f.Name)
			}
		}
		for _, arg := range c.Args {
			slot := completion.Slot{Command: c, Arg: arg.Name}
			if arg.Choices == nil && !filled(slot) && !slices.Contains(freeArgs, arg.Name) && !slices.Contains(ofRoom, arg.Name) {
				t.Errorf("tt %s %s is not completed", c.Name, arg.Name)
			}
		}
	}
}
