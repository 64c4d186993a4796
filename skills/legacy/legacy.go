// Package legacy removes the registrations of an MCP server that older versions of
// Talking Stick have left in the harnesses.
//
// Most harnesses have a command "mcp remove". OpenCode has none, so its
// configuration files are edited, but only if the entry is exactly the one that the
// old installer wrote. What was done is appended to a log, one JSON object per line.
package legacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/skills/jsonc"
	"github.com/talking-stick/tt/skills/rewrite"
)

// LogName is the name of the log in the data directory.
const LogName = "update-migrations.log"

// serverName is what the old installer registered.
const serverName = "talking-stick"

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
	Command []string   `json:"command,omitempty"`
	Path    string     `json:"path,omitempty"`
	Message string     `json:"message,omitempty"`
}

// A Cleaner removes registrations.
type Cleaner struct {
	OpenCodeDir string                     // OpenCode's configuration directory
	Version     string                     // of this program, for the log
	File        func(id harness.ID) string // which lists the MCP servers of a harness; nil: not known
	LookPath    func(name string) (string, error)
	Run         func(ctx context.Context, name string, args ...string) (output []byte, err error)
	Now         func() time.Time
	Writer      *rewrite.Writer
}

// Command returns the harness's own command that removes the registration, nil
// if it has none.
func Command(id harness.ID) []string {
	h := harness.Get(id)
	if len(h.MCP.Remove) == 0 {
		return nil
	}
	return append(append([]string{h.Program}, h.MCP.Remove...), serverName)
}

// Clean removes the registrations from the harnesses ids and returns an entry for
// each that could have one.
func (c Cleaner) Clean(ctx context.Context, reason string, ids ...harness.ID) []Entry {
	var entries []Entry
	for _, id := range ids {
		if mcp := harness.Get(id).MCP; len(mcp.Remove)+len(mcp.Files) > 0 {
			entries = append(entries, Entry{Reason: reason, Harness: id, Version: c.Version})
		}
	}
	// Concurrently, because a harness takes a second to start.
	var all sync.WaitGroup
	for i := range entries {
		all.Go(func() { c.clean(ctx, &entries[i]) })
	}
	all.Wait()
	return entries
}

func (c Cleaner) clean(ctx context.Context, e *Entry) {
	if Command(e.Harness) == nil {
		c.withFile(e)
	} else {
		c.withCommand(ctx, e)
	}
	e.At = c.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func (c Cleaner) withCommand(ctx context.Context, e *Entry) {
	command := Command(e.Harness)
	if !c.MayHave(e.Harness) {
		e.Status = Absent
		return
	}
	if _, err := c.LookPath(command[0]); err != nil {
		e.Status, e.Message = Skipped, command[0]+" is not installed"
		return
	}
	e.Command = command
	output, err := c.Run(ctx, command[0], command[1:]...)
	said := strings.TrimSpace(string(output))
	switch {
	case saysAbsent(said):
		e.Status = Absent
	case err != nil:
		e.Status, e.Message = Failed, strings.TrimSuffix(err.Error()+": "+firstRelevantLine(said), ": ")
	default:
		e.Status, e.Message = Removed, firstRelevantLine(said)
	}
}

// MayHave reports whether the file of a harness has a server of that name. No harness is
// started only to look: that takes a second, and writes files of its own.
func (c Cleaner) MayHave(id harness.ID) bool {
	if c.File == nil {
		return true
	}
	text, err := os.ReadFile(c.File(id))
	return err == nil && (bytes.Contains(text, []byte(`"`+serverName+`"`)) || bytes.Contains(text, []byte("."+serverName+"]")))
}

// saysAbsent reports whether the output of a harness says that there is no such
// server. The exit status does not tell.
func saysAbsent(output string) bool {
	low := strings.ToLower(output)
	for _, words := range []string{"not found", "no mcp server", "no user-scoped mcp server", "does not exist", "no server"} {
		if strings.Contains(low, words) {
			return true
		}
	}
	return false
}

// firstRelevantLine returns the first line of output that names the server, or the
// first line if none does: harnesses also print warnings about other things.
func firstRelevantLine(output string) string {
	for line := range strings.Lines(output) {
		if strings.Contains(line, serverName) {
			return strings.TrimSpace(line)
		}
	}
	line, _, _ := strings.Cut(output, "\n")
	return strings.TrimSpace(line)
}

// isCanonical reports whether an entry is as the old installer wrote it, in whatever layout.
func isCanonical(raw []byte) bool {
	var entry map[string]any
	if json.Unmarshal(raw, &entry) != nil {
		return false
	}
	sorted, err := json.Marshal(entry)
	return err == nil && string(sorted) == `{"command":["tt","mcp"],"enabled":true,"type":"local"}`
}

// An Edit removes the registration from a file.
type Edit struct {
	Path          string
	Before, After []byte
}

// Edits returns the changes to OpenCode's configuration files. An entry under the
// registration's name that the old installer has not written is an error.
func (c Cleaner) Edits() (edits []Edit, err error) {
	for _, name := range harness.Get(harness.OpenCode).MCP.Files {
		path := filepath.Join(c.OpenCodeDir, name)
		before, failure := os.ReadFile(path)
		if errors.Is(failure, fs.ErrNotExist) || failure == nil && !bytes.Contains(before, []byte(serverName)) {
			continue
		}
		after := before
		if failure == nil {
			after, failure = without(before)
		}
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", path, failure))
		} else if !bytes.Equal(before, after) {
			edits = append(edits, Edit{path, before, after})
		}
	}
	return edits, err
}

// errForeign reports an entry that looks like ours and is not.
var errForeign = errors.New("the MCP server " + serverName + " in it is not as an older version registered it, and stays")

// without returns an OpenCode configuration without the registration.
func without(config []byte) ([]byte, error) {
	doc, err := jsonc.Parse(config)
	if err != nil {
		return nil, err
	}
	raw, err := doc.Get("mcp", serverName)
	if err != nil || raw == nil {
		return config, err
	}
	if !isCanonical(raw) {
		return nil, errForeign
	}
	_, err = doc.Remove("mcp", serverName)
	return doc.Bytes(), err
}

func (c Cleaner) withFile(e *Entry) {
	e.Status = Absent
	edits, err := c.Edits()
	for _, edit := range edits {
		if _, err := c.Writer.Replace(edit.Path, edit.Before, edit.After); err != nil {
			e.Status, e.Path, e.Message = Failed, edit.Path, err.Error()
			return
		}
		e.Status, e.Path = Removed, edit.Path
	}
	switch {
	case errors.Is(err, errForeign):
		e.Status, e.Message = Skipped, err.Error()
	case err != nil:
		e.Status, e.Message = Failed, err.Error()
	}
}

// Lines returns entries as JSON Lines.
func Lines(entries []Entry) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, e := range entries {
		_ = encoder.Encode(e) // an Entry always has an encoding
	}
	return out.Bytes()
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
