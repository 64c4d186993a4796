package instructions

import (
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// A Harness names whose sections are shown. It is the name that agent ids start with.
type Harness string

// All shows every section.
const All Harness = "all"

// harnessNames are the names under which a harness is known, in lower case: in
// headings, on the command line, and in agent ids.
var harnessNames = [...]struct {
	harness Harness
	names   []string
}{
	{"claude", []string{"claude", "claude code", "claude-code"}},
	{"codex", []string{"codex", "codex cli"}},
	{"antigravity", []string{"antigravity", "agy"}},
	{"gemini", []string{"gemini", "gemini cli"}},
	{"grok", []string{"grok", "grok build", "grok-build"}},
	{"opencode", []string{"opencode", "open code"}},
}

// ParseHarness returns the harness that name means, All for "all" and "". An
// unknown name is a usage error.
func ParseHarness(name string) (Harness, error) {
	if name == "" || name == string(All) {
		return All, nil
	}
	if h := harnessCalled(name); h != "" {
		return h, nil
	}
	return "", code.New(code.Usage, "unknown harness %q", name).
		WithHint("one of claude, codex, antigravity, gemini, grok, opencode, all")
}

// OfAgent returns the harness that an agent id starts with, All for any other id.
func OfAgent(agentID string) Harness {
	prefix, _, _ := strings.Cut(agentID, ":")
	if h := harnessCalled(prefix); h != "" {
		return h
	}
	return All
}

func harnessCalled(name string) Harness {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, known := range harnessNames {
		for _, n := range known.names {
			if n == name {
				return known.harness
			}
		}
	}
	return ""
}

// extract returns what text says to h: everything before the first section that
// is for one harness, and h's own sections. A section ends at the next heading of
// its level; one that follows a harness's section and is for none is dropped.
func extract(text string, h Harness) string {
	if h == All {
		return text
	}
	var out strings.Builder
	keep, anySection, fence := true, false, ""
	for line := range strings.Lines(text) {
		fence = fenceAfter(fence, line)
		if title, ok := strings.CutPrefix(line, "## "); ok && fence == "" {
			section := harnessCalled(strings.TrimRight(title, "# \t\r\n"))
			anySection = anySection || section != ""
			keep = !anySection || section == h
		}
		if keep {
			out.WriteString(line)
		}
	}
	return out.String()
}

// fenceAfter returns the fence that is open behind line, if fence was open
// before it. A heading inside a code block is none.
func fenceAfter(fence, line string) string {
	text := strings.TrimSpace(line)
	for _, mark := range []string{"```", "~~~"} {
		switch {
		case !strings.HasPrefix(text, mark):
		case fence == "":
			return mark
		case fence == mark:
			return ""
		}
	}
	return fence
}
