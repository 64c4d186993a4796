// Package probe answers what tt itself asks about what is installed. It is apart from package
// skills, which installs it, because tt does not link that.
package probe

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
)

// Record is the name of the record of what is installed, in the data directory.
const Record = "installs.json"

// The environment variables that switch updates off.
const (
	NoSync    = "TALKING_STICK_DISABLE_SKILL_SYNC"
	NoMigrate = "TALKING_STICK_DISABLE_MCP_MIGRATION"
)

// For is where to look, and the version of the program that asks.
type For struct {
	Home, DataDir, Version string
	Getenv                 func(string) string
}

// On reports whether a variable leaves updates on.
func (f For) On(variable string) bool { return strings.TrimSpace(f.Getenv(variable)) == "" }

// text returns the stamp. It changes with the program, with the record, and with what the
// user allows.
func (f For) text() string {
	size, modified := int64(0), int64(0)
	if info, err := os.Stat(filepath.Join(f.DataDir, Record)); err == nil {
		size, modified = info.Size(), info.ModTime().UnixNano()
	}
	return fmt.Sprintf("%s %d %d %t %t\n", f.Version, size, modified, f.On(NoSync), f.On(NoMigrate))
}

func (f For) path() string { return filepath.Join(f.DataDir, "installs.synced") }

// Settled reports whether there is nothing to update: it was found so before, or there is
// no data directory or no harness.
func Settled(f For) bool {
	if b, err := os.ReadFile(f.path()); err == nil && string(b) == f.text() {
		return true
	}
	return !isDir(f.DataDir) || !slices.ContainsFunc(harness.IDs(), f.Here) && !f.hasRecord()
}

// Here reports whether a harness has a directory on this machine.
func (f For) Here(id harness.ID) bool { return isDir(Root(id, f.Home, f.Getenv)) }

// Root returns the directory of a harness.
func Root(id harness.ID, home string, getenv func(string) string) string {
	dir := harness.Get(id).ConfigDir
	base := Below(home, dir.Base)
	if dir.Var != "" {
		if moved := strings.TrimSpace(getenv(dir.Var)); filepath.IsAbs(moved) {
			base = moved
		}
	}
	root := Below(base, dir.Sub)
	if dir.Former != "" && !isDir(root) {
		if former := Below(home, dir.Former); isDir(former) {
			return former
		}
	}
	return root
}

// Below returns the file with a path from the table of harnesses.
func Below(dir, path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (f For) hasRecord() bool {
	_, err := os.Lstat(filepath.Join(f.DataDir, Record))
	return err == nil
}

// Settle stores the stamp, if anything was recorded. A damaged one does not match.
func Settle(f For) {
	if !f.hasRecord() {
		return
	}
	_ = os.WriteFile(f.path(), []byte(f.text()), 0o600)
	lockfile.Adopt(f.path())
}

// Notifies reports whether the hooks that notify agents are installed in a harness, as
// this or another version writes them.
func Notifies(f For, id harness.ID) bool {
	text, err := os.ReadFile(Below(Root(id, f.Home, f.Getenv), harness.Get(id).Hooks.File))
	return err == nil && (bytes.Contains(text, []byte("tt hook context ")) || bytes.Contains(text, []byte("\"--via\", \"opencode\"")))
}

// A HookHealth says whether the hooks of a harness can run.
type HookHealth struct {
	Harness   harness.ID `json:"harness"`
	File      string     `json:"file"`
	Wanted    int        `json:"wanted"`
	Installed int        `json:"installed"` // of Wanted, as this version writes them
	Approved  *bool      `json:"approved,omitempty"`
	Hint      string     `json:"hint,omitempty"` // what to do, "" if nothing
}
