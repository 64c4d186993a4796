package skills

import (
	"bytes"
	"path/filepath"

	"github.com/talking-stick/tt/skills/harness"
	"github.com/talking-stick/tt/skills/hook"
)

// guardSeconds is how long a harness waits for a guard, which takes a few
// milliseconds, before it goes on without.
const guardSeconds = 10

// guardsName is what messages call the stop guard and the edit guard together.
const guardsName = "guards"

// writeTools are the tools that write files, by the names that the harness's
// matcher is compared with.
func writeTools(id harness.ID) string {
	switch id {
	case harness.ClaudeCode:
		return "Edit|MultiEdit|Write|NotebookEdit"
	case harness.Codex:
		return "^(apply_patch|Edit|Write)$"
	case harness.Gemini:
		return "^(write_file|replace)$"
	case harness.Antigravity:
		return "write_to_file|replace_file_content|multi_replace_file_content"
	case harness.Grok:
		return "^(Edit|Write|MultiEdit|NotebookEdit|search_replace|write)$" // todo_write is none
	}
	return ""
}

func runGuard(id harness.ID, kind hook.Kind) handler {
	h := handler{Type: "command", Command: hook.Command(id, kind), Timeout: guardSeconds}
	if id == harness.Gemini {
		h.Name, h.Timeout = Name+"-"+string(kind), guardSeconds*1000
	}
	return h
}

func stopGroup(id harness.ID) group { return group{Hooks: []handler{runGuard(id, hook.Stop)}} }

func editGroup(id harness.ID) group {
	return group{Matcher: writeTools(id), Hooks: []handler{runGuard(id, hook.Edit)}}
}

// guards returns the guards of a harness.
func (e Environment) guards(id harness.ID) []part {
	root := e.root(id)
	switch id {
	case harness.ClaudeCode:
		return []part{groupGuards(id, filepath.Join(root, "settings.json"), "Stop", "PreToolUse")}
	case harness.Gemini:
		return []part{groupGuards(id, filepath.Join(root, "settings.json"), "AfterAgent", "BeforeTool")}
	case harness.Codex:
		return []part{
			oldBlock{filepath.Join(root, "config.toml")},
			groupGuards(id, filepath.Join(root, "hooks.json"), "Stop", "PreToolUse"),
		}
	case harness.Antigravity:
		if filepath.Base(root) == "config" { // the first editor has no hooks
			return []part{antigravityGuards(root)}
		}
	case harness.OpenCode:
		return []part{wholeFile{guardsName, filepath.Join(root, "plugins", Name+".js"), openCodePlugin}}
	case harness.Grok:
		return []part{wholeFile{guardsName, filepath.Join(root, "hooks", Name+".json"), grokHooks()}}
	}
	return nil
}

func groupGuards(id harness.ID, file, stopEvent, editEvent string) settingsFile {
	return settingsFile{file, []entry{
		{[]string{"hooks", stopEvent}, hook.Stop, stopGroup(id)},
		{[]string{"hooks", editEvent}, hook.Edit, editGroup(id)},
	}}
}

func antigravityGuards(root string) settingsFile {
	id := harness.Antigravity
	value := namedHook{PreToolUse: []group{editGroup(id)}, Stop: []handler{runGuard(id, hook.Stop)}}
	return settingsFile{filepath.Join(root, "hooks.json"), []entry{{path: []string{Name}, value: value}}}
}

// grokHooks is a file of its own: Grok reads every JSON file in its hooks directory.
func grokHooks() string {
	var file struct {
		Hooks struct {
			PreToolUse []group `json:"PreToolUse"`
		} `json:"hooks"`
	}
	file.Hooks.PreToolUse = []group{editGroup(harness.Grok)}
	return indented(file)
}

// remarks are what people should know after the guards were installed.
func (e Environment) remarks(id harness.ID) []string {
	var remarks []string
	switch id {
	case harness.Codex:
		remarks = append(remarks, "approve the guards once with /hooks in Codex")
		if config, _ := read(filepath.Join(e.root(id), "config.toml")); !bytes.Contains(config, []byte(e.DataDir)) {
			remarks = append(remarks, "if its sandbox keeps tt from writing, add "+e.DataDir+" to writable_roots under [sandbox_workspace_write] in config.toml")
		}
	case harness.Grok:
		remarks = append(remarks, "Grok has no hook that can hold back a stop, so there is no stop guard")
	case harness.OpenCode:
		remarks = append(remarks, "restart OpenCode to load the guards")
	case harness.Antigravity:
		if len(e.guards(id)) == 0 {
			remarks = append(remarks, "this edition of Antigravity has no hooks, so there are no guards")
		}
	}
	if _, err := e.LookPath("tt"); err != nil {
		remarks = append(remarks, "tt is not on the PATH, and until it is the guards let everything pass")
	}
	return remarks
}
