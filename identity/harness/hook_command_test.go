package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	allowed := func(id ID, kind Kind) string {
		if id == Antigravity {
			return Get(id).Silence(kind) + "\n"
		}
		return ""
	}
	for n, shell := range shells {
		tried := map[string]bool{} // by what they are but for the names in them
		for _, id := range IDs() {
			for _, kind := range Kinds() {
				command := HookCommand(id, kind)
				shape := strings.NewReplacer("hook "+string(kind), "hook KIND", string(id), "ID").Replace(command)
				if n > 0 && tried[shape] {
					continue
				}
				tried[shape] = true
				for name, dir := range map[string]string{
					"no tt":                    t.TempDir(),
					"a tt that knows no hooks": fakeTT(t, "echo usage >&2\nexit 2\n"),
					"a silent tt":              fakeTT(t, "exit 0\n"),
				} {
					out, errs := runIn(t, shell, dir, command)
					if out != allowed(id, kind) || errs != "" {
						t.Errorf("%s, %s: stdout %q, stderr %q\n%s", shell, name, out, errs, command)
					}
				}
				out, _ := runIn(t, shell, fakeTT(t, `[ "$3" = --help ] && exit; read -r line; printf '%s %s\n' "$*" "$line"`+"\n"), command)
				want := "hook " + string(kind) + " --harness " + string(id) + ` {"cwd":"/w"}` + "\n"
				if out != want {
					t.Errorf("%s: tt was asked %q, want %q", shell, out, want)
				}
			}
		}
	}
}

// A hook that may wake an agent gives the harness the status of tt and what it says.
func TestCommandThatWakes(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	for _, kind := range []Kind{KindFileChanged, KindListen} {
		cmd := exec.Command(sh, "-c", HookCommand(ClaudeCode, kind))
		cmd.Env = []string{"PATH=" + fakeTT(t, `[ "$3" = --help ] && exit; echo news >&2; exit 2`)}
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 2 || errs.String() != "news\n" {
			t.Errorf("%s: %v %q", kind, err, errs.String())
		}
	}
}

// Users of Codex approve a command by its digest, and a harness may keep it in a
// settings file that nothing brings up to date: the texts do not change.
func TestCommandsStayAsTheyAre(t *testing.T) {
	const here = "command -v tt >/dev/null 2>&1 && "
	for want, got := range map[string]string{
		here + "tt hook stop --harness codex 2>/dev/null || true":                                                       HookCommand(Codex, KindStop),
		here + "tt hook context --harness codex 2>/dev/null || true":                                                    HookCommand(Codex, KindContext),
		here + "tt hook session-end --harness gemini 2>/dev/null || true":                                               HookCommand(Gemini, KindSessionEnd),
		here + "tt hook listen --harness gemini 2>/dev/null || true":                                                    HookCommand(Gemini, KindListen),
		here + "tt hook session-start --harness claude-code 2>/dev/null || true":                                        HookCommand(ClaudeCode, KindSessionStart),
		here + "tt hook file-changed --help >/dev/null 2>&1 && exec tt hook file-changed --harness claude-code; exit 0": HookCommand(ClaudeCode, KindFileChanged),
		here + "tt hook listen --help >/dev/null 2>&1 && exec tt hook listen --harness claude-code; exit 0":             HookCommand(ClaudeCode, KindListen),
		"tt_says=$(" + here + "tt hook context --harness antigravity 2>/dev/null) || tt_says=; " +
			`[ -n "$tt_says" ] || tt_says='{}'; printf '%s\n' "$tt_says"`: HookCommand(Antigravity, KindContext),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestIsHookCommand(t *testing.T) {
	for _, id := range IDs() {
		if !IsHookCommand(HookCommand(id, KindStop), KindStop) || !IsHookCommand(HookCommand(id, KindEdit), KindEdit) || IsHookCommand(HookCommand(id, KindStop), KindEdit) {
			t.Errorf("%s: does not know its own commands", id)
		}
	}
	for _, other := range []string{"tt check", "echo tt hook", "my-tt hook stop"} {
		if IsHookCommand(other, KindStop) {
			t.Errorf("claims %q", other)
		}
	}
}
