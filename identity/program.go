package identity

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/identity/harness"
)

// ProgramOf returns the path of the executable of the harness that has started this process, "" if
// it is not known: it need not be the one on the PATH.
func ProgramOf(table Table, h *harness.Harness) string {
	for _, p := range ancestors(table, table.Self().PID) {
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID))
		if err != nil && len(p.Args) > 0 {
			path = p.Args[0]
		}
		if filepath.IsAbs(path) && filepath.Base(path) == h.Program {
			return path
		}
	}
	return ""
}
