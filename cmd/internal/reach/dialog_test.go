//go:build linux

package reach

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// asking returns the harnesses, set up so that they ask their users before each command but
// those of tt.
func asking() []harness {
	claude, codex, openCode, gemini := claude, codex, openCode, gemini
	claude.args = []string{"--permission-mode", "acceptEdits", "--allowedTools", "Bash(tt *)"}
	codex.files = changed(codex.files, `"never"`, `"on-request"`)
	openCode.files = changed(openCode.files, `{"*":"allow"}`, `{"bash":{"*":"ask","tt *":"allow"}}`)
	gemini.files = changed(gemini.files, "", "")
	gemini.args = []string{"--approval-mode", "default", "--model", "gemini-2.5-flash"}
	gemini.stopped = "Requestcancelled"
	return []harness{claude, codex, openCode, gemini}
}

// changed returns files with one text in the place of another.
func changed(files func(*world) map[string]string, from, to string) func(*world) map[string]string {
	return func(w *world) map[string]string {
		all := files(w)
		for name, text := range all {
			all[name] = strings.Replace(text, from, to, 1)
		}
		all[".codex/rules/default.rules"] = `prefix_rule(pattern = ["curl"], decision = "prompt")`
		all[".gemini/policies/rules.toml"] = shellRule("tt", "allow") + shellRule("curl", "ask_user")
		return all
	}
}

// shellRule is a rule of Gemini CLI.
func shellRule(command, decision string) string {
	return fmt.Sprintf("[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = %q\ndecision = %q\npriority = 900\n", command, decision)
}

// TestDialog opens a real dialog for a permission: tt why says so at once, and after its user
// has refused, the agent is told as others are told that it will be.
func TestDialog(t *testing.T) {
	for _, h := range asking() {
		t.Run(h.id, func(t *testing.T) {
			w := newWorld(t, h)
			n := w.model.count()
			w.enter("look [[sh curl -s http://127.0.0.1:9/]] [[say looked]]")
			asked := w.answered(n, "look").at
			for !strings.Contains(w.tt(peer, "why", "--json"), `"what":"asks"`) {
				if time.Since(asked) > 20*time.Second {
					t.Fatalf("not in tt why; asked was %v, shown is\n%s", w.model.since(n), tail(w.screen.screen()))
				}
			}
			within(t, "a dialog is in tt why", 3*time.Second, time.Since(asked)) // of which tt has less than 0.2 s
			mark := len(w.screen.screen())
			w.screen.keys("\x1b")
			refused, reach := time.Now(), ""
			w.screen.await(mark, time.Minute, h.stopped)
			w.until(20*time.Second, func() bool { reach, _ = w.reach(); return reach == "ready" || reach == "next_prompt" })
			report(t, "refused: reach "+reach, time.Since(refused))
			if reach == "next_prompt" {
				w.atPrompt("ninth-body")
				return
			}
			within(t, "after a refused dialog", h.limit, w.handoff(90*time.Second))
		})
	}
}
