package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/talking-stick/tt/skills/harness"
)

// A Call is what a harness asks.
type Call struct {
	Harness   harness.ID // whose way of answering to use
	Kind      Kind
	SessionID string   // the harness's own session id; "" if it did not say
	Dir       string   // where the agent works; "" if it did not say
	Tool      string   // of an edit, the tool's name
	Paths     []string // of an edit, the files it would write, absolute where Dir is known
	Repeated  bool     // of a stop: the agent is already going on because a stop guard made it
	Subagent  bool     // a helper inside the session asks, not the agent itself
	Busy      bool     // of a stop: work goes on in the background, the turn is not over
}

// A payload is the union of what the harnesses send. Most speak Claude Code's
// dialect, in snake_case. Grok sends camelCase, and also runs the hooks it finds
// in Claude Code's settings; Antigravity has a format of its own.
type payload struct {
	SessionID      string          `json:"session_id"`
	Cwd            string          `json:"cwd"`
	ToolName       string          `json:"tool_name"`
	ToolInput      json.RawMessage `json:"tool_input"`
	StopHookActive bool            `json:"stop_hook_active"`
	AgentID        string          `json:"agent_id"` // present only inside a subagent

	GrokEvent          string          `json:"hookEventName"`
	GrokSession        string          `json:"sessionId"`
	GrokTool           string          `json:"toolName"`
	GrokInput          json.RawMessage `json:"toolInput"`
	GrokSubagent       string          `json:"subagentType"`
	GrokStopHookActive bool            `json:"stopHookActive"`

	Conversation string   `json:"conversationId"`
	Workspaces   []string `json:"workspacePaths"`
	ToolCall     struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"toolCall"`
	FullyIdle *bool `json:"fullyIdle"`
}

var errNotAnObject = errors.New("the hook's payload is not a JSON object")

// Decode reads the payload that the harness id sent to the guard kind. Fields it
// does not know are ignored, and missing ones left empty; only what is no JSON
// object is an error.
func Decode(id harness.ID, kind Kind, data []byte) (Call, error) {
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' {
		return Call{}, errNotAnObject
	}
	var p payload
	if err := json.Unmarshal(data, &p); err != nil {
		return Call{}, err
	}
	if p.GrokEvent != "" {
		id = harness.Grok
	}
	call := Call{Harness: id, Kind: kind}
	switch id {
	case harness.Grok:
		call.fromGrok(p)
	case harness.Antigravity:
		call.fromAntigravity(p)
	default:
		call.fromClaude(p)
	}
	for i, path := range call.Paths {
		call.Paths[i] = call.absolute(path)
	}
	return call, nil
}

func (c *Call) fromClaude(p payload) {
	c.SessionID, c.Dir, c.Tool = p.SessionID, p.Cwd, p.ToolName
	c.Repeated, c.Subagent = p.StopHookActive, p.AgentID != ""
	c.Paths = written(p.ToolName, p.ToolInput)
}

func (c *Call) fromGrok(p payload) {
	c.SessionID, c.Dir, c.Tool = p.GrokSession, p.Cwd, p.GrokTool
	c.Repeated, c.Subagent = p.GrokStopHookActive, p.GrokSubagent != ""
	c.Paths = written(p.GrokTool, p.GrokInput)
}

func (c *Call) fromAntigravity(p payload) {
	c.SessionID, c.Tool = p.Conversation, p.ToolCall.Name
	if len(p.Workspaces) > 0 {
		c.Dir = p.Workspaces[0]
	}
	c.Busy = p.FullyIdle != nil && !*p.FullyIdle
	c.Paths = written(p.ToolCall.Name, p.ToolCall.Args)
}

func (c *Call) absolute(path string) string {
	if c.Dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}
