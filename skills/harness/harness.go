// Package harness names the agent harnesses that Talking Stick installs into.
//
// The names are those of the command line. They are not agent ids: the
// harness "claude-code" runs agents called "claude:…".
package harness

import (
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// An ID is the name of one harness on the command line.
type ID string

// The harnesses, by the name of their command-line program or product.
const (
	ClaudeCode  ID = "claude-code"
	Codex       ID = "codex"
	Gemini      ID = "gemini"
	OpenCode    ID = "opencode"
	Antigravity ID = "antigravity"
	Grok        ID = "grok"
)

// All returns every harness in the order in which commands report on them.
func All() []ID {
	return []ID{ClaudeCode, Codex, Gemini, OpenCode, Antigravity, Grok}
}

// Names returns the names of all harnesses, for completion and messages.
func Names() []string {
	names := make([]string, 0, len(All()))
	for _, id := range All() {
		names = append(names, string(id))
	}
	return names
}

// Parse returns the harness that name means; "claude", "agy" and "grok-build"
// are other names of claude-code, antigravity and grok. An unknown name is a
// usage error that lists the harnesses.
func Parse(name string) (ID, error) {
	switch name {
	case "claude":
		return ClaudeCode, nil
	case "agy":
		return Antigravity, nil
	case "grok-build":
		return Grok, nil
	}
	for _, id := range All() {
		if string(id) == name {
			return id, nil
		}
	}
	return "", code.New(code.Usage, "unknown harness %q", name).
		WithHint("one of %s", strings.Join(Names(), ", ")).
		With("harness", name)
}
