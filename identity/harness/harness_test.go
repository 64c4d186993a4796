package harness

import (
	"errors"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
)

// optional are the columns that may be empty, and what that means. All others
// have to be filled in every row.
var optional = map[string]string{
	"Aliases":                 "it has no other names",
	"Desktop":                 "it runs in a terminal, or its own process is that of a session",
	"Package":                 "it is not installed by npm",
	"SessionVars":             "it exports no session id",
	"LaunchVar":               "its own markers say it",
	"PIDVar":                  "it does not export its pid",
	"PIDHintVar":              "no terminal exports its pid",
	"ServerArg":               "each session has a process of its own",
	"DaemonArgs":              "it starts no session in the background",
	"Note":                    "there is nothing to know",
	"ConfigDir.Var":           "the directory cannot be moved",
	"ConfigDir.Sub":           "the base is the directory",
	"ConfigDir.Former":        "it has always been there",
	"Hooks.StopEvent":         "plugin.js has it",
	"Hooks.Events":            "plugin.js has them",
	"Hooks.Cut":               "hooks do not say how a turn has ended",
	"Hooks.Interrupt":         "it runs no hook then",
	"Hooks.Queue":             "no command of it reaches a session",
	"Hooks.Hold":              "an idle agent can be woken, or no hook may take long",
	"Hooks.Interactive.Var":   "every session may last",
	"Hooks.Interactive.Value": "every session may last",
	"Hooks.OneSession":        "a process may have several sessions, or it is not told when one begins",
	"Hooks.Locks":             "no lock says which process runs a session, or it is not known",
	"Hooks.StaysAfter":        "hooks do not say why a session has ended",
	"Input.Reason":            "hooks do not say why a session has ended",
	"Hooks.StatusDir":         "it does not say what its model does",
	"Hooks.Sandbox":           "its commands may write to the data directory",
	"Hooks.Trust":             "hooks need no approval, or it is not told where it is",
	"Hooks.EditEvent":         "plugin.js has it",
	"Hooks.WriteTools":        "plugin.js has them",
	"Hooks.Millis":            "timeouts are in seconds",
	"Input.SessionVar":        "the environment does not have the session id of hooks",
	"Input.Event":             "the kind of the hook tells the event",
	"Input.Patch":             "it has no tool apply_patch",
	"Input.Command":           "commands of its shell are not guarded",
	"Input.CommandDir":        "its shell starts where the agent works",
	"Input.Prompt":            "hooks do not say what the model is asked",
	"Input.Reply":             "it runs a hook when its user has ended a turn, or nobody needs to know",
	"Input.Repeated":          "hooks do not say whether the agent was held back before",
	"Input.Subagent":          "hooks do not say whether a helper asks",
	"Input.Idle":              "nothing runs in the background when the agent stops",
	"Input.Tasks":             "hooks do not say what runs in the background, or Idle does",
	"Input.Changed":           "it watches no file",
	"Input.Asked":             "ToolInput has it",
	"Input.Outcome":           "hooks do not say how a turn has ended",
	"Input.Failure":           "it has no event for a turn that fails",
	"Input.Transcript":        "hooks say when a turn ends, or StatusDir does",
	"Input.Version":           "hooks do not say it, or it matters to nobody",
	"Input.Foreign":           "no other program is known to run its hooks",
	"Input.Signature":         "its input looks like that of others",
	"Answer.EditIsSpecific":   "the plain decision will do",
	"Answer.SilenceRefuses":   "silence permits",
	"Answer.StopMayQuote":     "the reason for a refused stop looks as if the user had typed it",
	"Answer.StopIsContext":    "the plain decision will do",
	"Answer.ContextIsPlain":   "the usual form will do",
	"Answer.IsFlat":           "the usual form will do",
	"Answer.ContextIsSteps":   "the usual form will do",
	"MCP.Old":                 "no older version has registered a server",
	"MCP.InHome":              "its servers are in its own directory",
	"MCP.LaterKey":            "its servers have always been there",
	"MCP.Entry":               "a command and its arguments will do",
	"MCP.EnvVars":             "servers get the whole environment",
}

func TestEveryRowIsComplete(t *testing.T) {
	used := map[string]bool{}
	for _, h := range All() {
		eachColumn("", reflect.ValueOf(h).Elem(), func(column string, v reflect.Value) {
			if v.IsZero() && optional[column] == "" {
				t.Errorf("%s has no %s", h.ID, column)
			}
			used[column] = used[column] || !v.IsZero()
		})
	}
	for column := range optional {
		if !used[column] {
			t.Errorf("no row has a %s", column)
		}
	}
}

