package skills

import (
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/skills/harness"
)

// program returns the name of the harness's program.
func program(id harness.ID) string {
	switch id {
	case harness.ClaudeCode:
		return "claude"
	case harness.Antigravity:
		return "agy"
	}
	return string(id)
}

// root returns the harness's own directory for the user, which is made by the
// harness and never by us.
func (e Environment) root(id harness.ID) string {
	switch id {
	case harness.ClaudeCode:
		return e.variable("CLAUDE_CONFIG_DIR", ".claude")
	case harness.Codex:
		return e.variable("CODEX_HOME", ".codex")
	case harness.Gemini:
		return filepath.Join(e.Home, ".gemini")
	case harness.OpenCode:
		return filepath.Join(e.variable("XDG_CONFIG_HOME", ".config"), "opencode")
	case harness.Antigravity:
		return e.antigravityRoot()
	case harness.Grok:
		return e.variable("GROK_HOME", ".grok")
	}
	return ""
}

// antigravityRoot returns the directory that the products of Antigravity share,
// or the one of the first editions of its editor where only that exists.
func (e Environment) antigravityRoot() string {
	shared := filepath.Join(e.Home, ".gemini", "config")
	first := filepath.Join(e.Home, ".gemini", "antigravity")
	if !isDir(shared) && isDir(first) {
		return first
	}
	return shared
}

// skillDir returns the directory that the skill is installed as.
func (e Environment) skillDir(id harness.ID) string {
	return filepath.Join(e.root(id), "skills", Name)
}

// linkSource returns the directory that an installed link points to.
func (e Environment) linkSource() string {
	return filepath.Join(e.DataDir, "skill", Name)
}

// A presence tells whether a harness is on this machine.
type presence int

const (
	missing    presence = iota // neither its program nor its directory
	notStarted                 // its program, but no directory yet
	present
)

func (e Environment) presence(id harness.ID) presence {
	if isDir(e.root(id)) {
		return present
	}
	if _, err := e.LookPath(program(id)); err == nil {
		return notStarted
	}
	return missing
}

// Detected returns the harnesses that are on this machine.
func (e Environment) Detected() []harness.ID {
	var found []harness.ID
	for _, id := range harness.All() {
		if e.presence(id) != missing {
			found = append(found, id)
		}
	}
	return found
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
