package payload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

func TestAnswer(t *testing.T) {
	const context = `{"hookSpecificOutput":{"hookEventName":"`
	tests := []struct {
		id    harness.ID
		kind  harness.Kind
		event string
		reply Reply
		want  string
	}{
		{harness.ClaudeCode, harness.KindStop, "", Reply{Refuse: "a <b>"}, `{"decision":"block","reason":"a <b>"}`},
		{harness.ClaudeCode, harness.KindEdit, "", Reply{Refuse: "a"}, context + `PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a"}}`},
		{harness.ClaudeCode, harness.KindSessionStart, "SessionStart", Reply{Watch: []string{"/d/wake"}, Context: "a"}, context + `SessionStart","watchPaths":["/d/wake"],"additionalContext":"a"}}`},
		{harness.ClaudeCode, harness.KindCwdChanged, "", Reply{Watch: []string{"/d/wake"}}, context + `CwdChanged","watchPaths":["/d/wake"]}}`},
		{harness.ClaudeCode, harness.KindContext, "UserPromptSubmit", Reply{Context: "a"}, context + `UserPromptSubmit","additionalContext":"a"}}`},
		{harness.ClaudeCode, harness.KindContext, "PostToolUse", Reply{Context: "a"}, context + `PostToolUse","additionalContext":"a"}}`},
		{harness.ClaudeCode, harness.KindContext, "Elsewhere", Reply{Context: "a"}, context + `UserPromptSubmit","additionalContext":"a"}}`},
		{harness.Codex, harness.KindStop, "", Reply{Refuse: "a"}, `{"decision":"block","reason":"a"}`},
		{harness.Codex, harness.KindEdit, "", Reply{Refuse: "a"}, context + `PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a"}}`},
		{harness.Codex, harness.KindSessionStart, "SessionStart", Reply{Context: "a"}, context + `SessionStart","additionalContext":"a"}}`},
		{harness.Codex, harness.KindContext, "PostToolUse", Reply{Context: "a"}, context + `PostToolUse","additionalContext":"a"}}`},
		{harness.Gemini, harness.KindStop, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.Gemini, harness.KindListen, "AfterAgent", Reply{Wake: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.Gemini, harness.KindEdit, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.Gemini, harness.KindContext, "AfterTool", Reply{Context: "a"}, context + `AfterTool","additionalContext":"a"}}`},
		{harness.OpenCode, harness.KindStop, "", Reply{Refuse: "a"}, `{"decision":"block","reason":"a"}`},
		{harness.OpenCode, harness.KindEdit, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.OpenCode, harness.KindContext, "", Reply{Context: "a"}, context + `chat.message","additionalContext":"a"}}`},
		{harness.Antigravity, harness.KindStop, "", Reply{Refuse: "a"}, `{"decision":"continue","reason":"a"}`},
		{harness.Antigravity, harness.KindListen, "", Reply{Wake: "a"}, `{"decision":"continue","reason":"a"}`},
		{harness.Antigravity, harness.KindEdit, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.Antigravity, harness.KindContext, "", Reply{Context: "a"}, `{"injectSteps":[{"ephemeralMessage":"a"}]}`},
		{harness.Copilot, harness.KindContext, "PostToolUse", Reply{Context: "a"}, `{"additionalContext":"a"}`},
		{harness.Copilot, harness.KindShell, "", Reply{Refuse: "a"}, context + `PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a"}}`},
		{harness.Qwen, harness.KindStop, "", Reply{Refuse: "a"}, `{"decision":"block","reason":"a"}`},
		{harness.Cursor, harness.KindStop, "stop", Reply{Refuse: "a"}, `{"followup_message":"a"}`},
		{harness.Cursor, harness.KindStop, "stop", Reply{Wake: "a"}, `{"followup_message":"a"}`},
		{harness.Cursor, harness.KindEdit, "preToolUse", Reply{Refuse: "a <b>"}, `{"agent_message":"a <b>","permission":"deny","user_message":"a <b>"}`},
		{harness.Cursor, harness.KindShell, "", Reply{Refuse: "a"}, `{"agent_message":"a","permission":"deny","user_message":"a"}`},
		{harness.Cursor, harness.KindSessionStart, "sessionStart", Reply{Context: "a"}, `{"additional_context":"a"}`},
		{harness.Grok, harness.KindStop, "stop", Reply{Refuse: "a"}, context + `Stop","additionalContext":"a"}}`},
		{harness.Grok, harness.KindEdit, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
	}
	for _, tt := range tests {
		call := Call{Harness: tt.id, Kind: tt.kind, Event: tt.event}
		out, errs, status := Answer(call, tt.reply)
		if string(out) != tt.want+"\n" || len(errs) > 0 || status != 0 {
			t.Errorf("%s %s: got %d %s%s", tt.id, tt.kind, status, out, errs)
		}
	}
}

// Only what may wake an agent says so with its status.
func TestAnswerThatWakes(t *testing.T) {
	for _, kind := range []harness.Kind{harness.KindFileChanged, harness.KindListen} {
		out, errs, status := Answer(Call{Harness: harness.ClaudeCode, Kind: kind}, Reply{Wake: "a"})
		if len(out) > 0 || string(errs) != "a\n" || status != 2 {
			t.Errorf("%s: %d %q %q", kind, status, out, errs)
		}
	}
}

func TestSilence(t *testing.T) {
	for _, id := range harness.IDs() {
		for _, kind := range harness.Kinds() {
			out, errs, status := Answer(Call{Harness: id, Kind: kind}, Reply{})
			want := ""
			if id == harness.Antigravity {
				want = `{"decision":"allow"}` + "\n"
				if kind == harness.KindContext {
					want = "{}\n"
				}
				if !json.Valid(out) {
					t.Errorf("%q is no JSON", out)
				}
			}
			if string(out) != want || len(errs) > 0 || status != 0 {
				t.Errorf("%s %s: %d %q %q, want %q", id, kind, status, out, errs, want)
			}
		}
	}
}

// A harness that has it takes what is said at the end of a turn as context, once and not as an
// error.
func TestAnswerToStopByVersion(t *testing.T) {
	for version, context := range map[string]bool{"": false, "x": false, "2.1.99": false, "2.1.162": false, "2.1.163": true, "2.1.330": true, "2.2": true, "3.0.0-beta": true} {
		out, _, _ := Answer(Call{Harness: harness.ClaudeCode, Kind: harness.KindStop, Version: version}, Reply{Refuse: "a"})
		if got := strings.Contains(string(out), `"hookEventName":"Stop","additionalContext":"a"`); got != context || got == strings.Contains(string(out), "block") {
			t.Errorf("version %q: %s", version, out)
		}
	}
}
