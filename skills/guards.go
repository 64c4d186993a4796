package skills

import (
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/skills/block"
	"github.com/talking-stick/tt/skills/harness"
	"github.com/talking-stick/tt/skills/hook"
)

// guardSeconds is how long a harness waits for a guard, which takes a few
// milliseconds, before it goes on without.
const guardSeconds = 10

const (
	stopGuard  = "stop guard"
	editGuard  = "edit guard"
	bothGuards = "guards"
)

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

// guards returns the guards of a harness, as parts to install.
func (e Environment) guards(id harness.ID) []part {
	root := e.root(id)
	switch id {
	case harness.ClaudeCode:
		return groupGuards(id, filepath.Join(root, "settings.json"), "Stop", "PreToolUse")
	case harness.Gemini:
		return groupGuards(id, filepath.Join(root, "settings.json"), "AfterAgent", "BeforeTool")
	case harness.Codex:
		if e.codexKeepsHooksInTOML() {
			return []part{e.codexTOML()}
		}
		return e.codexJSON()
	case harness.Antigravity:
		if filepath.Base(root) != "config" { // the first editor has no hooks
			return nil
		}
		return []part{e.antigravityGuards()}
	case harness.OpenCode:
		return []part{wholeFile{bothGuards, filepath.Join(root, "plugins", Name+".js"), openCodePlugin}}
	case harness.Grok:
		return []part{wholeFile{editGuard, filepath.Join(root, "hooks", Name+".json"), grokHooks()}}
	}
	return nil
}

// allGuards returns the guards of a harness wherever they may be, as parts to
// uninstall.
func (e Environment) allGuards(id harness.ID) []part {
	if id == harness.Codex {
		return append(e.codexJSON(), e.codexTOML())
	}
	return e.guards(id)
}

func groupGuards(id harness.ID, file, stopEvent, editEvent string) []part {
	return []part{
		jsonGuard{stopGuard, hook.Stop, file, []string{"hooks", stopEvent}, stopGroup(id)},
		jsonGuard{editGuard, hook.Edit, file, []string{"hooks", editEvent}, editGroup(id)},
	}
}

func (e Environment) codexJSON() []part {
	return groupGuards(harness.Codex, filepath.Join(e.root(harness.Codex), "hooks.json"), "Stop", "PreToolUse")
}

func (e Environment) codexTOML() tomlGuards {
	body := tomlBody([]string{"Stop", "PreToolUse"}, []group{stopGroup(harness.Codex), editGroup(harness.Codex)})
	return tomlGuards{bothGuards, filepath.Join(e.root(harness.Codex), "config.toml"), body}
}

// codexKeepsHooksInTOML reports whether the guards belong into config.toml:
// they are there, or the user's hooks are and none are in hooks.json.
func (e Environment) codexKeepsHooksInTOML() bool {
	root := e.root(harness.Codex)
	config, err := os.ReadFile(filepath.Join(root, "config.toml"))
	if err != nil {
		return false
	}
	if _, there := block.Body(config); there {
		return true
	}
	_, err = os.Stat(filepath.Join(root, "hooks.json"))
	return err != nil && keepsHooks(config)
}

func (e Environment) antigravityGuards() memberGuards {
	id := harness.Antigravity
	return memberGuards{bothGuards, filepath.Join(e.root(id), "hooks.json"), namedHook{
		PreToolUse: []group{editGroup(id)},
		Stop:       []handler{runGuard(id, hook.Stop)},
	}}
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
