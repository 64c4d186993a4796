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
	variable: "TT_REACH_CLAUDE", id: "claude-code", limit: 2 * time.Second, listening: "claude-watch claude-hook", // the hook until it has shown that it watches
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
	exit:  "/exit",
}

var codex = harness{
	variable: "TT_REACH_CODEX", id: "codex", limit: time.Second, listening: "codex-queue",
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
	exit:  "/exit",
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
	variable: "TT_REACH_OPENCODE", id: "opencode", limit: 2 * time.Second, listening: "opencode",
	files: func(w *world) map[string]string {
		return map[string]string{".config/opencode/opencode.json": `{"$schema":"https://opencode.ai/config.json","autoupdate":false,"share":"disabled",
 "model":"anthropic/claude-sonnet-4-5","small_model":"anthropic/claude-sonnet-4-5",
 "provider":{"anthropic":{"options":{"baseURL":"` + w.model.URL + `/v1","apiKey":"stand-in-key"}}},"permission":{"*":"allow"}}`}
	},
	env: func(w *world) []string {
		return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_SHARE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
	},
	ready:   "Askanything",
	exit:    "/exit",
	escapes: 2,
}

var gemini = harness{
	variable: "TT_REACH_GEMINI", id: "gemini", limit: time.Second, listening: "hold",
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
	exit:  "/quit",
	holds: true,
}

// command returns how the program is started: one in JavaScript needs node.
func (w *world) command() (name string, args []string) {
	if strings.HasSuffix(w.program, ".js") {
		return "node", append([]string{w.program}, w.h.args...)
	}
	return w.program, w.h.args
}

// endAll ends what the harness and tt have started and left: a server, what keeps that up
// to date, a listener.
func (w *world) endAll() {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if text, _ := os.ReadFile(file); err == nil && strings.Contains(string(text), "TALKING_STICK_DATA_DIR="+w.data+"\x00") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
