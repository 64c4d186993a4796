package jobs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/identity"
)

// WouldDie says why a job that this process starts would end with it, "" if it would not: all
// processes of a pid namespace are killed when its first process ends. A sandbox that makes one
// for a single call has itself, this process or its shell as that first process.
func WouldDie(table identity.Table) string {
	const why = "a sandbox ends all processes of the call when it ends"
	if os.Getpid() == 1 {
		return why
	}
	first, err := table.Inspect(1)
	if err != nil {
		return ""
	}
	if first.Name == "bwrap" || len(first.Args) > 0 && filepath.Base(first.Args[0]) == "bwrap" {
		return why
	}
	if os.Getppid() == 1 && len(first.Args) > 1 && strings.HasSuffix(filepath.Base(first.Args[0]), "sh") &&
		slices.Contains(first.Args[1:2], "-c") {
		return why
	}
	return ""
}
