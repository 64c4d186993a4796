package payload

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		name    string
		id      harness.ID
		kind    harness.Kind
		payload string
		want    Call
	}{
		{
			"claude write", harness.ClaudeCode, harness.KindEdit,
			`{"session_id":"abc","transcript_path":"/t.jsonl","cwd":"/w","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/w/a.go","content":"x"},"tool_use_id":"toolu_1"}`,
			Call{Harness: harness.ClaudeCode, Kind: harness.KindEdit, Event: "PreToolUse", SessionID: "abc", Dir: "/w", Tool: "Write", Paths: []string{"/w/a.go"}},
		},
		{
			"an editor whose tool has a command", harness.Copilot, harness.KindEdit,
			`{"session_id":"p","cwd":"/w","tool_name":"edit","tool_input":{"command":"create","path":"a.go","file_text":"x"}}`,
			Call{Harness: harness.Copilot, Kind: harness.KindEdit, SessionID: "p", Dir: "/w", Tool: "edit", Paths: []string{"/w/a.go"}},
		},
		{
			"claude notebook in a subagent", harness.ClaudeCode, harness.KindEdit,
			`{"session_id":"abc","cwd":"/w","tool_name":"NotebookEdit","tool_input":{"notebook_path":"n.ipynb"},"agent_id":"sub-1","agent_type":"Explore"}`,
			Call{Harness: harness.ClaudeCode, Kind: harness.KindEdit, SessionID: "abc", Dir: "/w", Tool: "NotebookEdit", Paths: []string{"/w/n.ipynb"}, Subagent: true},
		},
		{
			"claude stop", harness.ClaudeCode, harness.KindStop,
			`{"session_id":"abc","cwd":"/w","hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"done"}`,
			Call{Harness: harness.ClaudeCode, Kind: harness.KindStop, Event: "Stop", SessionID: "abc", Dir: "/w", Repeated: true},
		},
		{
			"codex patch", harness.Codex, harness.KindEdit,
			`{"session_id":"t1","turn_id":"7","cwd":"/w","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"apply_patch","tool_use_id":"c","tool_input":{"command":"*** Begin Patch\n*** Add File: a.go\n+x\n*** Update File: /w/b.go\n*** Move to: c.go\n@@\n-*** Add File: not this\n*** Delete File: d.go\r\n*** End Patch\n"}}`,
			Call{Harness: harness.Codex, Kind: harness.KindEdit, Event: "PreToolUse", SessionID: "t1", Dir: "/w", Tool: "apply_patch", Paths: []string{"/w/a.go", "/w/b.go", "/w/c.go", "/w/d.go"}},
		},
		{
			"gemini stop", harness.Gemini, harness.KindStop,
			`{"session_id":"g","transcript_path":"","cwd":"/w","hook_event_name":"AfterAgent","timestamp":"2026-11-20T12:00:00Z","prompt":"p","prompt_response":"r","stop_hook_active":false}`,
			Call{Harness: harness.Gemini, Kind: harness.KindStop, Event: "AfterAgent", SessionID: "g", Dir: "/w", Reply: 1},
		},
		{
			"antigravity write", harness.Antigravity, harness.KindEdit,
			`{"conversationId":"c1","transcriptPath":"/t","workspacePaths":["/w","/v"],"toolCall":{"name":"write_to_file","args":{"TargetFile":"/w/a.go","CodeContent":"x","Overwrite":true}}}`,
			Call{Harness: harness.Antigravity, Kind: harness.KindEdit, SessionID: "c1", Dir: "/w", Tool: "write_to_file", Paths: []string{"/w/a.go"}},
		},
		{
			"antigravity stop while something runs", harness.Antigravity, harness.KindStop,
			`{"conversationId":"c1","workspacePaths":["/w"],"terminationReason":"model_stop","fullyIdle":false,"executionNum":4}`,
			Call{Harness: harness.Antigravity, Kind: harness.KindStop, SessionID: "c1", Dir: "/w", Busy: true},
		},
		{
			"claude stop while a task runs", harness.ClaudeCode, harness.KindStop,
			`{"session_id":"s","cwd":"/w","hook_event_name":"Stop","background_tasks":[{"id":"a","status":"completed"},{"id":"b","status":"running"}]}`,
			Call{Harness: harness.ClaudeCode, Kind: harness.KindStop, Event: "Stop", SessionID: "s", Dir: "/w", Task: true},
		},
		{
			"claude stop after a task", harness.ClaudeCode, harness.KindStop,
			`{"session_id":"s","cwd":"/w","hook_event_name":"Stop","background_tasks":[{"id":"a","status":"completed"}]}`,
			Call{Harness: harness.ClaudeCode, Kind: harness.KindStop, Event: "Stop", SessionID: "s", Dir: "/w"},
		},
		{
			"grok write", harness.Grok, harness.KindEdit,
			`{"hookEventName":"pre_tool_use","sessionId":"s","cwd":"/w","workspaceRoot":"/w","toolName":"search_replace","toolInput":{"file_path":"a.go"}}`,
			Call{Harness: harness.Grok, Kind: harness.KindEdit, Event: "pre_tool_use", SessionID: "s", Dir: "/w", Tool: "search_replace", Paths: []string{"/w/a.go"}},
		},
		{
			"grok runs the hooks of claude's settings", harness.ClaudeCode, harness.KindStop,
			`{"hookEventName":"stop","sessionId":"s","cwd":"/w","reason":"end_turn","stopHookActive":true,"subagentType":"explore"}`,
			Call{Harness: harness.Grok, Kind: harness.KindStop, Event: "stop", SessionID: "s", Dir: "/w", Repeated: true, Subagent: true},
		},
		{
			"opencode prompt", harness.OpenCode, harness.KindContext,
			`{"session_id":"o","cwd":"/w","hook_event_name":"chat.message","prompt":"p"}`,
			Call{Harness: harness.OpenCode, Kind: harness.KindContext, Event: "chat.message", SessionID: "o", Dir: "/w", Prompt: true, PromptText: "p"},
		},
		{
			"opencode result", harness.OpenCode, harness.KindContext,
			`{"session_id":"o","cwd":"/w"}`,
			Call{Harness: harness.OpenCode, Kind: harness.KindContext, SessionID: "o", Dir: "/w"},
		},
		{
			"opencode patch", harness.OpenCode, harness.KindEdit,
			`{"session_id":"o","cwd":"/w","tool_name":"apply_patch","tool_input":{"patchText":"*** Begin Patch\n*** Update File: a.go\n"}}`,
			Call{Harness: harness.OpenCode, Kind: harness.KindEdit, SessionID: "o", Dir: "/w", Tool: "apply_patch", Paths: []string{"/w/a.go"}},
		},
		{
			"fields of other types", harness.ClaudeCode, harness.KindEdit,
			`{"session_id":"s","cwd":"/w","hook_event_name":7,"stop_hook_active":"no","last_assistant_message":[],"prompt":{},"error":{},"transcript_path":null,"background_tasks":1,"tool_name":"Write","tool_input":{"file_path":"a.go"}}`,
			Call{Harness: harness.ClaudeCode, Kind: harness.KindEdit, SessionID: "s", Dir: "/w", Tool: "Write", Paths: []string{"/w/a.go"}},
		},
		{
			"cursor write", harness.Cursor, harness.KindEdit,
			`{"conversation_id":"c","session_id":"c","generation_id":"g","hook_event_name":"preToolUse","cursor_version":"2026.09.10","workspace_roots":["/w","/v"],"tool_name":"Write","tool_input":{"file_path":"a.go","content":"x"},"tool_use_id":"t"}`,
			Call{Harness: harness.Cursor, Kind: harness.KindEdit, Event: "preToolUse", SessionID: "c", Dir: "/w", Tool: "Write", Paths: []string{"/w/a.go"}},
		},
		{
			"cursor shell", harness.Cursor, harness.KindShell,
			`{"conversation_id":"c","hook_event_name":"beforeShellExecution","workspace_roots":["/w"],"command":"rm a","cwd":"/w/sub","timeout":30}`,
			Call{Harness: harness.Cursor, Kind: harness.KindShell, Event: "beforeShellExecution", SessionID: "c", Dir: "/w/sub", Command: "rm a"},
		},
		{
			"cursor shell without a directory", harness.Cursor, harness.KindShell,
			`{"session_id":"c","hook_event_name":"beforeShellExecution","workspace_roots":["/w"],"command":"rm a","cwd":""}`,
			Call{Harness: harness.Cursor, Kind: harness.KindShell, Event: "beforeShellExecution", SessionID: "c", Dir: "/w", Command: "rm a"},
		},
		{
			"cursor stop", harness.Cursor, harness.KindStop,
			`{"conversation_id":"c","hook_event_name":"stop","workspace_roots":["/w"],"status":"completed","loop_count":2}`,
			Call{Harness: harness.Cursor, Kind: harness.KindStop, Event: "stop", SessionID: "c", Dir: "/w"},
		},
		{
			"cursor stop by its user", harness.Cursor, harness.KindStop,
			`{"conversation_id":"c","hook_event_name":"stop","workspace_roots":["/w"],"status":"aborted","loop_count":0}`,
			Call{Harness: harness.Cursor, Kind: harness.KindStop, Event: "stop", SessionID: "c", Dir: "/w", Interrupt: true},
		},
		{
			"cursor prompt", harness.Cursor, harness.KindContext,
			`{"conversation_id":"c","hook_event_name":"beforeSubmitPrompt","workspace_roots":["/w"],"prompt":"p","attachments":[]}`,
			Call{Harness: harness.Cursor, Kind: harness.KindContext, Event: "beforeSubmitPrompt", SessionID: "c", Dir: "/w", Prompt: true, PromptText: "p", Mute: true},
		},
		{
			"cursor runs the hooks of claude's settings", harness.ClaudeCode, harness.KindStop,
			`{"session_id":"c","cwd":"/w","hook_event_name":"Stop","cursor_version":"3.2.16"}`,
			Call{Harness: harness.ClaudeCode, Kind: harness.KindStop, Event: "Stop", SessionID: "c", Dir: "/w", Foreign: true, Runner: harness.Cursor},
		},
		{
			"a tool that does not say what it writes", harness.Gemini, harness.KindEdit,
			`{"session_id":"g","cwd":"/w","tool_name":"replace","tool_input":"odd"}`,
			Call{Harness: harness.Gemini, Kind: harness.KindEdit, SessionID: "g", Dir: "/w", Tool: "replace"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode(tt.id, tt.kind, []byte(tt.payload))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%v\ngot  %+v\nwant %+v", err, got, tt.want)
			}
		})
	}
}

