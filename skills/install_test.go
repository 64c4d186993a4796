package skills

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/jsonc"
)

// Settings as people have them.
const (
	claudeSettings = `{
	// personal settings, synced by hand
	"model": "opus",
	"permissions": { "allow": ["Bash(go test:*)", "Read(~/src/**)"], "deny": [] },
	"hooks": {
		"PreToolUse": [
			{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "~/bin/guard.sh", "timeout": 5 } ] }, // mine
		],
		/* rings when it is done */
		"Stop": [ { "hooks": [{"type":"command","command":"afplay /System/Library/Sounds/Glass.aiff"}] } ]
	},
	"statusLine": {"type": "command", "command": "tt prompt"},
}
`
	claudeState = `{
  "numStartups": 12,
  "mcpServers": {
    "docs": {
      "type": "stdio",
      "command": "docs-mcp",
      "env": {"DOCS_TOKEN": "secret"}
    }
  },
  "oauthAccount": {"accountUuid": "secret"}
}
`
	geminiSettings = "{\r\n  \"security\": {\"auth\": {\"selectedType\": \"oauth-personal\"}},\r\n  \"ui\": {\"theme\": \"GitHub\"}\r\n}\r\n"
	qwenSettings   = "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"notify-send done\", \"timeout\": 5000}]}]},\n  \"model\": {\"name\": \"qwen3-coder\"}\n}\n"
	cursorHooks    = "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{ \"command\": \"./bell.sh\", \"loop_limit\": 3 }], // mine\n    \"afterFileEdit\": [{\"command\": \"./format.sh\"}]\n  }\n}"
	codexConfig    = `# codex
model = "gpt-5"
notes = """
[[hooks.Stop]] is not a table here
"""

[mcp_servers.docs]
command = "docs-mcp"

[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "notify-send done"

[hooks.state."/home/u/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:ab"`
	antigravityHooks = "{\n  \"audit\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"run_command\", \"hooks\": [{\"command\": \"./audit.sh\"}]}\n    ]\n  }\n}"
)

func isJSON(text string) bool {
	_, err := jsonc.Parse([]byte(text))
	return err == nil
}

func fullHome(t *testing.T) *home {
	h := newHome(t)
	h.write(".claude/settings.json", claudeSettings)
	h.write(".claude/skills/other/SKILL.md", "---\nname: other\n---\n")
	h.write(".codex/config.toml", codexConfig)
	h.write(".gemini/settings.json", geminiSettings)
	h.write(".gemini/config/hooks.json", antigravityHooks)
	h.write(".config/opencode/opencode.json", `{"theme":"dark"}`)
	h.write(".grok/config.toml", "")
	h.write(".copilot/mcp-config.json", "{\n  \"mcpServers\": {}\n}")
	h.write(".qwen/settings.json", qwenSettings)
	h.write(".cursor/hooks.json", cursorHooks)
	h.write(".claude.json", claudeState)
	h.programs["agent-bus"] = true
	return h
}

// each returns a status for every harness.
func each(status Status) []Status { return slices.Repeat([]Status{status}, len(harness.IDs())) }

func TestInstallThenUninstallRestoresEveryByte(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	before := h.everything()
	all := only(harness.IDs()...)
	h.install(all, each(Added)...)
	after := h.everything()
	h.install(all, each(AlreadyPresent)...)
	if h.everything() != after {
		t.Error("a second installation changed something")
	}
	h.uninstall(all, each(Removed)...)
	if got := h.everything(); got != before {
		t.Errorf("left:\n%s\n\nwas:\n%s", got, before)
	}
	h.uninstall(all, each(AlreadyAbsent)...)
}

