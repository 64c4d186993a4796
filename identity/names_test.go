package identity

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

// proc builds what the table shows of a process: its short name and argv.
func proc(name string, args ...string) Info { return Info{Name: name, Args: args} }

func TestHarnessOfRecognises(t *testing.T) {
	const modules = "/usr/lib/node_modules/"
	for _, c := range []struct {
		want string
		p    Info
	}{
		// By the kernel's name or the executable's.
		{"claude", proc("claude", "claude")},
		{"claude", proc("claude", "claude", "", "", "")},
		{"claude", proc("claude")},
		{"claude", proc("2.0.14", "/home/a/.local/share/claude/versions/2.0.14", "--resume")},
		{"claude", proc("x", "/home/a/my tools/claude", "-p", "hello")},
		{"claude", proc("claude", "/home/a/my tools/claude")},
		{"codex", proc("codex", "/opt/@openai/codex/vendor/x86_64/codex/codex", "exec")},
		{"gemini", proc("MainThread", "gemini")},
		{"opencode", proc("opencode", "opencode", "serve")},
		{"grok", proc("grok", "grok")},
		{"antigravity", proc("agy", "agy")},
		{"cursor", proc("MainThread", "/home/a/.local/bin/cursor-agent", "--use-system-ca", "/x/index.js")},
		{"antigravity", proc("antigravity", "antigravity")},
		// A script with a first line of its own carries its name, and is argv[1].
		{"claude", proc("claude", "/bin/sh", "/usr/local/bin/claude")},
		// Through an interpreter.
		{"claude", proc("node", "node", "/usr/local/bin/claude")},
		{"claude", proc("MainThread", "/usr/bin/node", "--max-old-space-size=4096", "--require", "/x/hook.js", modules+"@anthropic-ai/claude-code/cli.js", "-p", "x")},
		// Under another name, from a directory for each version.
		{"cursor", proc("MainThread", "/home/a/.local/bin/agent", "--use-system-ca", "/home/a/.local/share/cursor-agent/versions/2026.09.10-fd3934a/index.js", "-p", "x")},
		{"cursor", proc("node", "/home/a/.local/bin/agent", "/home/a/.local/share/cursor-agent/versions/2026.09.10/index.js")},
		{"claude", proc("nodejs", "/usr/bin/nodejs", "/usr/local/bin/claude")},
		{"claude", proc("node22", "/opt/node22", "--", "claude.mjs")},
		{"codex", proc("node", "node", modules+"@openai/codex/bin/codex.js")},
		{"gemini", proc("node", "node", "--no-warnings=DEP0040", modules+"@google/gemini-cli/dist/index.js")},
		{"gemini", proc("node", "node", "/opt/@google/gemini-cli/bundle/main.js")},
		{"opencode", proc("node", "node", modules+"opencode-ai/index.js")},
		{"opencode", proc("bun", "bun", "--cwd", "/src", "opencode.ts")},
		{"opencode", proc("bun", "/home/a/.bun/bin/bun", "opencode")},
		{"claude", proc("sh", "/bin/sh", "/opt/wrappers/claude")},
		{"claude", proc("bash", "bash", "./claude.sh", "--resume")},
	} {
		if got := agentOf(harnessOf(c.p)); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.p.Name, c.p.Args, got, c.want)
		}
	}
}

func TestHarnessOfIgnores(t *testing.T) {
	for _, p := range []Info{
		proc("vim", "vim", "claude"),
		proc("grep", "grep", "codex"),
		proc("grep", "grep", "-r", "claude", "/opt/claude"),
		proc("tail", "tail", "-f", "claude.log"),
		proc("less", "less", "/usr/local/bin/claude"),
		proc("nano", "nano", "claude.js"),
		proc("bash", "bash", "-c", "claude"),
		proc("bash", "bash", "-lc", "claude --resume"),
		proc("zsh", "zsh", "-o", "errexit", "-c", "codex exec", "codex"),
		proc("sh", "sh", "-s", "claude"),
		proc("bash", "-bash"),
		proc("bash", "bash", "-"),
		proc("node", "node", "server.js", "claude"),
		proc("node", "node", "-e", "1", "claude"),
		proc("cursor", "/usr/share/cursor/cursor", "--type=utility"),
		proc("agent", "/home/a/.local/bin/agent", "/home/a/cursor-agent/versions/1/index.js"),
		proc("node", "node", "/src/versions/index.js"),
		proc("node", "node", "--eval=1", "claude"),
		proc("node", "node", "-r", "claude", "server.js"),
		proc("node", "node", "claude.test.js"),
		proc("node", "node", "/src/claude/index.js"),
		proc("node", "node", "/x/node_modules/@google/gemini-cli/node_modules/eslint/bin/eslint.js"),
		proc("node", "node", "/src/opencode-ai/tools/lint.js"),
		proc("node", "node", "/x/node_modules/@anthropic-ai/claude-code-router/dist/cli.js"),
		proc("python3", "python3", "x.py", "codex"),
		proc("npm", "npm", "install", "@anthropic-ai/claude-code"),
		proc("npm", "npm", "run", "claude"),
		proc("npm exec eslint", "npm exec eslint src/claude"),
		proc("npx", "npx", "-p", "@openai/codex", "eslint"),
		proc("npx", "npx", "-c", "claude"),
		proc("sshd-session: c", "sshd-session: claude [priv]"),
		proc("tmux: server", "tmux", "new", "-s", "claude"),
		proc("ssh", "ssh", "host", "claude"),
		proc("claude-helper", "/opt/claude-helper"),
		proc("Claude", "/Applications/Claude.app/Contents/MacOS/Claude"),
		proc("", ""),
		proc("kworker/0:1"),
		{},
	} {
		if got := harnessOf(p); got != nil {
			t.Errorf("%s %q was taken for %q", p.Name, p.Args, got.Agent)
		}
	}
}

func TestRunsOneCommand(t *testing.T) {
	for line, want := range map[string]bool{
		"bash -c x": true, "sh -ec x": true, "/bin/zsh -l -c x": true, "bash --norc -O extglob -c x": true,
		"bash": false, "-bash": false, "bash script.sh -c": false, "node -c x": false, "bash --rcfile x": false, "": false,
	} {
		if got := runsOneCommand(strings.Fields(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func agentOf(h *harness.Harness) string {
	if h == nil {
		return ""
	}
	return h.Agent
}
