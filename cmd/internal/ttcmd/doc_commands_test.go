package ttcmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A scratch is a place to run commands as they stand in the documentation: a home
// with two harnesses, a data directory, and a workspace.
type scratch struct {
	t   *testing.T
	dir string // the workspace
	env []string
}

func newScratch(t *testing.T, env ...string) *scratch {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scratch{t: t, dir: filepath.Join(root, "ws")}
	for _, dir := range []string{s.dir, filepath.Join(root, "home", ".claude"), filepath.Join(root, "home", ".codex")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(root, "data")
	s.env = append([]string{"PATH=" + programPath(t), "HOME=" + filepath.Join(root, "home"), "USER=tester", "TALKING_STICK_LEDGER=off", "TALKING_STICK_DATA_DIR=" + data, "TALKING_STICK_DISABLE_MCP_MIGRATION=1"}, env...)
	t.Cleanup(func() {
		if err := endStrays("TALKING_STICK_DATA_DIR=" + data); err != nil {
			t.Error(err)
		}
	})
	return s
}

// command is a script for the shell, as an agent's harness runs one. It ends at
// the first command that fails.
func (s *scratch) command(script string, env ...string) *exec.Cmd {
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = s.dir, append(append([]string{}, s.env...), env...)
	return cmd
}

// run runs a script that must succeed and returns its output.
func (s *scratch) run(script string, env ...string) string {
	s.t.Helper()
	cmd := s.command(script, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s\n%v\n%s%s", script, err, out, stderr.String())
	}
	return string(out)
}

// A block is a fenced block of a document.
type block struct{ language, text string }

func blocks(document string) []block {
	var found []block
	for rest := document; ; {
		_, after, ok := strings.Cut(rest, "\n```")
		if !ok {
			return found
		}
		language, body, _ := strings.Cut(after, "\n")
		text, next, _ := strings.Cut("\n"+body, "\n```")
		found = append(found, block{language, strings.TrimPrefix(text, "\n")})
		rest = next
	}
}
