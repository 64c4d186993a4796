// Package payload reads what harnesses send to a hook, and writes the answer in the form that each
// of them expects.
package payload

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/hooks/shell"
	"github.com/talking-stick/tt/identity/harness"
)

// A Call is the question that a harness asks.
type Call struct {
	Harness    harness.ID // decides how to answer
	Kind       harness.Kind
	Event      string     // the harness's name of what has happened; "" if the input does not have it
	SessionID  string     // the harness's own session id; "" if the input does not have it
	Dir        string     // where the agent works; "" if the input does not have it
	Tool       string     // of an edit, the tool's name
	Paths      []string   // of an edit, the files it would write, absolute where Dir is known
	Command    string     // of a shell, the command that it would run; it starts in Dir
	Version    string     // of the harness; "" if it is not known
	Changed    string     // the file that has changed; "" if the input does not have it
	Transcript string     // the file of the session; "" unless it says when a turn of the model ends
	GoesOn     bool       // of the end of a session: the process of the harness goes on
	Failure    string     // of a turn that has failed, what its model or harness says
	Repeated   bool       // of a stop: the agent is already going on because a stop guard made it
	Prompt     bool       // the model is about to be asked for the first time in a turn
	PromptText string     // of a prompt, if the input has it
	Interrupt  bool       // of a stop: the user has ended the turn
	Reply      int        // of a stop: how many bytes the model has said in the turn; 0 if the input does not have it
	Foreign    bool       // another program than the harness has run the hook
	Runner     harness.ID // that program, if it is a harness, too
	Mute       bool       // what the hook prints does not reach the model for sure
	Subagent   bool       // a helper inside the session asks, not the agent itself
	Busy       bool       // of a stop: work goes on in the background, the turn is not over
	Task       bool       // of a stop: the turn is over, but a command that the model has started runs in the background
}

var errNotAnObject = errors.New("the hook's input is not a JSON object")

// Decode reads the input that the harness id sent to a hook of the kind. A harness may
// run the hooks that it finds in the settings of another one: then the call says
// which of them it is. Unknown fields are ignored, and those that are missing or of another type left empty. The
// error says that data is not a JSON object.
func Decode(id harness.ID, kind harness.Kind, data []byte) (Call, error) {
	var in input
	if err := json.Unmarshal(data, &in); err != nil {
		return Call{}, err
	}
	if in == nil {
		return Call{}, errNotAnObject
	}
	h := harness.Get(id)
	for _, other := range harness.All() {
		if in.get(other.Input.Signature) != nil {
			h = other
		}
	}
	call := Call{Harness: h.ID, Kind: kind}
	var idle *bool
	var reply, reason, outcome string
	var tool input
	read(in, h.Input.Session, &call.SessionID)
	read(in, h.Input.Event, &call.Event)
	in.readFirst(h.Input.Dir, &call.Dir)
	read(in, h.Input.Tool, &call.Tool)
	read(in, h.Input.Repeated, &call.Repeated)
	read(in, h.Input.Idle, &idle)
	read(in, h.Input.Changed, &call.Changed)
	read(in, h.Input.Prompt, &call.PromptText)
	read(in, h.Input.Failure, &call.Failure)
	read(in, h.Input.Reply, &reply)
	read(in, h.Input.Reason, &reason)
	read(in, h.Input.Transcript, &call.Transcript)
	read(in, h.Input.Outcome, &outcome)
	for _, e := range h.Hooks.Events {
		here := e.Event == call.Event
		call.Prompt, call.Mute = call.Prompt || here && e.Prompt, call.Mute || here && e.Mute
	}
	read(in, h.Input.ToolInput, &tool)
	if !call.Prompt {
		call.PromptText = ""
	}
	call.Interrupt = kind == harness.KindStop &&
		(call.Event != "" && call.Event == h.Hooks.Interrupt || slices.Contains(h.Hooks.Cut, outcome))
	call.Reply = len(reply)
	call.GoesOn = kind == harness.KindSessionEnd && slices.Contains(h.Hooks.StaysAfter, reason)
	call.Busy = idle != nil && !*idle
	if call.Foreign = in.get(h.Input.Foreign) != nil; call.Foreign {
		for _, other := range harness.All() {
			if other.Input.Version == h.Input.Foreign {
				call.Runner = other.ID
			}
		}
	}
	call.Task = isRunning(in.get(h.Input.Tasks))
	call.readPaths(h.Input, tool)
	if kind == harness.KindShell || kind == harness.KindAsks || kind == harness.KindEdit && call.Paths == nil {
		call.readCommand(h.Input, tool) // an editor's has another meaning
	}
	if (kind == harness.KindAsks || kind == harness.KindShell) && call.Command == "" {
		read(in, h.Input.Asked, &call.Command)
	}
	helper := string(in.get(h.Input.Subagent))
	call.Subagent = helper != "" && helper != `""` && helper != "null"
	return call, nil
}

// readPaths reads the files that a tool would write from its input, as far as it names them.
func (c *Call) readPaths(h harness.HookInput, tool input) {
	for _, name := range h.Files {
		var path string
		if read(tool, name, &path); path != "" {
			c.Paths = append(c.Paths, c.absolute(path))
		}
	}
	var patch string
	if read(tool, h.Patch, &patch); c.Tool == "apply_patch" {
		for _, path := range shell.Patched(patch) {
			c.Paths = append(c.Paths, c.absolute(path))
		}
	}
}

// isRunning reports whether one of the tasks runs.
func isRunning(tasks json.RawMessage) bool {
	var list []struct{ Status string }
	_ = json.Unmarshal(tasks, &list)
	return slices.ContainsFunc(list, func(t struct{ Status string }) bool { return t.Status == "running" })
}

// readCommand reads the command of a shell and its directory from the input of a tool.
func (c *Call) readCommand(h harness.HookInput, tool input) {
	if c.Tool == "apply_patch" { // its patch has the name of a command
		return
	}
	for _, name := range h.Command {
		var list []string
		read(tool, name, &c.Command)
		if read(tool, name, &list); len(list) > 0 {
			c.Command = list[len(list)-1]
		}
	}
	for _, name := range h.CommandDir {
		var dir string
		if read(tool, name, &dir); dir != "" && c.Command != "" {
			c.Dir = c.absolute(dir)
		}
	}
}

// input is a hook's input, by field.
type input map[string]json.RawMessage

// get returns the field with that name, in which a dot leads into a nested object and a bar
// stands before another name, for where the first is not there or has nothing; nil if there is none.
func (in input) get(name string) json.RawMessage {
	if first, other, two := strings.Cut(name, "|"); two {
		if raw := in.get(first); raw != nil && string(raw) != "null" && string(raw) != `""` {
			return raw
		}
		return in.get(other)
	}
	outer, inner, nested := strings.Cut(name, ".")
	if !nested {
		return in[name]
	}
	var object input
	if json.Unmarshal(in[outer], &object) != nil {
		return nil
	}
	return object.get(inner)
}

// read decodes a field into target, and does nothing if there is no such field, or one of another type: what a
// harness has changed there says nothing of the others.
func read[T any](in input, name string, target *T) {
	var v T
	if json.Unmarshal(in.get(name), &v) == nil {
		*target = v
	}
}

// readFirst decodes a field that is a string, or a list whose first element counts.
func (in input) readFirst(name string, target *string) {
	var list []string
	read(in, name, target)
	if read(in, name, &list); len(list) > 0 {
		*target = list[0]
	}
}

func (c *Call) absolute(path string) string {
	if c.Dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}
