package ttcmd

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
)

func TestAdviseUpdate(t *testing.T) {
	tests := []struct {
		path, installer, version string
		method, shell            string
		runnable                 bool
	}{
		{"/h/go/bin/tt", "", "v1.2.3", "go-install", "CGO_ENABLED=0 GOBIN=/h/go/bin go install github.com/talking-stick/tt/cmd/tt@latest", true},
		{"/h/it's here/tt", "", "v1.2.3", "go-install", `CGO_ENABLED=0 GOBIN='/h/it'\''s here' go install `, true},
		{"/h/x/tt", "", "v1.2.4-0.2026+dirty", "unknown", "go install", false},
		{"/h/x/tt", "", "(devel)", "unknown", "go install", false},
		{"/h/.local/bin/tt", "make", "v1.2.3", "make", "git pull && make install PREFIX=/h/.local", false},
		{"/opt/tt/tt", "make", "", "make", "install -m 0755 bin/tt /opt/tt", false},
		{"/opt/bin/tt", "archive", "", "archive", ".tar.gz | tar -xzf - -C /opt/bin --strip-components=2", false},
	}
	for _, tt := range tests {
		a := adviseUpdate(filepath.FromSlash(tt.path), tt.installer, tt.version)
		if a.Method != tt.method || !strings.Contains(filepath.ToSlash(a.Shell), tt.shell) || a.Runnable != tt.runnable || len(a.Command) == 0 {
			t.Errorf("%s %s %s: %+v", tt.path, tt.installer, tt.version, a)
		}
	}
}

// What is beside tt is updated with it: programs of one version go together.
func TestAdviseUpdateOfAll(t *testing.T) {
	dir := t.TempDir()
	for _, program := range []string{"tt-console", "agent-bus", "tt-natsd"} {
		if err := os.WriteFile(filepath.Join(dir, program), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const module = "github.com/talking-stick/tt/cmd/"
	const packages = "go install " + module + "tt@latest " + module + "tt-console@latest " + module + "agent-bus@latest"
	a := adviseUpdate(filepath.Join(dir, "tt"), "", "v1.2.3")
	if !a.Runnable || !strings.HasSuffix(a.Shell, packages) || !strings.HasSuffix(strings.Join(a.Command, " "), packages) || !strings.Contains(a.Note, module+"tt-natsd@latest") {
		t.Errorf("%+v", a)
	}
	a = adviseUpdate(filepath.Join(dir, "tt"), "make", "")
	if !strings.Contains(a.Shell, "bin/tt bin/tt-console bin/agent-bus "+dir) || !strings.Contains(a.Note, "make natsd") {
		t.Errorf("%+v", a)
	}
}

// An update is a change of version, so the registrations of older ones go.
func TestUpdateRemovesOldRegistrations(t *testing.T) {
	succeeds, err := exec.LookPath("true")
	if err != nil {
		t.Skip(err)
	}
	fails, err := exec.LookPath("false")
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", "") // no harness is started
	dir := t.TempDir()
	settings := filepath.Join(dir, ".config", "opencode", "opencode.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"mcp": {"talking-stick": {"type": "local", "command": ["tt", "mcp"], "enabled": true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := &cli.Env{
		Home: dir, Dir: dir, Lookup: func(string) string { return "" }, Stderr: io.Discard, Now: time.Now,
		Executable: func() (string, error) { return filepath.Join(dir, "tt"), nil },
	}
	call := &cli.Invocation{Env: env, Program: &cli.Program{Name: "tt", Version: "v2"}}
	if err := runUpdate(context.Background(), call, updateAdvice{Command: []string{fails}}); code.Of(err) != code.Internal {
		t.Errorf("%v", err)
	}
	if err := runUpdate(context.Background(), call, updateAdvice{Command: []string{succeeds}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(settings)
	if err != nil || strings.Contains(string(text), "talking-stick") {
		t.Errorf("%s, %v", text, err)
	}
}
