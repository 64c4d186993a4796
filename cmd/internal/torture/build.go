//go:build linux

package torture

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// An edit replaces a piece of a source file, which has to be there once. Without an old
// piece it makes a new file. File is relative to the root of the repository, or absolute.
type edit struct{ File, Old, New string }

// build builds the program in a directory of the repository, such as cmd/tt, from edited sources, whose
// files stay as they are: go build is given others in their place. It sets the program's path.
func (e *env) build(built *string, program string, edits ...edit) error {
	path := filepath.Join(e.base, filepath.Base(program))
	*built = path
	root, err := root()
	if err != nil {
		return err
	}
	var replaced struct{ Replace map[string]string }
	replaced.Replace = map[string]string{}
	for i, edit := range edits {
		source := edit.File
		if !filepath.IsAbs(source) {
			source = filepath.Join(root, source)
		}
		edited := fmt.Sprintf("%s-%d.go", path, i)
		text, err := edit.apply(cmp.Or(replaced.Replace[source], source))
		if err == nil {
			err = os.WriteFile(edited, []byte(text), 0o600)
		}
		if err != nil {
			return err
		}
		replaced.Replace[source] = edited
	}
	b, err := json.Marshal(replaced)
	if err == nil {
		err = os.WriteFile(path+"-overlay.json", b, 0o600)
	}
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-overlay", path+"-overlay.json", "-o", path, ".")
	cmd.Dir = filepath.Join(root, filepath.FromSlash(program)) // which may be in a module of its own
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %v\n%s", program, err, out)
	}
	return nil
}

// root returns the root of the repository, in which the caller runs.
func root() (string, error) {
	top, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/talking-stick/tt").Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	return strings.TrimSpace(string(top)), nil
}

func (e edit) apply(path string) (string, error) {
	if e.Old == "" {
		return e.New, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(b), e.Old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times: the edit does not fit it any more", e.File, e.Old, n)
	}
	return strings.Replace(string(b), e.Old, e.New, 1), nil
}