func TestDecodeRefusesWhatIsNoObject(t *testing.T) {
	for _, payload := range []string{"", "  ", "[]", "null", `"x"`, "{"} {
		if call, err := Decode(harness.ClaudeCode, harness.KindStop, []byte(payload)); err == nil {
			t.Errorf("%q gave %+v", payload, call)
		}
	}
}

// What real harnesses send, by event.
func TestDecodeWhatHarnessesSend(t *testing.T) {
	ids := map[string]harness.ID{"claude": harness.ClaudeCode, "codex": harness.Codex, "gemini": harness.Gemini}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 20 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, event, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
		id := ids[name]
		hooks := harness.Get(id).Hooks
		kind := harness.KindEdit
		for _, e := range append(hooks.Events, harness.HookEvent{Kind: harness.KindStop, Event: hooks.StopEvent}) {
			if e.Event == event {
				kind = e.Kind
			}
		}
		call, err := Decode(id, kind, data)
		if err != nil || call.Harness != id || call.Event != event || len(call.SessionID) != 36 || !filepath.IsAbs(call.Dir) {
			t.Errorf("%s: %v %+v", file, err, call)
		}
		if call.Repeated || call.Subagent || call.Busy || call.Interrupt != (event == "Interrupt") {
			t.Errorf("%s: %+v", file, call)
		}
	}
}

// TestGoesOn: which ends of a session leave its process with another one.
func TestGoesOn(t *testing.T) {
	for _, test := range []struct {
		id     harness.ID
		reason string
		want   bool
	}{
		{harness.ClaudeCode, "clear", true}, {harness.ClaudeCode, "resume", true}, {harness.ClaudeCode, "prompt_input_exit", false},
		{harness.Gemini, "clear", true}, {harness.Gemini, "exit", false}, {harness.Codex, "clear", false},
		{harness.OpenCode, "deleted", true}, {harness.OpenCode, "", false},
	} {
		call, err := Decode(test.id, harness.KindSessionEnd, []byte(`{"session_id":"s","reason":"`+test.reason+`"}`))
		if err != nil || call.GoesOn != test.want {
			t.Errorf("%s, %q: %v %v", test.id, test.reason, call.GoesOn, err)
		}
	}
}
