package hook

import (
	"encoding/json"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

func TestAnswer(t *testing.T) {
	const context = `{"hookSpecificOutput":{"hookEventName":"`
	tests := []struct {
		id    harness.ID
		kind  Kind
		event string
		reply Reply
		want  string
	}{
		{harness.ClaudeCode, Stop, "", Reply{Refuse: "a <b>"}, `{"decision":"block","reason":"a <b>"}`},
		{harness.ClaudeCode, Edit, "", Reply{Refuse: "a"}, context + `PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a"}}`},
		{harness.ClaudeCode, SessionStart, "SessionStart", Reply{Watch: []string{"/d/wake"}, Context: "a"}, context + `SessionStart","watchPaths":["/d/wake"],"additionalContext":"a"}}`},
		{harness.ClaudeCode, CwdChanged, "", Reply{Watch: []string{"/d/wake"}}, context + `CwdChanged","watchPaths":["/d/wake"]}}`},
		{harness.ClaudeCode, Context, "UserPromptSubmit", Reply{Context: "a"}, context + `UserPromptSubmit","additionalContext":"a"}}`},
		{harness.ClaudeCode, Context, "PostToolUse", Reply{Context: "a"}, context + `PostToolUse","additionalContext":"a"}}`},
		{harness.ClaudeCode, Context, "Elsewhere", Reply{Context: "a"}, context + `UserPromptSubmit","additionalContext":"a"}}`},
		{harness.Codex, Stop, "", Reply{Refuse: "a"}, `{"decision":"block","reason":"a"}`},
		{harness.Codex, Edit, "", Reply{Refuse: "a"}, context + `PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a"}}`},
		{harness.Codex, SessionStart, "SessionStart", Reply{Context: "a"}, context + `SessionStart","additionalContext":"a"}}`},
		{harness.Codex, Context, "PostToolUse", Reply{Context: "a"}, context + `PostToolUse","additionalContext":"a"}}`},
		{harness.Gemini, Stop, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.Gemini, Listen, "AfterAgent", Reply{Wake: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.Gemini, Edit, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.Gemini, Context, "AfterTool", Reply{Context: "a"}, context + `AfterTool","additionalContext":"a"}}`},
		{harness.OpenCode, Stop, "", Reply{Refuse: "a"}, `{"decision":"block","reason":"a"}`},
		{harness.OpenCode, Edit, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.OpenCode, Context, "", Reply{Context: "a"}, context + `","additionalContext":"a"}}`},
		{harness.Antigravity, Stop, "", Reply{Refuse: "a"}, `{"decision":"continue","reason":"a"}`},
		{harness.Antigravity, Listen, "", Reply{Wake: "a"}, `{"decision":"continue","reason":"a"}`},
		{harness.Antigravity, Edit, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
		{harness.Antigravity, Context, "", Reply{Context: "a"}, `{"injectSteps":[{"ephemeralMessage":"a"}]}`},
		{harness.Grok, Stop, "stop", Reply{Refuse: "a"}, context + `Stop","additionalContext":"a"}}`},
		{harness.Grok, Edit, "", Reply{Refuse: "a"}, `{"decision":"deny","reason":"a"}`},
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
	for _, kind := range []Kind{FileChanged, Listen} {
		out, errs, status := Answer(Call{Harness: harness.ClaudeCode, Kind: kind}, Reply{Wake: "a"})
		if len(out) > 0 || string(errs) != "a\n" || status != 2 {
			t.Errorf("%s: %d %q %q", kind, status, out, errs)
		}
	}
}

func TestSilence(t *testing.T) {
	for _, id := range harness.IDs() {
		for _, kind := range Kinds() {
			out, errs, status := Answer(Call{Harness: id, Kind: kind}, Reply{})
			want := ""
			if id == harness.Antigravity {
				want = permission + "\n"
				if kind == Context {
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