// eachColumn calls visit for the fields of a row, and of the structures in it.
func eachColumn(prefix string, row reflect.Value, visit func(string, reflect.Value)) {
	for i := range row.NumField() {
		name, field := prefix+row.Type().Field(i).Name, row.Field(i)
		if field.Kind() == reflect.Struct {
			eachColumn(name+".", field, visit)
		} else {
			visit(name, field)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	owner := map[string]ID{}
	for _, h := range All() {
		if Get(h.ID) != h {
			t.Errorf("%s is not found by its id", h.ID)
		}
		for _, name := range append([]string{string(h.ID), h.Agent, h.Program}, h.Aliases...) {
			if name != strings.ToLower(name) || strings.ContainsAny(name, " _./:") {
				t.Errorf("%s: the name %q cannot be found", h.ID, name)
			}
			if of, taken := owner[name]; taken && of != h.ID {
				t.Errorf("%q is %s and %s", name, of, h.ID)
			}
			if owner[name] = h.ID; Find(name) != h {
				t.Errorf("%s is not found as %q", h.ID, name)
			}
		}
		for _, m := range h.Markers {
			if of, taken := owner[m.Var]; taken {
				t.Errorf("the marker %s is of %s and %s", m.Var, of, h.ID)
			}
			owner[m.Var] = h.ID
		}
	}
}

func TestRowsFitTogether(t *testing.T) {
	for _, h := range All() {
		if h.Markers[0].Value == "" {
			t.Errorf("%s: hooks cannot set the marker %s, which has no value", h.ID, h.Markers[0].Var)
		}
		if v := h.Input.SessionVar; v != "" && !slices.Contains(h.SessionVars, v) {
			t.Errorf("%s: %s is not one of its session variables", h.ID, v)
		}
		for _, p := range append(h.MCP.Old, h.ConfigDir.Base, h.ConfigDir.Sub, h.ConfigDir.Former, h.Hooks.File, h.Hooks.Trust, h.Hooks.Locks) {
			if p != "" && (path.IsAbs(p) || path.Clean(p) != p || strings.HasPrefix(p, "..") || strings.Contains(p, `\`)) {
				t.Errorf("%s: bad path %q", h.ID, p)
			}
		}
		if h.Hooks.Hold && h.Hooks.StopEvent == "" {
			t.Errorf("%s: there is no event to hold", h.ID)
		}
		if _, err := regexp.Compile(h.Hooks.WriteTools); err != nil {
			t.Errorf("%s: %v", h.ID, err)
		}
		if !slices.Contains([]Shape{Groups, Named, OwnFile, Flat, Plugin}, h.Hooks.Shape) {
			t.Errorf("%s: unknown shape %q", h.ID, h.Hooks.Shape)
		}
		if h.Hooks.Shape != Plugin && (h.Hooks.EditEvent == "" || h.Hooks.WriteTools == "") {
			t.Errorf("%s: an edit guard needs an event and the tools that write", h.ID)
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]ID{
		"claude": ClaudeCode, "Claude Code": ClaudeCode, "claude-code": ClaudeCode,
		"Codex CLI": Codex, "agy": Antigravity, " gemini cli ": Gemini, "Open Code": OpenCode, "GitHub Copilot": Copilot, "qwen-code": Qwen, "Cursor": Cursor, "cursor-agent": Cursor, "grok-build": Grok,
	} {
		if h := Find(name); h == nil || h.ID != want {
			t.Errorf("%q is %+v", name, h)
		}
	}
	for _, name := range []string{"", "cursor_agent", "claude_code", "claude:1"} {
		if h := Find(name); h != nil {
			t.Errorf("%q is %s", name, h.ID)
		}
	}
}

func TestParse(t *testing.T) {
	for name, want := range map[string]ID{"claude": ClaudeCode, "agy": Antigravity, "grok-build": Grok} {
		if id, err := Parse(name); id != want || err != nil {
			t.Errorf("%s: %q %v", name, id, err)
		}
	}
	_, err := Parse("Claude")
	var e *code.Error
	if !errors.As(err, &e) || e.Code != code.Usage || !strings.Contains(e.Hint, "qwen, cursor, grok") || !strings.Contains(e.Message, "Claude") {
		t.Errorf("%v", err)
	}
}