func TestGolden(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	h.install(only(harness.IDs()...))
	files := map[string]string{
		"claude-settings.json":   ".claude/settings.json",
		"codex-hooks.json":       ".codex/hooks.json",
		"gemini-settings.json":   ".gemini/settings.json",
		"antigravity-hooks.json": ".gemini/config/hooks.json",
		"grok-hooks.json":        ".grok/hooks/talking-stick.json",
		"copilot-hooks.json":     ".copilot/hooks/talking-stick.json",
		"copilot-servers.json":   ".copilot/mcp-config.json",
		"qwen-settings.json":     ".qwen/settings.json",
		"cursor-hooks.json":      ".cursor/hooks.json",
		"cursor-servers.json":    ".cursor/mcp.json",
	}
	for name, below := range files {
		golden := filepath.Join("testdata", name)
		got := h.read(below)
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != got {
			t.Errorf("%s (%v):\n%s", below, err, got)
		}
		if strings.HasSuffix(name, ".json") && !isJSON(got) {
			t.Errorf("%s is not JSON any more", below)
		}
	}
	for _, dir := range []string{".claude", ".codex", ".gemini", ".gemini/config", ".config/opencode", ".copilot", ".qwen", ".cursor", ".grok"} {
		if h.read(dir+"/skills/talking-stick/SKILL.md") != skillText {
			t.Errorf("%s has no skill", dir)
		}
	}
	if h.read(".config/opencode/plugins/talking-stick.js") != openCodePlugin {
		t.Error("OpenCode has no plugin")
	}
}

func TestInstallInSparseHomes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, settings string }{
		{"no settings", "-"},
		{"empty settings", ""},
		{"blank settings", " \n\n"},
		{"an empty object", "{}"},
		{"an empty object on lines", "{\n}\n"},
		{"with a byte order mark", "\ufeff{\"a\": 1}"},
		{"hooks without events", "{\"hooks\": {}}"},
		{"an empty event", "{\n  \"hooks\": {\n    \"Stop\": [ // none yet\n    ]\n  }\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			h.mkdir(".claude")
			if tt.settings != "-" {
				h.write(".claude/settings.json", tt.settings)
			}
			before := h.everything()
			h.install(only(harness.ClaudeCode), Added)
			if settings := h.read(".claude/settings.json"); !strings.Contains(settings, "tt hook stop") || !strings.Contains(settings, "tt hook edit") || !isJSON(settings) {
				t.Errorf("settings:\n%s", settings)
			}
			h.uninstall(only(harness.ClaudeCode), Removed)
			if got := h.everything(); got != before {
				t.Errorf("left:\n%s\n\nwas:\n%s", got, before)
			}
		})
	}
}

func TestDryRunIsExactAndWritesNothing(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	h.old()
	before := h.everything()
	opts := only(harness.IDs()...)
	opts.DryRun = true
	planned := h.install(opts)
	if h.everything() != before || isDir(h.DataDir) {
		t.Fatal("a dry run left traces")
	}
	opts.DryRun = false
	done := h.install(opts)
	for i := range planned {
		p, d := planned[i], done[i]
		if p.Status != d.Status || p.Message != d.Message || len(p.Steps) != len(d.Steps) {
			t.Errorf("planned %+v\ndone %+v", p, d)
			continue
		}
		for j, step := range p.Steps {
			if step.Action != d.Steps[j].Action || step.Path != d.Steps[j].Path {
				t.Errorf("planned %s\ndone %s", step, d.Steps[j])
			}
			content, err := os.ReadFile(step.Path)
			if err != nil {
				t.Fatal(err)
			}
			switch now := string(content); step.Action {
			case Write:
				if same, _ := os.ReadFile(step.SameAs); step.Text+string(same) != now {
					t.Errorf("%s: another text was announced", step.Path)
				}
			case Merge:
				for line := range strings.Lines(step.Text) {
					if added, ok := strings.CutPrefix(line, "+"); ok && !strings.HasPrefix(added, "++") && !strings.Contains(now, strings.TrimRight(added, "\r\n")) {
						t.Errorf("%s: %q was announced and is not there", step.Path, added)
					}
				}
				if !strings.Contains(step.Text, "tt hook") && !strings.Contains(step.Text, "agent-bus") || !strings.Contains(step.Text, "\n@@ ") {
					t.Errorf("%s: no difference is shown:\n%s", step.Path, step.Text)
				}
			}
		}
	}
	if n := strings.Count(fmt.Sprint(planned), "# Talking Stick\n"); n != 1 {
		t.Errorf("the skill is shown %d times", n)
	}
	if got := planned[0].Steps[0].String(); !strings.HasPrefix(got, "unmerge "+h.path(".claude.json")) || !strings.Contains(got, "-{\"mcpServers\": {\"talking-stick\"") {
		t.Errorf("first step: %s", got)
	}
	opts.DryRun = true
	installed := h.everything()
	for _, r := range h.uninstall(opts, each(Removed)...) {
		if len(r.Steps) < 2 {
			t.Errorf("%s: %v", r.Harness, r.Steps)
		}
	}
	if h.everything() != installed {
		t.Error("a dry uninstallation changed something")
	}
}

