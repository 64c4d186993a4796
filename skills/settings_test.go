package skills

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/identity/harness"
)

const claudeFile = ".claude/settings.json"

// In a file that was edited after the installation, everything of others stays,
// comments included. White space where our entries were may differ.
func TestUninstallAfterOthersEdited(t *testing.T) {
	t.Parallel()
	const mine = `{"hooks": [{"type": "command", "command": "mine.sh"}]}`
	tests := []struct {
		name, before string
		edit         func(string) string
		want         string
	}{
		{"a key behind", "{\n  \"a\": 1\n}\n", func(s string) string { return strings.TrimSuffix(s, "\n}\n") + ",\n  \"b\": 2\n}\n" }, "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
		{"an element before ours", "{\n  \"a\": 1\n}\n", func(s string) string { return strings.Replace(s, "\"Stop\": [", "\"Stop\": ["+mine+", ", 1) },
			"{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": [" + mine + "\n    ]\n  }\n}\n"},
		{"a comment", "{\n  \"a\": 1\n}\n", func(s string) string { return strings.Replace(s, "\"Stop\": [", "\"Stop\": [ // mine", 1) },
			"{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": [ // mine\n    ]\n  }\n}\n"},
		{"an empty object of their own stays", "{\n  \"hooks\": {}\n}\n", func(s string) string { return s + "\n" }, "{\n  \"hooks\": {}\n}\n\n"},
		{"our stop guard was taken out", "{}", func(s string) string { return strings.Replace(s, "tt hook stop", "true #", 1) }, ""},
		{"all else went, in a file that was not there", "-", func(s string) string { return s + " \n" }, "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			h.mkdir(".claude")
			if tt.before != "-" {
				h.write(claudeFile, tt.before)
			}
			h.install(only(harness.ClaudeCode), Added)
			h.write(claudeFile, tt.edit(h.read(claudeFile)))
			h.uninstall(only(harness.ClaudeCode), Removed)
			if tt.want == "-" {
				if h.exists(claudeFile) {
					t.Errorf("left %q", h.read(claudeFile))
				}
				return
			}
			got := h.read(claudeFile)
			if !isJSON(got) || strings.Contains(got, "tt hook") || tt.want != "" && got != tt.want {
				t.Errorf("left\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// A file of hooks that was not there begins with the version, and goes with the last of ours unless
// somebody else has a hook in it.
func TestUninstallFlatHooks(t *testing.T) {
	t.Parallel()
	const file, mine = ".cursor/hooks.json", `{"command": "./mine.sh"}`
	for name, test := range map[string]struct {
		before, old, new, want string // "-": no file
	}{
		"as it was written":           {"-", "", "", "-"},
		"laid out anew":               {"-", "  ", " ", "-"},
		"an empty one":                {"{}\n", "", "", "{}\n"},
		"a version alone":             {"{\"version\": 1}", "}\n}", "}\n}\n", "{\"version\": 1}"},
		"with a hook of somebody":     {"-", `"stop": [`, `"stop": [` + mine + `, `, `{"version":1,"hooks":{"stop":[` + mine + `]}}`},
		"a hook of somebody, changed": {`{"version":1,"hooks":{"stop":[` + mine + `]}}`, "mine.sh", "yours.sh", `{"version":1,"hooks":{"stop":[{"command": "./yours.sh"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.mkdir(".cursor")
			if test.before != "-" {
				h.write(file, test.before)
			}
			h.install(only(harness.Cursor), Added)
			text := h.read(file)
			if !strings.Contains(text, `"version"`) || strings.Contains(text, `"hooks": [`) || strings.Count(text, "tt hook ") != 7 {
				t.Errorf("installed\n%s", text)
			}
			h.write(file, strings.ReplaceAll(text, test.old, test.new))
			h.install(only(harness.Cursor), AlreadyPresent)
			h.uninstall(only(harness.Cursor), Removed)
			switch {
			case test.want == "-" && h.exists(file):
				t.Errorf("left %q", h.read(file))
			case test.want != "-" && digestJSON([]byte(h.read(file))) != digestJSON([]byte(test.want)):
				t.Errorf("left\n%s", h.read(file))
			}
		})
	}
}

// A guard that a later version writes differently takes the place of the old one,
// and the first original is still what uninstalling restores.
func TestUpdatedGuardsStillRestoreTheOriginal(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	before := h.everything()
	h.install(only(harness.ClaudeCode), Added)
	// As an older version would have left it: file and record agree.
	old := strings.ReplaceAll(h.read(claudeFile), `"timeout": 10`, `"timeout": 11`)
	h.write(claudeFile, old)
	h.changeForeign(harness.ClaudeCode, claudeFile, func(m *foreignFile) { m.Written = digestOf(old) })
	h.outdate()
	if changed := h.Sync(context.Background()); len(changed) != 1 {
		t.Errorf("%+v", changed)
	}
	if strings.Contains(h.read(claudeFile), `"timeout": 11`) {
		t.Error("not renewed")
	}
	h.uninstall(only(harness.ClaudeCode), Removed)
	if h.everything() != before {
		t.Errorf("left\n%s", h.everything())
	}
}

// An entry of ours that the user has changed stays as it is without --replace, but
// goes with the others when the guards are taken out.
func TestAnEditedGuardIsKept(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	before := h.everything()
	h.install(only(harness.ClaudeCode), Added)
	mine := strings.Replace(h.read(claudeFile), "Edit|MultiEdit|Write|NotebookEdit", "Edit|MyTool", 1)
	h.write(claudeFile, mine)
	h.outdate()
	h.Sync(context.Background())
	r := h.install(only(harness.ClaudeCode), Skipped)[0]
	if h.read(claudeFile) != mine || !strings.Contains(r.Message, "--replace") {
		t.Errorf("%s\n%s", r.Message, h.read(claudeFile))
	}
	// The other guard is put back beside it.
	h.write(claudeFile, strings.Replace(mine, "tt hook stop", "true", 1))
	h.install(only(harness.ClaudeCode), Added)
	if got := h.read(claudeFile); !strings.Contains(got, "tt hook stop") || !strings.Contains(got, "Edit|MyTool") {
		t.Errorf("%s", got)
	}
	h.write(claudeFile, mine)
	h.install(replacing(only(harness.ClaudeCode)), Updated)
	if strings.Contains(h.read(claudeFile), "MyTool") {
		t.Error("not replaced")
	}
	h.write(claudeFile, mine)
	h.uninstall(only(harness.ClaudeCode), Removed)
	if strings.Join(strings.Fields(h.everything()), "") != strings.Join(strings.Fields(before), "") {
		t.Errorf("left\n%s", h.everything())
	}
}

// A guard that was left alone goes as well when the guards are taken out, though it
// was there when the file was last written.
func TestUninstallTakesTheEditedGuard(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(claudeFile, "{}\n")
	h.install(only(harness.ClaudeCode), Added)
	mine := strings.Replace(h.read(claudeFile), "Edit|MultiEdit|Write|NotebookEdit", "Edit|MyTool", 1)
	h.write(claudeFile, strings.Replace(mine, "tt hook stop", "true", 1))
	h.install(only(harness.ClaudeCode), Added)
	h.uninstall(only(harness.ClaudeCode), Removed)
	if got := h.read(claudeFile); strings.Contains(got, "tt hook") || !isJSON(got) {
		t.Errorf("left\n%s", got)
	}
}

// What was installed without the record of it, as after a lost data directory, goes
// all the same.
func TestUninstallWithoutARecord(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	delete(h.programs, "agent-bus")
	h.install(only(harness.ClaudeCode, harness.Antigravity, harness.Gemini), Added, Added, Added)
	if err := os.Remove(h.recordPath()); err != nil {
		t.Fatal(err)
	}
	h.uninstall(only(harness.ClaudeCode, harness.Antigravity, harness.Gemini), Removed, Removed, Removed)
	for file, want := range map[string]string{claudeFile: claudeSettings, ".gemini/settings.json": geminiSettings, ".gemini/config/hooks.json": antigravityHooks} {
		if got := h.read(file); strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
			t.Errorf("%s:\n%s", file, got)
		}
	}
}

func TestWhatPeopleAreToldOfTheirSettings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		settings string
		want     Status
		says     []string
	}{
		{`{"disableAllHooks": true}`, Added, []string{"disableAllHooks"}},
		{`{"hooks": [}`, Failed, []string{"line 1, column", "--no-hooks"}},
		{`[]`, Failed, []string{"an object was expected"}},
		{`{"hooks": {"Stop": 1}}`, Failed, []string{`"hooks.Stop"`, "--no-hooks"}},
	}
	for _, tt := range tests {
		h := newHome(t)
		h.write(claudeFile, tt.settings)
		r := h.install(only(harness.ClaudeCode), tt.want)[0]
		for _, word := range tt.says {
			if !strings.Contains(r.Message, word) {
				t.Errorf("%s: %s", word, r.Message)
			}
		}
		if strings.Contains(r.Message, "hujson") {
			t.Errorf("names a library: %s", r.Message)
		}
		if tt.want == Failed && h.read(claudeFile) != tt.settings {
			t.Errorf("now %s", h.read(claudeFile))
		}
	}
	h := newHome(t)
	h.mkdir(".claude")
	if err := os.Symlink("nowhere", h.path(claudeFile)); err == nil {
		if r := h.install(only(harness.ClaudeCode), Failed)[0]; !strings.Contains(r.Message, "leads nowhere") || !strings.Contains(r.Message, "skill added") {
			t.Errorf("%+v", r)
		}
		h.uninstall(only(harness.ClaudeCode), Removed)
	}
	h.mkdir(".codex")
	if r := h.install(only(harness.Codex), Added)[0]; !strings.Contains(r.Message, "writable_roots") || !strings.Contains(r.Message, h.DataDir) {
		t.Errorf("nothing about the sandbox: %s", r.Message)
	}
	h.write(".codex/config.toml", "[sandbox_workspace_write]\nwritable_roots = [\""+h.DataDir+"\"]\n")
	if r := h.install(only(harness.Codex), AlreadyPresent)[0]; strings.Contains(r.Message, "writable_roots") {
		t.Errorf("what is so already is asked for: %s", r.Message)
	}
}

func TestOldRegistrationsGoOnceForEachVersion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.mkdir(".claude")
	h.old()
	claude := h.read(".claude.json")
	if h.Sync(context.Background()); h.read(".claude.json") != claude || isDir(h.DataDir) {
		t.Fatal("somebody who never had Talking Stick has nothing to clean")
	}
	if err := os.MkdirAll(h.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.vars["TALKING_STICK_DISABLE_MCP_MIGRATION"] = "1"
	if h.Sync(context.Background()); h.read(".claude.json") != claude {
		t.Fatal("switched off, and yet removed")
	}
	delete(h.vars, "TALKING_STICK_DISABLE_MCP_MIGRATION")
	for _, again := range []bool{false, true} {
		if h.Sync(context.Background()); strings.Contains(h.read(".claude.json"), Name) != again || strings.Contains(h.read(".codex/config.toml"), Name) {
			t.Fatalf("again %v: %s", again, h.read(".claude.json"))
		}
		h.write(".claude.json", claude)
	}
	h.Version = "2.0.0"
	if h.Sync(context.Background()); strings.Contains(h.read(".claude.json"), Name) {
		t.Error("not looked for by another version")
	}
	log, err := os.ReadFile(filepath.Join(h.DataDir, "update-migrations.log"))
	if err != nil || strings.Count(string(log), `"reason":"first-run"`) != 4 {
		t.Errorf("%v\n%s", err, log)
	}
}

// What becomes of an old registration is part of the plan and of the result.
func TestOldRegistrationsAreSpokenOf(t *testing.T) {
	t.Parallel()
	const config, canonical = ".config/opencode/opencode.json", oldOpenCode
	h := newHome(t)
	h.write(config, canonical)
	opts := only(harness.OpenCode)
	opts.DryRun = true
	if steps := h.install(opts)[0].Steps; len(steps) < 2 || steps[0].Action != Unmerge || steps[0].Path != h.path(config) || !strings.Contains(steps[0].Text, "talking-stick") {
		t.Errorf("%+v", steps)
	}
	if h.read(config) != canonical {
		t.Error("a plan changed something")
	}
	if r := h.uninstall(only(harness.OpenCode), Removed)[0]; !strings.Contains(r.Message, "registration") || h.read(config) != `{"mcp": {}}` ||
		r.Steps[0].Text != "" {
		t.Errorf("%+v", r)
	}
	h.write(config, strings.Replace(canonical, "true", "false", 1))
	if r := h.install(only(harness.OpenCode), Added)[0]; !strings.Contains(r.Message, "stays") {
		t.Errorf("%+v", r)
	}
	h.mkdir(".claude")
	h.write(".claude.json", `{"mcpServers": {"talking-stick": `)
	opts = only(harness.ClaudeCode)
	opts.NoBus = true
	if r := h.install(opts, Added)[0]; !strings.Contains(r.Message, "could not be removed") {
		t.Errorf("%+v", r)
	}
}

// Killed after one harness and before the next, an installation has recorded what
// the first file contained.
func TestAKilledInstallationCanBeTakenOut(t *testing.T) {
	t.Parallel()
	const odd = "{ }\n"
	h := newHome(t)
	h.write(claudeFile, odd)
	h.write(".gemini/settings.json", odd)
	before := h.everything()
	now, calls := h.Now, 0
	h.Now = func() time.Time { // a backup is about to be made
		if calls++; calls > 1 {
			panic("killed")
		}
		return now()
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Fatal("not killed")
			}
		}()
		h.install(only(harness.ClaudeCode, harness.Gemini))
	}()
	h.Now = now
	if !strings.Contains(h.read(claudeFile), "tt hook") || h.read(".gemini/settings.json") != odd {
		t.Fatalf("killed at another moment:\n%s", h.everything())
	}
	h.uninstall(only(harness.ClaudeCode, harness.Gemini), Removed, Removed)
	if got := h.everything(); got != before {
		t.Errorf("left:\n%s", got)
	}
}
