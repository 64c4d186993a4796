package skills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/talking-stick/tt/identity/harness"
)

const (
	plainServer = `"agent-bus": {"command": "agent-bus", "args": []}`
	codexServer = "[mcp_servers.agent-bus]\ncommand = \"agent-bus\"\nenv_vars = [\"TALKING_STICK_DATA_DIR\", \"AGENT_BUS_DATA_DIR\", \"XDG_DATA_HOME\"]\n"
)

// withBus returns a home with agent-bus on the PATH and one file.
func withBus(t *testing.T, path, content string) *home {
	h := newHome(t)
	h.programs["agent-bus"] = true
	for _, dir := range []string{".claude", ".codex", ".grok", ".gemini/config", ".config/opencode"} {
		h.mkdir(dir)
	}
	if content != "-" {
		h.write(path, content)
	}
	return h
}

// busOnly selects the registration beside the skill, without guards.
func busOnly(id harness.ID) Options {
	opts := only(id)
	opts.NoHooks = true
	return opts
}

// The registration is put where the harness looks for it, and what was there before
// stays to the byte.
func TestRegistration(t *testing.T) {
	t.Parallel()
	const openCode = `{"type": "local", "command": ["agent-bus"], "enabled": true, "timeout": 60000}`
	tests := []struct {
		name         string
		id           harness.ID
		path         string
		before, want string // - for no file; white space of want does not matter
	}{
		{"claude without a file", harness.ClaudeCode, ".claude.json", "-", `{"mcpServers": {` + plainServer + `}}`},
		{"claude with others", harness.ClaudeCode, ".claude.json", claudeState, strings.Replace(claudeState, "    }\n  },", "    },\n"+plainServer+"},", 1)},
		{"claude as it was once", harness.ClaudeCode, ".claude/.config.json", "{\n  \"a\": 1\n}\n", `{"a": 1, "mcpServers": {` + plainServer + `}}`},
		{"codex without a file", harness.Codex, ".codex/config.toml", "-", codexServer},
		{"codex with others", harness.Codex, ".codex/config.toml", codexConfig, codexConfig + "\n\n" + codexServer},
		{"codex with DOS line ends", harness.Codex, ".codex/config.toml", "model = \"x\"\r\n", "model = \"x\"\r\n" + codexServer},
		{"grok", harness.Grok, ".grok/config.toml", "[ui]\na = 1\n", "[ui]\na = 1\n\n[mcp_servers.agent-bus]\ncommand = \"agent-bus\"\n"},
		{"gemini", harness.Gemini, ".gemini/settings.json", geminiSettings, strings.Replace(geminiSettings, "\r\n}\r\n", `, "mcpServers": {`+plainServer+`}}`, 1)},
		{"antigravity", harness.Antigravity, ".gemini/config/mcp_config.json", `{"mcpServers": {}}`, `{"mcpServers": {` + plainServer + `}}`},
		{"antigravity with an empty file", harness.Antigravity, ".gemini/config/mcp_config.json", "", `{"mcpServers": {` + plainServer + `}}`},
		{"opencode without a file", harness.OpenCode, ".config/opencode/opencode.json", "-", `{"mcp": {"agent-bus": ` + openCode + `}}`},
		{"opencode with comments", harness.OpenCode, ".config/opencode/opencode.jsonc", "{\n  // mine\n  \"mcp\": {\"docs\": {}},\n}\n", "{\n  // mine\n  \"mcp\": {\"docs\": {}, \"agent-bus\": " + openCode + "},\n}\n"},
		{"opencode 2", harness.OpenCode, ".config/opencode/opencode.json", `{"mcp": {"servers": {}}}`, `{"mcp": {"servers": {"agent-bus": ` + openCode + `}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := withBus(t, tt.path, tt.before)
			before := h.everything()
			r := h.install(busOnly(tt.id), Added)[0]
			if got := h.read(tt.path); squeezed(got) != squeezed(tt.want) {
				t.Errorf("%s\n%s\nwant\n%s", r.Message, got, tt.want)
			}
			installed := h.everything()
			h.install(busOnly(tt.id), AlreadyPresent)
			if h.everything() != installed {
				t.Error("a second installation changed something")
			}
			h.uninstall(busOnly(tt.id), Removed)
			if got := h.everything(); got != before {
				t.Errorf("left:\n%s\nwas:\n%s", got, before)
			}
		})
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

// What others have written since, and the harness itself, stays.
func TestUnregisterAfterOthersEdited(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		id       harness.ID
		path     string
		before   string
		now      func(string) string
		status   Status
		expected string
	}{
		{
			"a server behind", harness.ClaudeCode, ".claude.json", claudeState,
			func(s string) string { return strings.Replace(s, `"numStartups": 12`, `"numStartups": 13`, 1) }, Removed,
			strings.Replace(claudeState, "12", "13", 1),
		},
		{
			"the harness used a file of ours", harness.ClaudeCode, ".claude.json", "-",
			func(s string) string { return strings.Replace(s, "{\n", "{\n  \"userID\": \"u\",\n", 1) }, Removed,
			"{\n  \"userID\": \"u\"\n}\n",
		},
		{
			"a table behind", harness.Codex, ".codex/config.toml", "model = \"x\"\n",
			func(s string) string { return s + "\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n" }, Removed,
			"model = \"x\"\n\n\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n",
		},
		{
			"edited", harness.Codex, ".codex/config.toml", "-",
			func(s string) string { return s + "enabled = false\n" }, Skipped, codexServer + "enabled = false\n",
		},
		{
			"edited in JSON", harness.Gemini, ".gemini/settings.json", "-",
			func(s string) string { return strings.Replace(s, `"args": []`, `"trust": true`, 1) }, Skipped,
			"{\n  \"mcpServers\": {\n    \"agent-bus\": {\n      \"command\": \"agent-bus\",\n      \"trust\": true\n    }\n  }\n}\n",
		},
		{"gone", harness.Gemini, ".gemini/settings.json", "{}", func(string) string { return `{"a": 1}` }, Removed, `{"a": 1}`},
		{"broken", harness.Gemini, ".gemini/settings.json", "{}", func(string) string { return `{"a": ` }, Failed, `{"a": `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := withBus(t, tt.path, tt.before)
			h.install(busOnly(tt.id), Added)
			h.write(tt.path, tt.now(h.read(tt.path)))
			r := h.uninstall(busOnly(tt.id), tt.status)[0]
			if got := h.read(tt.path); got != tt.expected {
				t.Errorf("%s\n%s\nwant\n%s", r.Message, got, tt.expected)
			}
		})
	}
}

// A registration that the user has made is neither changed nor removed.
func TestForeignRegistration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		id      harness.ID
		path    string
		content string
	}{
		{"another", harness.ClaudeCode, ".claude.json", `{"mcpServers": {"agent-bus": {"command": "/opt/agent-bus", "args": ["-v"]}}}`},
		{"the same", harness.ClaudeCode, ".claude.json", `{"mcpServers": {` + plainServer + `}}`},
		{"another table", harness.Codex, ".codex/config.toml", "[mcp_servers.agent-bus]\ncommand = \"x\"\n"},
		{"a quoted name", harness.Codex, ".codex/config.toml", "[ mcp_servers . \"agent-bus\" ] # mine\ncommand = \"x\"\n"},
		{"inline", harness.Codex, ".codex/config.toml", "[mcp_servers]\nagent-bus = {command = \"x\"}\n"},
		{"dotted", harness.Codex, ".codex/config.toml", "mcp_servers.agent-bus.command = \"x\"\n"},
		{"no tables", harness.Codex, ".codex/config.toml", "mcp_servers = {docs = {command = \"x\"}}\n"},
		{"behind quotes in a text", harness.Codex, ".codex/config.toml", "title = \"it's ''' here\"\n\n[mcp_servers.agent-bus]\ncommand = \"x\"\n"},
		{"behind quotes in a comment", harness.Codex, ".codex/config.toml", "# instructions = \"\"\" long ones go here\n[mcp_servers.agent-bus]\ncommand = \"x\"\n"},
		{"in parts", harness.Codex, ".codex/config.toml", "[mcp_servers.agent-bus]\ncommand = \"x\"\n[a]\n[mcp_servers.agent-bus.env]\nA = \"b\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := withBus(t, tt.path, tt.content)
			h.install(busOnly(tt.id), Added)
			h.uninstall(busOnly(tt.id))
			h.uninstall(busOnly(tt.id))
			if got := h.read(tt.path); got != tt.content {
				t.Errorf("%s", got)
			}
		})
	}
}

// Without a record nobody knows who has registered it, so --replace is asked for.
func TestUnregisterWithoutARecord(t *testing.T) {
	t.Parallel()
	h := withBus(t, "", "-")
	h.install(busOnly(harness.Codex), Added)
	if err := os.Remove(h.recordPath()); err != nil {
		t.Fatal(err)
	}
	r := h.uninstall(busOnly(harness.Codex), Skipped)[0]
	if h.read(".codex/config.toml") != codexServer || !strings.Contains(r.Message, "--replace") {
		t.Error(r.Message)
	}
	opts := busOnly(harness.Codex)
	opts.Replace = true
	h.uninstall(opts, Removed)
	if strings.Contains(h.read(".codex/config.toml"), "agent-bus") {
		t.Error("it is left")
	}
}

func TestReplaceRegistration(t *testing.T) {
	t.Parallel()
	for path, id := range map[string]harness.ID{".claude.json": harness.ClaudeCode, ".codex/config.toml": harness.Codex} {
		before := map[string]string{
			".claude.json":       `{"mcpServers": {"agent-bus": {"command": "old"}}}`,
			".codex/config.toml": "a = 1\n\n[mcp_servers.agent-bus]\ncommand = \"old\"\n[mcp_servers.agent-bus.env]\nA = \"b\"\n",
		}[path]
		h := withBus(t, path, before)
		opts := busOnly(id)
		opts.Replace = true
		h.install(opts, Added)
		if got := h.read(path); strings.Contains(got, "old") || !strings.Contains(got, "agent-bus") {
			t.Errorf("%s", got)
		}
		h.uninstall(busOnly(id), Removed)
		if got := h.read(path); strings.Contains(got, "agent-bus") {
			t.Errorf("left %s", got)
		}
	}
}

// The program is named where the PATH has it, and given as a path where it is only beside
// tt. Where it is not installed the rest is.
func TestServerProgram(t *testing.T) {
	t.Parallel()
	beside := filepath.FromSlash("/opt/tt/bin/agent-bus")
	for program, want := range map[string]string{"agent-bus": `"agent-bus"`, beside: `"` + beside + `"`, "": ""} {
		h := withBus(t, "", "-")
		h.Program = filepath.FromSlash("/opt/tt/bin/tt")
		h.programs = map[string]bool{"tt": true, program: true}
		r := h.install(only(harness.Gemini), Added)[0]
		got := h.read(".gemini/settings.json")
		if want == "" {
			if strings.Contains(got, "mcpServers") || !strings.Contains(r.Message, "agent-bus not registered: the program is neither") {
				t.Errorf("%s\n%s", r.Message, got)
			}
		} else if !strings.Contains(strings.ReplaceAll(got, `\\`, `\`), `"command": `+want) {
			t.Errorf("%s: %s", program, got)
		}
	}
}

// A new version registers its own command, and only where the last one is still there.
func TestRegistrationFollowsTheProgram(t *testing.T) {
	t.Parallel()
	h := withBus(t, "", "-")
	h.Program = filepath.FromSlash("/opt/tt")
	h.install(busOnly(harness.Codex), Added)
	h.programs = map[string]bool{"tt": true, filepath.FromSlash("/opt/agent-bus"): true}
	h.install(busOnly(harness.Codex), Updated)
	if got := h.read(".codex/config.toml"); strings.Count(got, "agent-bus]") != 1 || !strings.Contains(got, "opt") {
		t.Errorf("%s", got)
	}
	h.uninstall(busOnly(harness.Codex), Removed)
	if h.exists(".codex/config.toml") {
		t.Error("the file is left")
	}
}

func TestNoBus(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	opts := only(harness.IDs()...)
	opts.NoBus = true
	h.install(opts)
	if strings.Contains(h.everything(), "[mcp_servers.agent-bus]") || h.read(".claude.json") != claudeState {
		t.Error("agent-bus is registered")
	}
	h.install(only(harness.IDs()...))
	h.uninstall(opts)
	if got := h.read(".gemini/settings.json"); strings.Contains(got, "tt hook") || !strings.Contains(got, "agent-bus") {
		t.Errorf("%s", got)
	}
	h.uninstall(only(harness.IDs()...))
	if strings.Contains(h.everything(), "[mcp_servers.agent-bus]") {
		t.Error("agent-bus is left")
	}
}

// Claude's file has secrets, and no copy of it is kept.
func TestNoCopyOfSecrets(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	h.install(only(harness.ClaudeCode), Added)
	h.write(".claude.json", strings.Replace(h.read(".claude.json"), "12", "13", 1))
	h.uninstall(only(harness.ClaudeCode), Removed)
	_ = filepath.WalkDir(h.DataDir, func(path string, entry os.DirEntry, err error) error {
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), "c2VjcmV0") || strings.Contains(string(data), "secret") {
			t.Errorf("%s contains it", path)
		}
		return err
	})
	fresh := withBus(t, "", "-")
	fresh.install(busOnly(harness.ClaudeCode), Added)
	if info, err := os.Stat(fresh.path(".claude.json")); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestRegistrationBelowConfigDir(t *testing.T) {
	t.Parallel()
	h := withBus(t, "c/.claude.json", "{}")
	h.vars["CLAUDE_CONFIG_DIR"] = h.path("c")
	h.install(busOnly(harness.ClaudeCode), Added)
	if !strings.Contains(h.read("c/.claude.json"), "agent-bus") || h.exists(".claude.json") {
		t.Error("registered elsewhere")
	}
}

// Removing the registration of an older version leaves that of agent-bus.
func TestMigrationLeavesAgentBus(t *testing.T) {
	t.Parallel()
	h := withBus(t, ".config/opencode/opencode.json", `{"mcp": {"talking-stick": {"type": "local", "command": ["tt", "mcp"], "enabled": true}}}`)
	for range 2 {
		h.install(busOnly(harness.OpenCode))
		got := h.read(".config/opencode/opencode.json")
		if strings.Contains(got, "talking-stick") || !strings.Contains(got, `"agent-bus"`) {
			t.Errorf("%s", got)
		}
		if _, err := h.Migrate("manual", harness.IDs()...); err != nil || h.read(".config/opencode/opencode.json") != got {
			t.Errorf("%v\n%s", err, h.read(".config/opencode/opencode.json"))
		}
	}
}

// An unusable file is a failure that says what to do, and stays.
func TestUnusableServersFile(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"{ broken", `[]`, `{"mcpServers": []}`, `{"mcpServers": 1}`} {
		h := withBus(t, ".claude.json", content)
		r := h.install(busOnly(harness.ClaudeCode), Failed)[0]
		if h.read(".claude.json") != content || !strings.Contains(r.Message, "--no-bus") {
			t.Errorf("%q: %s", content, r.Message)
		}
		if !h.exists(".claude/skills/talking-stick/SKILL.md") {
			t.Error("the skill is missing, too")
		}
	}
}

// Whatever stands in a TOML file, the entry is added behind it, is found again, and its
// removal leaves what was there, whether or not something was added behind it.
func TestTOMLEntryGoesAsItCame(t *testing.T) {
	t.Parallel()
	s := serverPart(harness.Codex, "config.toml", serverName, "agent-bus")
	lines := rapid.SampledFrom([]string{
		"", "# agent-bus", "model = \"x\"", "[mcp_servers.docs]", "command = \"agent-bus\"", "[[hooks.Stop]]", "[projects.\"/w/agent-bus\"]",
		"notes = \"\"\"", "[mcp_servers.agent-bus] in a text", "\"\"\"", "a = '''x'''", "b = [\n  \"[c]\",\n]", "[mcp_servers.agent-bus-2]",
	})
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		drawn := rapid.SliceOfN(lines, 0, 12).Draw(t, "lines")
		if strings.Count(strings.Join(drawn, " "), `"""`)%2 == 1 { // a string must end
			drawn = append(drawn, `"""`)
		}
		before := strings.Join(drawn, eol)
		if before != "" {
			before += eol
		}
		if f, err := s.find([]byte(before)); len(f.digests) > 0 || err != nil {
			t.Skip("the line that looks like it is not in a string")
		}
		after, err := s.add([]byte(before))
		if err != nil || !strings.HasPrefix(string(after), before) {
			t.Fatalf("%v\n%q", err, after)
		}
		behind := rapid.SampledFrom([]string{"", eol + "[z]" + eol, "# end" + eol}).Draw(t, "behind")
		after = append(after, behind...)
		if f, err := s.find(after); err != nil || !f.exact {
			t.Fatalf("%v: not found in\n%q", err, after)
		}
		left, err := s.remove(after, nil)
		if err != nil || squeezed(string(left)) != squeezed(before+behind) || behind == "" && string(left) != before {
			t.Fatalf("%v\n%q\nwas\n%q", err, left, before)
		}
	})
}

// TestServerTOML: what is no TOML is left alone, and whatever the path of the program is, what
// is written is TOML, found again, and taken out again.
func TestServerTOML(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"a = [", "[a]\n[a]\n", "a = 1\na = 2\n", "[[a]]\nb = 1\nb = 2\n", "[[a]]\n[a]\n", "[mcp_servers.agent-bus\n"} {
		s := serverPart(harness.Codex, "config.toml", serverName, "x")
		if _, err := s.find([]byte(broken)); err == nil {
			t.Errorf("found something in %q", broken)
		}
		if _, err := s.add([]byte(broken)); err == nil {
			t.Errorf("added to %q", broken)
		}
	}
	if _, err := expressions("[a.b]\n[a]\nc = 1\n[[d]]\ne = 1\n[d.f]\n[[d]]\ne = 1\n[d.f]\n"); err != nil {
		t.Error(err)
	}
	for _, command := range []string{"agent-bus", `C:\bin\agent "bus"`, "a\x7fb\x01\tc", "/opt/bü/a'''b", `"""`} {
		const before = "a = 'x' # \"\"\"\n[[b]]\nc = \"\"\"\n# [mcp_servers.agent-bus]\n\"\"\"\n"
		s := serverPart(harness.Codex, "config.toml", serverName, command)
		with, err := s.add([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			Servers map[string]struct{ Command string } `toml:"mcp_servers"`
		}
		if err := toml.Unmarshal(with, &read); err != nil || read.Servers["agent-bus"].Command != command {
			t.Errorf("%q: %+v, %v", command, read, err)
		}
		if f, err := s.find(with); err != nil || !f.exact {
			t.Errorf("%q is not found: %v", command, err)
		}
		if without, err := s.remove(append(with, "\n# mine\n[z]\n"...), nil); err != nil || string(without) != before+"\n\n# mine\n[z]\n" {
			t.Errorf("%q, %v", without, err)
		}
	}
}
