package payload

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

// A Reply is what a hook says to its harness. The zero Reply is silence. The texts are
// shown to a model: control characters of others must be made visible before.
type Reply struct {
	Refuse  string   // of a guard or a hold: why the agent must not stop, or the tool not write
	Context string   // for the model, beside what it is about to be asked
	Watch   []string // the files that the harness is to watch from now on
	Wake    string   // gives an idle agent a turn
}

// A specific is an answer below "hookSpecificOutput".
type specific struct {
	Output struct {
		Event    string   `json:"hookEventName"`
		Decision string   `json:"permissionDecision,omitempty"`
		Reason   string   `json:"permissionDecisionReason,omitempty"`
		Watch    []string `json:"watchPaths,omitempty"`
		Context  string   `json:"additionalContext,omitempty"`
	} `json:"hookSpecificOutput"`
}

// Answer returns what the hook of call prints, and its exit status: 2 if standard error
// has a text that gives the agent a turn, otherwise 0.
func Answer(call Call, r Reply) (stdout, stderr []byte, status int) {
	h := harness.Get(call.Harness)
	switch {
	case r.Wake != "" && h.Wakes(call.Kind):
		return nil, []byte(r.Wake + "\n"), 2
	case r.Refuse != "" || r.Wake != "":
		return refusal(h, call, r.Refuse+r.Wake), nil, 0
	case r.Context != "" && h.Answer.ContextIsSteps:
		return encode(map[string][]map[string]string{"injectSteps": {{"ephemeralMessage": r.Context}}}), nil, 0
	case r.Context != "" && h.Answer.IsFlat:
		return encode(map[string]string{"additional_context": r.Context}), nil, 0
	case r.Context != "" && h.Answer.ContextIsPlain:
		return encode(map[string]string{"additionalContext": r.Context}), nil, 0
	case r.Context != "" || len(r.Watch) > 0:
		var s specific
		s.Output.Event, s.Output.Watch, s.Output.Context = eventOf(h, call), r.Watch, r.Context
		return encode(s), nil, 0
	case h.Answer.SilenceRefuses:
		return []byte(h.Silence(call.Kind) + "\n"), nil, 0
	}
	return nil, nil, 0
}

// refusal returns the answer that keeps the agent from stopping, or a tool from writing.
func refusal(h *harness.Harness, call Call, reason string) []byte {
	var s specific
	refusesTool := call.Kind == harness.KindEdit || call.Kind == harness.KindShell
	switch {
	case refusesTool && h.Answer.IsFlat:
		return encode(map[string]string{"permission": "deny", "agent_message": reason, "user_message": reason})
	case h.Answer.IsFlat:
		return encode(map[string]string{h.Answer.Stop: reason})
	case !refusesTool && h.Answer.StopIsContext != "" && isAtLeast(call.Version, h.Answer.StopIsContext):
		s.Output.Event, s.Output.Context = h.Hooks.StopEvent, reason
		return encode(s)
	case !refusesTool:
		return encode(map[string]string{"decision": h.Answer.Stop, "reason": reason})
	case h.Answer.EditIsSpecific:
		s.Output.Event, s.Output.Decision, s.Output.Reason = h.Hooks.EditEvent, "deny", reason
		return encode(s)
	}
	return encode(map[string]string{"decision": "deny", "reason": reason})
}

// isAtLeast reports whether a version such as 2.1.163 is another one or a later one. A version
// that is not known is the first.
func isAtLeast(version, other string) bool {
	if end := strings.IndexFunc(version, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
		version = version[:end]
	}
	have, want := strings.Split(version, "."), strings.Split(other, ".")
	for i := range want {
		number := 0
		if i < len(have) {
			number, _ = strconv.Atoi(have[i])
		}
		if least, _ := strconv.Atoi(want[i]); number != least {
			return number > least
		}
	}
	return true
}

// eventOf returns the name of the event that has run the hook: the one that the
// harness has given if such a hook runs at it.
func eventOf(h *harness.Harness, call Call) string {
	same := func(e harness.HookEvent) bool { return e.Kind == call.Kind && e.Event == call.Event }
	if slices.ContainsFunc(h.Hooks.Events, same) {
		return call.Event
	}
	if call.Kind == harness.KindEdit {
		return h.Hooks.EditEvent
	}
	return h.Hooks.Event(call.Kind)
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
