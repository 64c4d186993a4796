package hook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

// runIn runs a hook's command as harnesses do, with a PATH of dir alone.
func runIn(t *testing.T, shell, dir, command string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(shell, "-c", command)
	cmd.Env = []string{"PATH=" + dir}
	cmd.Stdin = strings.NewReader(`{"cwd":"/w"}`)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: exit %v", command, err)
	}
	return out.String(), errs.String()
}

// fakeTT makes a tt in a directory of its own that runs script.
func fakeTT(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tt"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCommandFailsOpenAndSilent(t *testing.T) {
	shells := []string{}
	for _, name := range []string{"sh", "bash", "zsh"} {
		if path, err := exec.LookPath(name); err == nil {
			shells = append(shells, path)
		}
	}
	if len(shells) == 0 {
		t.Skip("no shell here")
	}
	allowed := func(id harness.ID) string {
		if id == harness.Antigravity {
			return permission + "\n"
		}
		return ""
	}
	for _, shell := range shells {
		for _, id := range harness.IDs() {
			for _, kind := range []Kind{Stop, Edit} {
				command := Command(id, kind)
				for name, dir := range map[string]string{
					"no tt":                    t.TempDir(),
					"a tt that knows no hooks": fakeTT(t, "echo usage >&2\nexit 2\n"),
					"a silent tt":              fakeTT(t, "exit 0\n"),
				} {
					out, errs := runIn(t, shell, dir, command)
					if out != allowed(id) || errs != "" {
						t.Errorf("%s, %s: stdout %q, stderr %q\n%s", shell, name, out, errs, command)
					}
				}
				out, _ := runIn(t, shell, fakeTT(t, `read -r line; printf '%s %s\n' "$*" "$line"`+"\n"), command)
				want := "hook " + string(kind) + " --harness " + string(id) + ` {"cwd":"/w"}` + "\n"
				if out != want {
					t.Errorf("%s: tt was asked %q, want %q", shell, out, want)
				}
			}
		}
	}
}

func TestOurs(t *testing.T) {
	for _, id := range harness.IDs() {
		if !Ours(Command(id, Stop), Stop) || !Ours(Command(id, Edit), Edit) || Ours(Command(id, Stop), Edit) {
			t.Errorf("%s: does not know its own commands", id)
		}
	}
	for _, other := range []string{"tt check", "echo tt hook", "my-tt hook stop"} {
		if Ours(other, Stop) {
			t.Errorf("claims %q", other)
		}
	}
}
