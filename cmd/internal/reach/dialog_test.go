//go:build linux

package reach

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDialog opens a real dialog for a permission in Claude Code: tt why says so at once.
func TestDialog(t *testing.T) {
	h := claude
	h.args = []string{"--permission-mode", "acceptEdits", "--allowedTools", "Bash(tt *)"}
	if os.Getenv(h.variable) == "" {
		t.Skipf("%s does not name the program", h.variable)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	model := newStandIn(t, nil)
	step, asked := 0, make(chan time.Time, 1)
	model.script = func(_, text, result string) action {
		switch {
		case step == 0 && strings.Contains(text, "go"):
			step = 1
			return action{input: map[string]any{"description": "join", "command": "tt join"}}
		case step == 1 && result != "":
			step = 2
			asked <- time.Now()
			return action{input: map[string]any{"description": "push", "command": "git push origin main"}}
		}
		return action{text: "done"}
	}
	w := &world{t: t, h: h, program: os.Getenv(h.variable), home: root + "/home", data: root + "/data", dir: root + "/w", bin: root + "/bin", model: model, session: "session-1"}
	for _, dir := range []string{w.home, w.dir, w.bin} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	must(t, exec.Command("git", "init", "-q", w.dir).Run())
	if out, err := exec.Command("go", "build", "-o", w.bin+"/", "github.com/talking-stick/tt/cmd/tt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := h.files(w)
	files[".profile"] = "PATH=" + w.bin + ":$PATH\n"
	for name, text := range files {
		path := filepath.Join(w.home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	w.tt("", "install", h.id, "--no-bus")
	t.Cleanup(w.endAll)
	name, args := w.command()
	w.screen = startTerminal(t, w.dir, w.environ(h.env(w)...), name, args...)
	w.screen.await(0, 3*time.Minute, h.ready)
	time.Sleep(2 * time.Second)
	w.screen.enter("session-1 go")
	var began time.Time
	select {
	case began = <-asked:
	case <-time.After(time.Minute):
		t.Fatalf("the model was not asked; shown is\n%s", tail(w.screen.screen()))
	}
	for time.Since(began) < 20*time.Second {
		if strings.Contains(w.tt("b:1", "why", "--json"), `"what":"asks"`) {
			if took := time.Since(began); took > h.limit {
				t.Errorf("in why after %v", took)
			} else {
				t.Logf("in why after %v", took)
			}
			return
		}
	}
	t.Errorf("not in why; shown is\n%s", tail(w.screen.screen()))
}
