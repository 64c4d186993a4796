package skills

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/legacy"
)

// oldServerName is the MCP server that older versions have registered in harnesses.
const oldServerName = "talking-stick"

// oldEntries are digests of what they have registered. Any other server of that name is the user's.
func oldEntries() []string {
	return []string{
		digestJSON([]byte(`{"type":"local","command":["tt","mcp"],"enabled":true}`)),
		digestJSON([]byte(`{"command":"tt","args":["mcp"]}`)),
		digestJSON([]byte(`{"type":"stdio","command":"tt","args":["mcp"],"env":{}}`)),
		digestJSON([]byte(`{"type":"stdio","command":"tt","args":["mcp"]}`)),
		digestOf(`[mcp_servers.talking-stick] command = "tt" args = ["mcp"]`),
	}
}

var errForeign = errors.New("the MCP server " + oldServerName + " in it is not as an older version registered it, and stays")

// An oldEdit takes the registration out of a file.
type oldEdit struct {
	server
	before, after []byte
}

// oldEdits returns the changes of a harness's files. The error is errForeign if one of them has
// another server of that name.
func (e Environment) oldEdits(id harness.ID) (edits []oldEdit, err error) {
	h := harness.Get(id)
	for _, name := range h.MCP.Old {
		s := server{h, e.inRoot(id, name), oldServerName}
		if name == "" {
			s.path = e.serversFile(id)
		}
		before, failure := os.ReadFile(s.path)
		if errors.Is(failure, fs.ErrNotExist) || failure == nil && !bytes.Contains(before, []byte(oldServerName)) {
			continue
		}
		after := before
		if failure == nil {
			after, failure = s.withoutOld(before)
		}
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", s.path, failure))
		} else if !bytes.Equal(before, after) {
			edits = append(edits, oldEdit{s, before, after})
		}
	}
	return edits, err
}

// withoutOld returns the file without the registration of an older version.
func (s server) withoutOld(file []byte) ([]byte, error) {
	entry, err := s.find(file)
	switch {
	case err != nil || entry == "":
		return file, err
	case !slices.Contains(oldEntries(), entry):
		return file, errForeign
	}
	return s.remove(file, file)
}

// MayMigrate reports whether the user allows old registrations to be removed.
func (e Environment) MayMigrate() bool {
	return e.allows(noMigrate)
}

// Migrate removes the old registrations from the given harnesses, and appends what it
// did to the log. The error is that of the log.
func (e Environment) Migrate(reason string, ids ...harness.ID) (all []legacy.Entry, err error) {
	for _, id := range ids {
		if len(harness.Get(id).MCP.Old) == 0 {
			continue
		}
		m := legacy.Entry{Reason: reason, Harness: id, Version: e.Version, At: e.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00")}
		edits, err := e.oldEdits(id)
		for _, edit := range edits {
			w := e.Writer()
			if edit.private() {
				w.Backups = ""
			}
			m.Path = edit.path
			if _, failure := w.Replace(edit.path, edit.before, edit.after); failure != nil {
				err = errors.Join(err, failure)
			}
		}
		m.Status, m.Message = statusOf(edits, err)
		all = append(all, m)
	}
	return all, legacy.Log(e.MigrationLog(), all)
}

// statusOf says what the edits come to.
func statusOf(edits []oldEdit, err error) (status, message string) {
	switch {
	case errors.Is(err, errForeign):
		return legacy.Skipped, err.Error()
	case err != nil:
		return legacy.Failed, err.Error()
	case len(edits) > 0:
		return legacy.Removed, ""
	}
	return legacy.Absent, ""
}

// MigrationLog returns the path of the log of [Environment.Migrate].
func (e Environment) MigrationLog() string { return filepath.Join(e.DataDir, legacy.LogName) }

// A cleanup is what was done to remove an older version's registration from one harness.
type cleanup struct {
	entry legacy.Entry
	steps []Step
}

// cleanUp removes the registration from the harness of p, or in a dry run plans to.
func (p *planner) cleanUp(reason string, id harness.ID) (c cleanup) {
	e := p.env
	if e.presence(id) != present || !e.MayMigrate() {
		return c
	}
	edits, err := e.oldEdits(id)
	if len(edits) == 0 && err == nil {
		return c
	}
	for _, edit := range edits {
		step := Step{Action: Unmerge, Path: edit.path}
		if p.opts.DryRun {
			step.Text = string(diff.Diff(edit.path, edit.before, edit.path, edit.after))
			p.after[edit.path] = edit.after
		}
		c.steps = append(c.steps, step)
	}
	if p.opts.DryRun {
		c.entry.Status, c.entry.Message = statusOf(edits, err)
	} else {
		// The installation does not fail if the log cannot be written.
		if all, _ := e.Migrate(reason, id); len(all) > 0 {
			c.entry = all[0]
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
