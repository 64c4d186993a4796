package skills

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

// The hook that holds the end of a turn takes the place of the stop guard, stays when the
// hooks are installed again, and goes with them.
func TestHold(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	before := h.everything()
	all := only(harness.Gemini, harness.Antigravity, harness.ClaudeCode)
	h.install(all, Added, Added, Added)
	files := []string{".gemini/settings.json", ".gemini/config/hooks.json"}
	for _, file := range files {
		if strings.Contains(h.read(file), "tt hook listen") {
			t.Errorf("%s holds without being asked", file)
		}
	}
	claude := h.read(claudeFile)
	hold := all
	hold.Hold = true
	for _, opts := range []Options{hold, all} {
		h.install(opts)
		for _, file := range files {
			if got := h.read(file); strings.Count(got, "tt hook listen") != 1 || strings.Contains(got, "tt hook stop") {
				t.Errorf("%s:\n%s", file, got)
			}
		}
	}
	if h.read(claudeFile) != claude {
		t.Error("a harness that can be woken is held")
	}
	h.uninstall(all, Removed, Removed, Removed)
	if got := h.everything(); got != before {
		t.Errorf("left:\n%s", got)
	}
}
