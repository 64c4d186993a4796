package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/lockfile"
)

// The environment variables that switch updates off.
const (
	noSync    = "TALKING_STICK_DISABLE_SKILL_SYNC"
	noMigrate = "TALKING_STICK_DISABLE_MCP_MIGRATION"
)

// allows reports whether a variable leaves updates on.
func (e Environment) allows(variable string) bool { return strings.TrimSpace(e.Getenv(variable)) == "" }

// The stamp is a small file that says that there is nothing to sync. Every command of a person
// reads it.

func (e Environment) stampPath() string { return filepath.Join(e.DataDir, "installs.synced") }

// stamp returns the text of the stamp. It changes with the program, with the record, and with
// what the user allows.
func (e Environment) stamp() string {
	size, modified := int64(0), int64(0)
	if info, err := os.Stat(e.recordPath()); err == nil {
		size, modified = info.Size(), info.ModTime().UnixNano()
	}
	return fmt.Sprintf("%s %d %d %t %t\n", e.Version, size, modified, e.allows(noSync), e.allows(noMigrate))
}

// settled reports whether there is nothing to sync: it was found so before, or there is no
// data directory or no harness.
func (e Environment) settled() bool {
	if b, err := lockfile.ReadRegular(e.stampPath(), maxRecord); err == nil && string(b) == e.stamp() {
		return true
	}
	return !isDir(e.DataDir) || len(e.here()) == 0 && !exists(e.recordPath())
}

// settle stores that there is nothing to sync, if anything was recorded. A damaged stamp does
// not match.
func (e Environment) settle() {
	if !exists(e.recordPath()) {
		return
	}
	_ = os.WriteFile(e.stampPath(), []byte(e.stamp()), 0o600)
	lockfile.Adopt(e.stampPath())
}
