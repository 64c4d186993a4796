package instructions

import (
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
)

// All is the reader who sees every section. Other readers are harnesses, by the
// name that the ids of their agents start with.
const All = "all"

// Readers returns the names of all readers, for completion and messages.
func Readers() []string { return append(harness.Agents(), All) }

// ParseReader returns the reader that name means, All for "all" and "". Every name
// of a harness will do; an unknown one is a usage error.
func ParseReader(name string) (string, error) {
	if name == "" || name == All {
		return All, nil
	}
	if h := harness.Find(name); h != nil {
		return h.Agent, nil
	}
	return "", code.New(code.Usage, "unknown harness %q", name).
		WithHint("one of %s", strings.Join(Readers(), ", "))
}

// ReaderOf returns the harness that an agent id starts with, All for any other id.
func ReaderOf(agentID string) string {
	prefix, _, _ := strings.Cut(agentID, ":")
	if h := harness.Find(prefix); h != nil {
		return h.Agent
	}
	return All
}

// extract returns the part of text that is for reader: everything before the first
// section for a harness, and the sections for reader. A section ends at the next
// heading of its level. A section for no harness is left out behind one for a
// harness.
func extract(text, reader string) string {
	if reader == All {
		return text
	}
	var out strings.Builder
	keep, anySection, fence := true, false, ""
	for line := range strings.Lines(text) {
		fence = fenceAfter(fence, line)
		if title, ok := strings.CutPrefix(line, "## "); ok && fence == "" {
			section := harness.Find(strings.TrimRight(title, "# \t\r\n"))
			anySection = anySection || section != nil
			keep = !anySection || section != nil && section.Agent == reader
		}
		if keep {
			out.WriteString(line)
		}
	}
	return out.String()
}

// fenceAfter returns the code fence that is open after line, "" if none is, where
// fence was open before it. What looks like a heading in a code block is not one.
func fenceAfter(fence, line string) string {
	text := strings.TrimSpace(line)
	for _, marker := range []string{"```", "~~~"} {
		switch {
		case !strings.HasPrefix(text, marker):
		case fence == "":
			return marker
		case fence == marker:
			return ""
		}
	}
	return fence
}
