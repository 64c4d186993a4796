//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// An edit replaces a piece of a source file, which has to be there once. Without
// an old piece it makes a new file.
type edit struct{ file, old, new string }

// oneThread makes tt do its work on one thread: strace counts the calls of each
// thread on their own.
var oneThread = edit{file: "cmd/tt/one_thread.go", new: "package main\n\nimport \"runtime\"\n\nfunc init() { runtime.LockOSThread() }\n"}

// build builds tt under a name from edited sources. The files of the repository
// stay as they are: go build is given others in their place.
func (e *env) build(name string, edits ...edit) (string, error) {
	top, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("go list: %v", err)
	}
	path := filepath.Join(e.base, name)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for i, edit := range append(edits, oneThread) {
		source := filepath.Join(strings.TrimSpace(string(top)), edit.file)
		edited := fmt.Sprintf("%s-%d.go", path, i)
		text, err := edit.apply(cmp.Or(overlay.Replace[source], source))
		if err == nil {
			err = os.WriteFile(edited, []byte(text), 0o600)
		}
		if err != nil {
			return "", err
		}
		overlay.Replace[source] = edited
	}
	b, err := json.Marshal(overlay)
	if err == nil {
		err = os.WriteFile(path+"-overlay.json", b, 0o600)
	}
	if err != nil {
		return "", err
	}
	return path, goBuild(path, "tt", "-overlay", path+"-overlay.json")
}

func goBuild(path, program string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", path, "github.com/talking-stick/tt/cmd/"+program)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %v\n%s", program, err, out)
	}
	return nil
}

func (e edit) apply(path string) (string, error) {
	if e.old == "" {
		return e.new, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(b), e.old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times: the mutant does not fit it any more", e.file, e.old, n)
	}
	return strings.Replace(string(b), e.old, e.new, 1), nil
}
