//go:build linux

package reach

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var claude = harness{
	variable: "TT_REACH_CLAUDE", id: "claude-code", version: "2.1.330", limit: 2 * time.Second, listening: "claude-watch claude-hook", // the hook until it has shown that it watches
	files: func(w *world) map[string]string {
		return map[string]string{
			".claude/settings.json": "{}",
			".claude.json": `{"hasCompletedOnboarding":true,"theme":"dark","autoUpdates":false,"numStartups":5,
 "customApiKeyResponses":{"approved":["stand-in-key"],"rejected":[]},
 "projects":{"` + w.dir + `":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true,"allowedTools":[]}}}`,
		}
	},
	env: func(w *world) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + w.model.URL, "ANTHROPIC_API_KEY=stand-in-key", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		}
	},
	args:  []string{"--permission-mode", "acceptEdits", "--allowedTools", "Bash"},
	ready: "acceptedits",
	exit:  "/exit", anew: "/clear", resume: []string{"--continue"},
	edit: `Write {"file_path":"FILE","content":"x"}`,
}

var codex = harness{
	variable: "TT_REACH_CODEX", id: "codex", version: "0.169.0", limit: time.Second, listening: "codex-queue",
	files: func(w *world) map[string]string {
		return map[string]string{".codex/config.toml": `model = "gpt-5.5"
model_provider = "standin"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.standin]
name = "stand-in"
base_url = "` + w.model.URL + `/v1"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
[projects."` + w.dir + `"]
trust_level = "trusted"
`}
	},
	env:   func(w *world) []string { return []string{"CODEX_HOME=" + w.home + "/.codex"} },
	ready: "AskCodextodoanything",
	exit:  "/exit", anew: "/clear", resume: []string{"resume", "--last"},
	second: "shared", // the server has one conversation for both
	edit:   "apply_patch *** Begin Patch\n*** Add File: FILE\n+x\n*** End Patch",
	before: func(w *world) { // hooks are approved once, and another model is offered
		for _, dialog := range []string{"Hooksneedreview", "Useexistingmodel"} {
			w.screen.await(0, time.Minute, dialog)
			time.Sleep(500 * time.Millisecond)
			w.screen.keys("2")
			time.Sleep(500 * time.Millisecond)
			w.screen.keys("\r")
		}
		time.Sleep(2 * time.Second)
	},
	after: func(w *world) { // a server that outlives the terminal
		stop := exec.Command(w.program, "app-server", "daemon", "stop")
		stop.Env = w.environ(w.h.env(w)...)
		_ = stop.Run()
	},
}

var openCode = harness{
	variable: "TT_REACH_OPENCODE", id: "opencode", version: "1.18.33", limit: 2 * time.Second, listening: "opencode",
	files: func(w *world) map[string]string {
		return map[string]string{".config/opencode/opencode.json": `{"$schema":"https://opencode.ai/config.json","autoupdate":false,"share":"disabled",
 "model":"anthropic/claude-sonnet-4-5","small_model":"anthropic/claude-sonnet-4-5",
 "provider":{"anthropic":{"options":{"baseURL":"` + w.model.URL + `/v1","apiKey":"stand-in-key"}}},"permission":{"*":"allow"}}`}
	},
	env: func(w *world) []string {
		return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_SHARE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
	},
	ready: "Askanything",
	exit:  "/exit", anew: "/new", resume: []string{"--continue"},
	edit:    `write {"filePath":"FILE","content":"x"}`,
	escapes: 2,
}

var gemini = harness{
	variable: "TT_REACH_GEMINI", id: "gemini", version: "0.61.0", limit: time.Second, listening: "hold",
	files: func(w *world) map[string]string {
		return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},
 "general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"privacy":{"usageStatisticsEnabled":false},
 "model":{"disableLoopDetection":true},"telemetry":{"enabled":false},"ui":{"hideTips":true}}`} // the stand-in says the same each time
	},
	install: []string{"--hold"},
	env: func(w *world) []string {
		return []string{"GEMINI_API_KEY=stand-in-key", "GOOGLE_GEMINI_BASE_URL=" + w.model.URL, "GEMINI_CLI_NO_RELAUNCH=1", "GEMINI_CLI_TRUST_WORKSPACE=true"}
	},
	args:  []string{"--approval-mode", "yolo", "--model", "gemini-2.5-flash"}, // without a model that chooses the model
	ready: "Typeyourmessage",
	exit:  "/quit", anew: "/clear", resume: []string{"--resume", "latest"},
	edit:  `write_file {"file_path":"FILE","content":"x"}`,
	holds: true,
}

var copilot = harness{
	variable: "TT_REACH_COPILOT", id: "copilot", version: "1.0.102", limit: 2 * time.Second, listening: "wait",
	files: func(w *world) map[string]string { return map[string]string{".copilot/config.json": "{}"} },
	env: func(w *world) []string {
		return []string{
			"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_BASE_URL=" + w.model.URL, "COPILOT_PROVIDER_API_KEY=stand-in-key",
			"COPILOT_MODEL=claude-sonnet-4.5", "COPILOT_ALLOW_ALL=true", "COPILOT_AUTO_UPDATE=false",
		}
	},
	ready: "?help",
	exit:  "/exit", anew: "/clear", resume: []string{"--continue"},
	edit:    `create {"path":"FILE","file_text":"x"}`,
	waits:   `[[tool bash {"command":"tt wait --inbox --json --timeout 5m","mode":"async","description":"wait"}]]`,
	escapes: 2, stopped: "ancelled", inUse: "Sessioninuse",
}

var qwen = harness{
	variable: "TT_REACH_QWEN", id: "qwen", version: "0.15.10",
	files: func(w *world) map[string]string {
		return map[string]string{".qwen/settings.json": `{"security":{"auth":{"selectedType":"openai"},"folderTrust":{"enabled":false}},
 "general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"model":{"name":"qwen3-coder"}}`}
	},
	env: func(w *world) []string {
		return []string{"OPENAI_API_KEY=stand-in-key", "OPENAI_BASE_URL=" + w.model.URL + "/v1", "OPENAI_MODEL=qwen3-coder", "QWEN_CODE_NO_RELAUNCH=1"}
	},
	args:  []string{"--approval-mode", "yolo"},
	ready: "Typeyourmessage",
	exit:  "/quit", anew: "/clear", resume: []string{"--continue"},
	edit: `write_file {"file_path":"FILE","content":"x"}`,
}

// command returns how the program is started: one in JavaScript needs node.
func (w *world) command(more ...string) (name string, args []string) {
	if args = append(append(args, w.h.args...), more...); len(more) > 0 && !strings.HasPrefix(more[0], "-") { // a command of its own
		args = append(more, w.h.args...)
	}
	if strings.HasSuffix(w.program, ".js") {
		return "node", append([]string{w.program}, args...)
	}
	return w.program, args
}

// kill kills what the harness and tt have started, also what outlives its terminal, if which says
// so of its executable.
func (w *world) kill(which func(program string) bool) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		program, _ := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		if text, _ := os.ReadFile(file); err == nil && strings.Contains(string(text), "TALKING_STICK_DATA_DIR="+w.data+"\x00") && which(program) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
