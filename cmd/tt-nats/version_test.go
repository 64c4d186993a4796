package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
)

// TestVersionsDiffer: a tt-nats of another version than the tt that becomes it says so, with
// both versions, but not to a prompt and not to a harness.
func TestVersionsDiffer(t *testing.T) {
	natstest.Program(t) // only where programs are built
	bin := t.TempDir()
	for program, version := range map[string]string{"tt": "v9.0.0", "tt-nats": "v0.1.0", "tt-console": "v9.0.0"} {
		cmd := exec.Command("go", "build", "-ldflags", "-X main.version="+version, "-o", bin, "github.com/talking-stick/tt/cmd/"+program)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	const warning = "tt: warning: tt-nats is v0.1.0, but tt is v9.0.0\n"
	home := t.TempDir()
	for _, test := range []struct {
		line  string
		warns bool
	}{
		{"status", true},
		{"list --json", true},
		{"version", false}, // which needs no engine
		{"status --prompt", false},
		{"hook stop --harness claude-code", false},
	} {
		cmd := exec.Command(filepath.Join(bin, "tt"), strings.Fields(test.line)...)
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"HOME=" + home, "USER=tester", "TALKING_STICK_ENGINE=nats://127.0.0.1:1/none", "TALKING_STICK_ROOM=acme/api"}
		cmd.Stdin = strings.NewReader("{}")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		_ = cmd.Run() // the engine is away
		if got := strings.Contains(stderr.String(), warning); got != test.warns {
			t.Errorf("tt %s: %q", test.line, stderr.String())
		}
	}
}
