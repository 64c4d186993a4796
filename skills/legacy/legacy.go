// Package legacy keeps the log of what was done to the registrations of an MCP server that older
// versions of Talking Stick have left in the harnesses, one JSON object per line.
package legacy

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
)

// LogName is the name of the log in the data directory.
const LogName = "update-migrations.log"

// The states of an entry.
const (
	Removed = "removed"
	Absent  = "already-absent"
	Skipped = "skipped"
	Failed  = "failed"
)

// An Entry is the result of removing one harness's registration.
type Entry struct {
	At      string     `json:"at"` // RFC 3339, UTC, milliseconds
	Version string     `json:"version,omitempty"`
	Reason  string     `json:"reason"` // install, uninstall, update, first-run or manual
	Harness harness.ID `json:"harness"`
	Status  string     `json:"status"`
	Path    string     `json:"path,omitempty"`
	Message string     `json:"message,omitempty"`
}

// Lines returns entries as JSON Lines.
func Lines(entries []Entry) (lines []byte) {
	for _, e := range entries {
		line, _ := json.Marshal(e) // an Entry always has an encoding
		lines = append(append(lines, line...), '\n')
	}
	return lines
}

// Log appends entries to the log at path, and makes it and its directory where they
// do not exist. It writes once, so that the lines of two processes do not mix.
func Log(path string, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := lockfile.MakeDirs(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	lockfile.Adopt(path)
	_, err = file.Write(Lines(entries))
	return errors.Join(err, file.Close())
}
