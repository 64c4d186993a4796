package skills

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/legacy"
)

// A cleanup is the result of removing an older version's MCP registration from one
// harness.
type cleanup struct {
	entry legacy.Entry
	steps []Step
}

// MayMigrate reports whether the user allows old registrations to be removed.
func (e Environment) MayMigrate() bool {
	return e.allows(noMigrate)
}

// Migrate removes the old registrations from the given harnesses, and appends what it
// did to the log. The error is that of the log.
func (e Environment) Migrate(ctx context.Context, reason string, ids ...harness.ID) ([]legacy.Entry, error) {
	entries := e.cleaner().Clean(ctx, reason, ids...)
	return entries, legacy.Log(e.MigrationLog(), entries)
}

// MigrationLog returns the path of the log of [Environment.Migrate].
func (e Environment) MigrationLog() string { return filepath.Join(e.DataDir, legacy.LogName) }

// cleanUp removes the registration from one harness, or in a dry run plans to.
func (e Environment) cleanUp(ctx context.Context, opts Options, reason string, id harness.ID) cleanup {
	var c cleanup
	command := legacy.Command(id)
	if e.presence(id) != present || !e.MayMigrate() {
		return c
	}
	if command != nil {
		if _, err := e.LookPath(command[0]); err != nil || !e.cleaner().MayHave(id) {
			return c
		}
		c.steps = []Step{{Action: Run, Command: command}}
	}
	if id == harness.OpenCode {
		edits, _ := e.cleaner().Edits() // Migrate reports the error
		for _, edit := range edits {
			step := Step{Action: Unmerge, Path: edit.Path}
			if opts.DryRun {
				step.Text = string(diff.Diff(edit.Path, edit.Before, edit.Path, edit.After))
			}
			c.steps = append(c.steps, step)
		}
	}
	if !opts.DryRun {
		// The installation does not fail if the log cannot be written.
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
	var message string
	switch c.entry.Status {
	case legacy.Removed:
		message = what + "is removed"
		switch r.Status {
		case AlreadyPresent:
			r.Status = Updated
		case AlreadyAbsent:
			r.Status, r.Message = Removed, ""
		}
	case legacy.Failed:
		message = what + "could not be removed: " + c.entry.Message
	case legacy.Skipped:
		message = c.entry.Message
	default:
		return
	}
	r.Message = strings.TrimPrefix(r.Message+"; "+message, "; ")
}
