package skills

import (
	"context"
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

// Every command of a person pays for this.
func BenchmarkSyncWithNothingToDo(b *testing.B) {
	h := newHome(b)
	for _, dir := range []string{".codex", ".gemini/config", ".grok", ".config/opencode"} {
		h.mkdir(dir)
	}
	h.write(".claude/settings.json", "{\n"+strings.Repeat("// a comment of some length, as people have them\n", 100)+"}\n")
	h.install(only(harness.IDs()...))
	h.Sync(context.Background())
	for b.Loop() {
		if h.Sync(context.Background()) != nil {
			b.Fatal("there is something to do")
		}
	}
}
