package hook

import (
	"encoding/json"
	"strings"
)

// A target is where the write tools of the harnesses name their file.
type target struct {
	FilePath     string `json:"file_path"`     // Claude Code, Gemini CLI, Grok
	NotebookPath string `json:"notebook_path"` // Claude Code's notebooks
	CamelPath    string `json:"filePath"`      // OpenCode
	Target       string `json:"TargetFile"`    // Antigravity
	TargetFile   string `json:"target_file"`   // Grok
	Path         string `json:"path"`          // Grok
	Command      string `json:"command"`       // Codex: a patch
	PatchText    string `json:"patchText"`     // OpenCode: a patch
}

// written returns the files that a tool with this input would write, as the
// input names them; none if it does not tell.
func written(tool string, input json.RawMessage) []string {
	var t target
	if json.Unmarshal(input, &t) != nil {
		return nil
	}
	var paths []string
	for _, p := range []string{t.FilePath, t.NotebookPath, t.CamelPath, t.Target, t.TargetFile, t.Path} {
		if p != "" {
			paths = append(paths, p)
		}
	}
	if tool == "apply_patch" {
		paths = append(paths, patched(t.Command)...)
		paths = append(paths, patched(t.PatchText)...)
	}
	return paths
}

// patched returns the files that a patch in the format of apply_patch touches.
func patched(patch string) []string {
	var paths []string
	for line := range strings.Lines(patch) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if path, ok := strings.CutPrefix(line, mark); ok {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}
