package harness

import (
	"errors"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]ID{"claude": ClaudeCode, "agy": Antigravity, "grok-build": Grok} {
		if got, err := Parse(name); got != want || err != nil {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	for _, id := range All() {
		if got, err := Parse(string(id)); got != id || err != nil {
			t.Errorf("%s: %q %v", id, got, err)
		}
	}
	_, err := Parse("Claude")
	var e *code.Error
	if !errors.As(err, &e) || e.Code != code.Usage || !strings.Contains(e.Hint, "opencode, antigravity") || !strings.Contains(e.Message, "Claude") {
		t.Errorf("%v", err)
	}
}
