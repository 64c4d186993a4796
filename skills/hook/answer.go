package hook

import (
	"bytes"
	"encoding/json"

	"github.com/talking-stick/tt/skills/harness"
)

// claudeDeny is how Claude Code and Codex are told not to run a tool.
type claudeDeny struct {
	Output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	} `json:"hookSpecificOutput"`
}

// decision is how everybody else is told, and everybody about a stop.
type decision struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
}

// Answer returns what to write to standard output so that the harness of call
// refuses with reason, or lets it pass if reason is "". The exit status is 0 in
// every case.
func Answer(call Call, reason string) []byte {
	if reason == "" {
		return allow(call.Harness)
	}
	if call.Kind == Stop {
		return encode(decision{stopWord(call.Harness), reason})
	}
	switch call.Harness {
	case harness.ClaudeCode, harness.Codex:
		var deny claudeDeny
		deny.Output.Event = "PreToolUse"
		deny.Output.Decision = "deny"
		deny.Output.Reason = reason
		return encode(deny)
	}
	return encode(decision{"deny", reason})
}

// allow is silence, where silence means yes. An explicit "allow" would skip
// Claude Code's own permission dialog, and is an error to Codex.
func allow(id harness.ID) []byte {
	if id == harness.Antigravity {
		return []byte(allowAnyway + "\n")
	}
	return nil
}

// stopWord is how a harness is told to go on instead of stopping.
func stopWord(id harness.ID) string {
	switch id {
	case harness.Antigravity:
		return "continue"
	case harness.Gemini:
		return "deny"
	}
	return "block"
}

// tellsRepeats reports whether a harness says that the agent goes on only
// because a stop guard held it back. For the others that has to be remembered.
func tellsRepeats(id harness.ID) bool { return id != harness.Antigravity }

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // cannot happen: strings only
		return nil
	}
	return b.Bytes()
}