func TestOnlyHarnessesThatAreThere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.programs["codex"] = true
	before := h.everything()
	results := h.install(only(harness.ClaudeCode, harness.Codex), Skipped, Skipped)
	if !strings.Contains(results[0].Message, "not on this machine") || !strings.Contains(results[1].Message, "start codex once, or make that directory") {
		t.Errorf("%+v", results)
	}
	if h.everything() != before {
		t.Error("something was written")
	}
	h.mkdir(".gemini/antigravity")
	if got := h.Detected(); len(got) != 3 || got[0] != harness.Codex || got[1] != harness.Antigravity || got[2] != harness.Gemini {
		t.Errorf("detected %v", got)
	}
	if r := h.install(only(harness.Antigravity), Added)[0]; !strings.Contains(r.Message, "no hooks") || !h.exists(".gemini/antigravity/skills/talking-stick/SKILL.md") {
		t.Errorf("%+v", r)
	}
	h.uninstall(only(harness.Antigravity), Removed)
	if h.exists(".gemini/antigravity/skills/talking-stick/SKILL.md") {
		t.Error("the skill was left")
	}
}

func TestHarnessesElsewhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for name, dir := range map[string]string{"CLAUDE_CONFIG_DIR": "c", "CODEX_HOME": "x", "XDG_CONFIG_HOME": "cfg", "GROK_HOME": "g"} {
		h.vars[name] = h.path(dir)
	}
	for _, dir := range []string{"c", "x", "cfg/opencode", "g"} {
		h.mkdir(dir)
	}
	h.install(only(harness.ClaudeCode, harness.Codex, harness.OpenCode, harness.Grok), Added, Added, Added, Added)
	for _, below := range []string{"c/settings.json", "x/hooks.json", "cfg/opencode/plugins/talking-stick.js", "g/hooks/talking-stick.json", "x/skills/talking-stick/SKILL.md"} {
		if !h.exists(below) {
			t.Errorf("no %s", below)
		}
	}
}

func TestNoHooks(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	opts := only(harness.ClaudeCode, harness.Grok)
	opts.NoHooks = true
	h.install(opts, Added, Added)
	if h.read(".claude/settings.json") != claudeSettings || h.exists(".grok/hooks") {
		t.Error("guards were installed")
	}
}

func TestUnusableSettingsAreAFailureAndStay(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"{ broken", `{"hooks": []}`, `{"hooks": {"Stop": {}}}`, `[]`} {
		h := newHome(t)
		h.write(".claude/settings.json", settings)
		r := h.install(only(harness.ClaudeCode), Failed)[0]
		if h.read(".claude/settings.json") != settings || !strings.Contains(r.Message, "settings.json") {
			t.Errorf("%q: %s", settings, r.Message)
		}
	}
}

func TestWhereNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.mkdir(".claude")
	h.write(".claude/skills", "a file where a directory belongs")
	if r := h.install(only(harness.ClaudeCode), Failed)[0]; !strings.Contains(r.Message, "skills") {
		t.Errorf("%+v", r)
	}
	if os.Geteuid() != 0 {
		h := newHome(t)
		h.mkdir(".grok")
		if err := os.Chmod(h.path(".grok"), 0o500); err != nil {
			t.Fatal(err)
		}
		r := h.install(only(harness.Grok), Failed)[0]
		if !strings.Contains(r.Message, "permission denied") {
			t.Errorf("%+v", r)
		}
	}
	broken := newHome(t)
	broken.mkdir(".grok")
	broken.write("occupied", "")
	broken.DataDir = broken.path("occupied")
	if _, err := broken.Install(context.Background(), only(harness.Grok)); code.Of(err) != code.DataDirUnusable {
		t.Errorf("%v", err)
	}
	if broken.exists(".grok/skills") {
		t.Error("installed without a record")
	}
}

func TestLinkedSettingsStayLinked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write("dotfiles/claude.json", claudeSettings)
	h.mkdir(".claude")
	if err := os.Symlink(h.path("dotfiles/claude.json"), h.path(".claude/settings.json")); err != nil {
		t.Skip(err)
	}
	before := h.everything()
	h.install(only(harness.ClaudeCode), Added)
	if !strings.Contains(h.read("dotfiles/claude.json"), "tt hook stop") {
		t.Error("the linked file was not changed")
	}
	h.uninstall(only(harness.ClaudeCode), Removed)
	if h.everything() != before {
		t.Errorf("left:\n%s", h.everything())
	}
}

func TestWhatOthersAddLaterStays(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	h.install(only(harness.ClaudeCode), Added)
	settings := h.read(".claude/settings.json")
	// The user puts his own handler into our group, and a key at the end.
	mine := `{"type": "command", "command": "mine.sh"}`
	at := strings.Index(settings, "tt hook edit")
	open := strings.LastIndex(settings[:at], "[") + 1
	settings = settings[:open] + mine + ", " + settings[open:]
	settings = strings.TrimSuffix(settings, "}\n") + "\t\"later\": true,\n}\n"
	h.write(".claude/settings.json", settings)
	h.uninstall(only(harness.ClaudeCode), Removed)
	got := h.read(".claude/settings.json")
	if strings.Contains(got, "tt hook") || !strings.Contains(got, mine) || !strings.Contains(got, `"later": true`) || !isJSON(got) {
		t.Errorf("left:\n%s", got)
	}
}

func TestOlderGuardsAreRenewed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	old := `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "tt hook stop --harness claude-code"}]}, {"hooks": [{"type": "command", "command": "beep"}]}]}}`
	h.write(".claude/settings.json", old)
	h.install(only(harness.ClaudeCode), Added)
	got := h.read(".claude/settings.json")
	if strings.Count(got, "tt hook stop") != 1 || !strings.Contains(got, "command -v tt") || !strings.Contains(got, "beep") {
		t.Errorf("%s", got)
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.mkdir(".grok")
	if ids, err := h.Select(nil, true, false); err != nil || len(ids) != 1 || ids[0] != harness.Grok {
		t.Errorf("%v %v", ids, err)
	}
	if ids, err := h.Select(nil, true, true); err != nil || len(ids) != len(harness.IDs()) {
		t.Errorf("%v %v", ids, err)
	}
	if ids, err := h.Select([]string{"claude", "claude-code", "agy"}, false, false); err != nil || len(ids) != 2 || ids[1] != harness.Antigravity {
		t.Errorf("%v %v", ids, err)
	}
	for _, c := range []struct {
		names []string
		all   bool
	}{{nil, false}, {[]string{"grok"}, true}, {[]string{"vim"}, false}} {
		if _, err := h.Select(c.names, c.all, false); code.Of(err) != code.Usage {
			t.Errorf("%v: %v", c, err)
		}
	}
}

const (
	oldOpenCode = `{"mcp": {"talking-stick": {"type": "local", "command": ["tt", "mcp"], "enabled": true}}}`
	oldCodex    = "model = \"gpt-5\"\n\n[mcp_servers.talking-stick]\ncommand = \"tt\"\nargs = [\"mcp\"]\n"
)

