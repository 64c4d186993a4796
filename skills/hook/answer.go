package hook

import (
	"bytes"
	"encoding/json"

	"github.com/talking-stick/tt/identity/harness"
)

// A specificDecision is the refusal of an edit for the harnesses whose answer is
// an object below "hookSpecificOutput".
type specificDecision struct {
	Output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	} `json:"hookSpecificOutput"`
}

// A decision is every other refusal.
type decision struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// permission is the answer that permits where silence would refuse. Elsewhere it
// is not given: it would skip Claude Code's own permission dialog, and is an error
// to Codex.
const permission = `{"decision":"allow"}`

// Answer returns the standard output of the hook that refuses call with reason, or
// permits it if reason is "". The exit status is 0 in every case.
func Answer(call Call, reason string) []byte {
	h := harness.Get(call.Harness)
	switch {
	case reason == "" && h.Answer.SilenceRefuses:
		return []byte(permission + "\n")
	case reason == "":
		return nil
	case call.Kind == Stop:
		return encode(decision{h.Answer.Stop, reason})
	case h.Answer.EditIsSpecific:
		var deny specificDecision
		deny.Output.Event = h.Hooks.EditEvent
		deny.Output.Decision = "deny"
		deny.Output.Reason = reason
		return encode(deny)
	}
	return encode(decision{"deny", reason})
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // cannot happen: strings only
		return nil
	}
	return b.Bytes()
}
