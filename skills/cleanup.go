package skills

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
)

// A Migration is what was done to the server that an older version has registered in one harness: Removed, AlreadyAbsent,
// Skipped or Failed.
type Migration struct {
	At      string     `json:"at"` // RFC 3339, UTC, milliseconds
	Version string     `json:"version,omitempty"`
	Reason  string     `json:"reason"` // install, uninstall, update, first-run or manual
	Harness harness.ID `json:"harness"`
	Status  Status     `json:"status"`
	Path    string     `json:"path,omitempty"`
	Message string     `json:"message,omitempty"`
}

// oldServerName is the MCP server that older versions have registered in harnesses.
const oldServerName = "talking-stick"

// oldEntries are what they have registered. Any other server of that name is the user's.
var oldEntries = []string{`{"type":"local","command":["tt","mcp"],"enabled":true}`, `{"command":"tt","args":["mcp"]}`,
	`{"type":"stdio","command":"tt","args":["mcp"],"env":{}}`, `{"type":"stdio","command":"tt","args":["mcp"]}`}

const oldTable = `[mcp_servers.talking-stick] command = "tt" args = ["mcp"]`

var errForeign = errors.New("the MCP server " + oldServerName + " in it is not as an older version registered it, and stays")

// planOld plans to take the registration of an older version out of the files of a harness. The error
// is errForeign if one of them has another server of that name.
func (p *planner) planOld(id harness.ID) (err error) {
	h := harness.Get(id)
	for _, name := range h.MCP.Old {
		path := p.env.inRoot(id, name)
		if name == "" {
			path = p.env.serversFile(id)
		}
		before, failure := p.read(path)
		if errors.Is(failure, errDangling) || failure == nil && !bytes.Contains(before, []byte(oldServerName)) {
			continue
		}
		after, server := before, serverPart(id, path, oldServerName, "")
		var f finding
		if failure == nil {
			f, failure = server.find(before)
		}
		if failure == nil && len(f.digests) > 0 {
			isOld := func(entry string) bool { return digestJSON([]byte(entry)) == f.digests[0] }
			if failure = errForeign; slices.ContainsFunc(oldEntries, isOld) || digestTOML(oldTable) == f.digests[0] {
				after, failure = server.remove(before, before)
			}
		}
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", path, failure))
		} else if !bytes.Equal(before, after) {
			p.change(fileChange{action: Unmerge, path: path, before: before, after: after, backup: !h.MCP.InHome})
		}
	}
	return err
}

// MayMigrate reports whether the user allows old registrations to be removed.
func (e Environment) MayMigrate() bool {
	return e.allows(noMigrate)
}

// Migrate removes the old registrations from the given harnesses, and appends what it
// did to the log. The error is that of the log.
func (e Environment) Migrate(reason string, ids ...harness.ID) (all []Migration, err error) {
	for _, id := range ids {
		if len(harness.Get(id).MCP.Old) > 0 {
			entry, _ := e.removeOld(Options{}, reason, id)
			all = append(all, entry)
		}
	}
	return all, e.log(all)
}

// log appends entries to the log, with the time. It writes once, so that the lines of two processes
// do not mix.
func (e Environment) log(all []Migration) error {
	if len(all) == 0 {
		return nil
	}
	for i := range all {
		all[i].At = e.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	if err := lockfile.MakeDirs(e.DataDir, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(e.MigrationLog(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	lockfile.Adopt(file.Name())
	_, err = file.Write(MigrationLines(all))
	return errors.Join(err, file.Close())
}

// MigrationLines returns migrations as JSON Lines.
func MigrationLines(all []Migration) (lines []byte) {
	for _, m := range all {
		lines = append(append(lines, encoded(m)...), '\n')
	}
	return lines
}

// removeOld removes the old registration from a harness, or in a dry run plans to.
func (e Environment) removeOld(opts Options, reason string, id harness.ID) (Migration, *planner) {
	entry := Migration{Reason: reason, Harness: id, Version: e.Version}
	p := e.planner(opts, &record{Installs: map[harness.ID]*installed{}}, id)
	err := p.planOld(id)
	if !opts.DryRun {
		err = errors.Join(err, apply(p.steps))
	}
	for _, step := range p.steps {
		entry.Path = step.Path
	}
	switch {
	case errors.Is(err, errForeign):
		entry.Status, entry.Message = Skipped, err.Error()
	case err != nil:
		entry.Status, entry.Message = Failed, err.Error()
	case len(p.steps) > 0:
		entry.Status = Removed
	default:
		entry.Status = AlreadyAbsent
	}
	return entry, p
}

// MigrationLog returns the path of the log of [Environment.Migrate], which has one JSON object per line.
func (e Environment) MigrationLog() string { return filepath.Join(e.DataDir, "update-migrations.log") }

// cleanUp removes the registration from the harness of p, or in a dry run plans to, and returns the
// steps of that too.
func (p *planner) cleanUp(reason string, id harness.ID) (Migration, []Step) {
	if p.env.presence(id) != present || !p.env.MayMigrate() {
		return Migration{Status: AlreadyAbsent}, nil
	}
	entry, old := p.env.removeOld(p.opts, reason, id)
	switch {
	case entry.Status == AlreadyAbsent:
	case p.opts.DryRun:
		p.after = old.after
	default:
		_ = p.env.log([]Migration{entry}) // the installation does not fail if that cannot be written
	}
	return entry, old.steps
}

// addOld adds what was done to the registration.
func (r *Result) addOld(entry Migration, steps []Step) {
	r.Steps = append(steps, r.Steps...)
	const what = "the MCP registration of an older version "
	message := entry.Message
	switch entry.Status {
	case AlreadyAbsent:
		return
	case Removed:
		message = what + "is removed"
		switch r.Status {
		case AlreadyPresent:
			r.Status = Updated
		case AlreadyAbsent:
			r.Status, r.Message = Removed, ""
		}
	case Failed:
		message = what + "could not be removed: " + message
	}
	r.Message = strings.TrimPrefix(r.Message+"; "+message, "; ")
}
