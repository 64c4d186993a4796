package payload

import (
	"encoding/json"

	"github.com/talking-stick/tt/cmd/internal/hooks/shell"
	"github.com/talking-stick/tt/identity/harness"
)

// written returns the files that tool would write with this input, as the input
// names them; nil if it does not.
func written(names harness.HookInput, tool string, toolInput json.RawMessage) []string {
	in, err := readInput(toolInput)
	if err != nil {
		return nil
	}
	var paths []string
	for _, name := range names.Files {
		var path string
		if in.read(name, &path) == nil && path != "" {
			paths = append(paths, path)
		}
	}
	var patch string
	if tool == "apply_patch" && in.read(names.Patch, &patch) == nil {
		paths = append(paths, shell.Patched(patch)...)
	}
	return paths
}