// old registers the server of older versions in Claude Code and Codex.
func (h *home) old() {
	h.write(".claude.json", `{"mcpServers": {"talking-stick": {"type": "stdio", "command": "tt", "args": ["mcp"], "env": {}}}}`)
	h.write(".codex/config.toml", oldCodex)
}

func TestOldRegistrationsAreRemoved(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	h.old()
	h.write(".config/opencode/opencode.json", oldOpenCode)
	h.install(only(harness.IDs()...))
	for _, file := range []string{".config/opencode/opencode.json", ".claude.json", ".codex/config.toml"} {
		if got := h.read(file); strings.Contains(got, Name) || !strings.Contains(got, "agent-bus") {
			t.Errorf("%s: %s", file, got)
		}
	}
	log, err := os.ReadFile(filepath.Join(h.DataDir, "update-migrations.log"))
	if err != nil || strings.Count(string(log), `"reason":"install"`) != 3 || strings.Count(string(log), `"status":"removed"`) != 3 {
		t.Errorf("%v %s", err, log)
	}
	h.old()
	h.vars["TALKING_STICK_DISABLE_MCP_MIGRATION"] = "1"
	if h.uninstall(only(harness.ClaudeCode)); !strings.Contains(h.read(".claude.json"), Name) {
		t.Error("removed, although the user does not allow it")
	}
}

// A registration goes only as it was written, and what is around it stays.
func TestWhatCountsAsAnOldRegistration(t *testing.T) {
	t.Parallel()
	const openCode = "{\n  // mine\n  \"mcp\": {\n    \"other\": {\"command\": [\"x\"]},\n    \"talking-stick\": %s, // old\n  },\n}\n"
	const claude, codex = `{"mcpServers": {"talking-stick": %s}}`, "[mcp_servers.talking-stick]\n%s\n"
	tests := []struct {
		file, text, entry string
		status            Status
	}{
		{".config/opencode/opencode.json", openCode, "{\n      \"enabled\": true,\n      \"type\": \"local\",\n      \"command\": [\"tt\", \"mcp\"]\n    }", Removed},
		{".config/opencode/opencode.json", openCode, `{"type": "local", "command": ["tt", "mcp"], "enabled": true, "environment": {}}`, Skipped},
		{".config/opencode/opencode.json", openCode, `{"type": "local", "command": ["tt", "mcp"], "enabled": false}`, Skipped},
		{".config/opencode/opencode.jsonc", openCode, `{"type": "local", "command": ["/opt/tt", "mcp"], "enabled": true}`, Skipped},
		{".config/opencode/opencode.jsonc", openCode, `{`, Failed},
		{".claude.json", claude, `{"command": "tt", "args": ["mcp"]}`, Removed},
		{".claude.json", claude, `{"type": "stdio", "command": "tt", "args": ["mcp"]}`, Removed},
		{".claude.json", claude, `{"command": "mine"}`, Skipped},
		{".codex/config.toml", codex, `command = "tt"
args = ["mcp"]`, Removed},
		{".codex/config.toml", codex, `command = "mine"`, Skipped},
		{".codex/config.toml", codex, `command = `, Failed},
		{".gemini/settings.json", `{"a": "talking-stick"}%s`, "", AlreadyAbsent},
	}
	for _, tt := range tests {
		h := newHome(t)
		h.write(tt.file, fmt.Sprintf(tt.text, tt.entry))
		all, err := h.Migrate("manual", harness.IDs()...)
		if err != nil {
			t.Fatal(err)
		}
		worst := AlreadyAbsent
		for _, m := range all {
			if m.Status != AlreadyAbsent {
				worst = m.Status
			}
		}
		got := h.read(tt.file)
		if worst != tt.status || strings.Contains(got, tt.entry) != (worst != Removed) || !strings.Contains(tt.text, "mine") != !strings.Contains(got, "// mine") {
			t.Errorf("%s with %s: %s\n%s", tt.file, tt.entry, worst, got)
		}
	}
}
