package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/talking-stick/tt/"

// A listed package is what go list says of it.
type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
	GoFiles    []string
	Dir        string
}

func list(t *testing.T, args ...string) map[string]listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps,GoFiles,Dir"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	packages := make(map[string]listed)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[strings.TrimPrefix(p.ImportPath, module)] = p
	}
}

// below says which packages of ours each may import. A name stands for what is
// under it too.
var below = map[string][]string{
	"journal/wire":          {},
	"journal/event":         {"journal/wire"},
	"journal":               {"journal/event", "journal/wire", "lockfile"},
	"lockfile":              {},
	"fsroom/code":           {},
	"fsroom/turn":           {"fsroom/code", "journal/event", "journal/wire"},
	"fsroom/topic":          {"fsroom/code", "journal/event"},
	"fsroom":                {"fsroom/code", "journal", "lockfile"},
	"fsroom/doctor":         {"fsroom", "journal", "lockfile"},
	"fsroom/workspace":      {"fsroom/code"},
	"identity/harness":      {"fsroom/code"},
	"identity":              {"fsroom/code", "identity/harness"},
	"skills":                {"skills", "fsroom/code", "identity/harness", "lockfile"},
	"cmd/internal/cli":      {"fsroom/code", "journal/wire"},
	"cmd/internal/member":   {"cmd/internal/roomtypes", "fsroom", "journal", "identity"},
	"cmd/internal":          {"cmd/internal", "fsroom", "journal", "lockfile", "identity", "skills"},
	"cmd/tt":                {"cmd/internal/ttcmd"},
	"cmd/agent-bus":         {"cmd/agent-bus", "cmd/internal", "fsroom", "journal", "lockfile", "identity"},
	"fsroom/fsroomtest":     {"fsroom", "journal", "lockfile"},
	"identity/identitytest": {"identity"},

	"fsroom/topic/topictest": {"fsroom/topic", "journal/event"},
}

// allowed is the most exact entry for a package.
func allowed(path string) ([]string, bool) {
	for p := path; p != ""; {
		if list, ok := below[p]; ok {
			return list, true
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			break
		}
		p = p[:i]
	}
	return nil, false
}

func within(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return path == r || strings.HasPrefix(path, r+"/") })
}

func TestArrowsPointDown(t *testing.T) {
	for path, p := range list(t, module+"...") {
		may, known := allowed(path)
		if !known {
			t.Errorf("%s is not in the table of layers", path)
		}
		for _, imported := range p.Imports {
			ours, found := strings.CutPrefix(imported, module)
			if found && !within(ours, may) {
				t.Errorf("%s imports %s, which is not below it", path, ours)
			}
		}
	}
}

// The rules see neither disk nor clock nor process.
func TestRulesArePure(t *testing.T) {
	for path, p := range list(t, module+"fsroom/turn", module+"fsroom/topic") {
		for _, imported := range p.Imports {
			if slices.Contains([]string{"os", "os/exec", "io/fs", "path/filepath", "sync", "syscall", "net", "math/rand", "crypto/rand"}, imported) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
		for _, name := range p.GoFiles {
			out, err := exec.Command("grep", "-nE", `time\.(Now|Since|Until|Sleep|After|NewTimer)\(`, p.Dir+"/"+name).Output()
			if err == nil {
				t.Errorf("%s/%s reads a clock:\n%s", path, name, out)
			}
		}
	}
}

// What tt links decides how fast it starts.
func TestWhatIsLinked(t *testing.T) {
	tt := list(t, module+"cmd/tt")["cmd/tt"]
	for _, dep := range tt.Deps {
		for _, heavy := range []string{"net/http", "database/sql", "html/template", "text/template", "github.com/shirou/gopsutil", "github.com/modelcontextprotocol"} {
			if dep == heavy || strings.HasPrefix(dep, heavy+"/") {
				t.Errorf("tt links %s", dep)
			}
		}
	}
	for path, p := range list(t, "-e", module+"...") {
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "github.com/shirou/gopsutil") && path != "identity" {
				t.Errorf("%s imports gopsutil", path)
			}
		}
	}
}
