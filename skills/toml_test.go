package skills

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/skills/harness"
)

func TestKeepsHooks(t *testing.T) {
	tests := []struct {
		name, src string
		want      bool
	}{
		{"nothing", "", false},
		{"other tables", "model = \"x\"\n[mcp_servers.hooks]\ncommand = 'x'\n", false},
		{"hooks", "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\n", true},
		{"indented and commented", "  [[hooks.PreToolUse]] # mine\n", true},
		{"what is trusted is no hook", "[hooks.state.\"x\"]\ntrusted_hash = 'y'\n", false},
		{"in a string", "a = \"\"\"\n[[hooks.Stop]]\n\"\"\"\n", false},
		{"in a raw string", "a = '''x\n[[hooks.Stop]]\n'''\n", false},
		{"behind a string that ends on its line", "a = \"\"\"x\"\"\"\n[[hooks.Stop]]\n", true},
		{"an inline table", "hooks = { Stop = [] }\n", false},
		{"dotted keys", "hooks.Stop = []\n[[hooks.PreToolUse]]\n", false},
		{"arrays in the table", "[hooks]\n# mine\nStop = []\n", false},
	}
	for _, tt := range tests {
		if got := keepsHooks([]byte(tt.src)); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestCodexGuardsGoWhereTheHooksAre(t *testing.T) {
	tests := []struct{ name, config, hooks, file string }{
		{"nothing yet", "", "", "hooks.json"},
		{"only trust in config.toml", "[hooks.state.\"x\"]\n", "", "hooks.json"},
		{"hooks in config.toml", "[[hooks.Stop]]\n", "", "config.toml"},
		{"hooks in both", "[[hooks.Stop]]\n", `{"hooks": {}}`, "hooks.json"},
		{"inline hooks", "hooks = {}\n", "", "hooks.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			h.write(".codex/config.toml", tt.config)
			if tt.hooks != "" {
				h.write(".codex/hooks.json", tt.hooks)
			}
			before := h.everything()
			h.install(only(harness.Codex), Added)
			if !strings.Contains(h.read(".codex/"+tt.file), "tt hook stop") {
				t.Errorf("not in %s", tt.file)
			}
			h.install(only(harness.Codex), AlreadyPresent)
			h.uninstall(only(harness.Codex), Removed)
			if h.everything() != before {
				t.Errorf("left:\n%s", h.everything())
			}
		})
	}
}
