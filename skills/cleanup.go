package skills

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/legacy"
)

// A cleanup is what became of the MCP registration that an older version has left
// in one harness.
type cleanup struct {
	entry legacy.Entry
	steps []Step
}

// MayMigrate reports whether the user lets old registrations be removed.
func (e Environment) MayMigrate() bool {
	return strings.TrimSpace(e.Getenv("TALKING_STICK_DISABLE_MCP_MIGRATION")) == ""
}

// Migrate removes the old registrations from the harnesses that are there, and
// appends to the log what it did. An error is about the log alone.
func (e Environment) Migrate(ctx context.Context, reason string, ids ...harness.ID) ([]legacy.Entry, error) {
	entries := e.cleaner().Clean(ctx, reason, ids...)
	return entries, legacy.Log(e.MigrationLog(), entries)
}

// MigrationLog returns the path of the log of [Environment.Migrate].
func (e Environment) MigrationLog() string { return filepath.Join(e.DataDir, legacy.LogName) }

// cleanUp removes the harness's registration, or plans to.
func (e Environment) cleanUp(ctx context.Context, opts Options, reason string, id harness.ID) cleanup {
	var c cleanup
	command := legacy.Command(id)
	if e.presence(id) != present || !e.MayMigrate() {
		return c
	}
	if command != nil {
		if _, err := e.LookPath(command[0]); err != nil {
			return c
		}
		c.steps = []Step{{Action: Run, Command: command}}
	}
	if id == harness.OpenCode {
		edits, _ := e.cleaner().Edits() // an error comes again below
		for _, edit := range edits {
			step := Step{Action: Unmerge, Path: edit.Path}
			if opts.DryRun {
				step.Text = string(diff.Diff(edit.Path, edit.Before, edit.Path, edit.After))
			}
			c.steps = append(c.steps, step)
		}
	}
	if !opts.DryRun {
		// The log is a courtesy; the installation does not fail for it.
		entries, _ := e.Migrate(ctx, reason, id)
		for _, entry := range entries {
			c.entry = entry
		}
	}
	return c
}

// addTo puts c into the result of its harness.
func (c cleanup) addTo(r *Result) {
	r.Steps = append(c.steps, r.Steps...)
	const what = "the MCP registration of an older version "
	var said string
	switch c.entry.Status {
	case legacy.Removed:
		said = what + "is removed"
		switch r.Status {
		case AlreadyPresent:
			r.Status = Updated
		case AlreadyAbsent:
			r.Status, r.Message = Removed, ""
		}
	case legacy.Failed:
		said = what + "could not be removed: " + c.entry.Message
	case legacy.Skipped:
		said = c.entry.Message
	default:
		return
	}
	r.Message = strings.TrimPrefix(r.Message+"; "+said, "; ")
}
