package ttcmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

// TestChildOfTheHolder: an agent that the holder runs in its shell acts for it, of whatever
// harness the two are. One of the same harness that the holder has not started does not.
func TestChildOfTheHolder(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	all := harness.All()
	for i, outer := range all {
		inners := all
		if testing.Short() { // itself, and another one
			inners = []*harness.Harness{outer, all[(i+1)%len(all)]}
		}
		t.Run(outer.Program, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			dir := t.TempDir()
			env := []string{"HOME=" + dir, "USER=tester", "TALKING_STICK_LEDGER=off", "TALKING_STICK_DATA_DIR=" + r.data, "PATH=" + dir + ":" + bin + ":/usr/bin:/bin"}
			script := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			run := func(h *harness.Harness) string { // in a process of the harness
				return fmt.Sprintf("env %s %s asks-%[2]s </dev/null", strings.Join(environment(h, "inner"), " "), h.Program)
			}
			hold := "cd " + dir + "\ntt wait --path " + r.workspace + " >/dev/null || exit\n"
			for _, inner := range inners {
				if err := os.Symlink(sh, filepath.Join(dir, inner.Program)); err != nil {
					t.Fatal(err)
				}
				asks := "tt check --json --path " + r.workspace + "\n"
				for kind, input := range payloads(t, inner, r.workspace) {
					script(inner.Program+"."+kind, input)
					asks += fmt.Sprintf("tt hook %s --harness %s <%s.%[1]s\n", kind, inner.ID, inner.Program)
				}
				asks += fmt.Sprintf("echo '{\"session_id\":\"inner\",\"cwd\":%q,\"hook_event_name\":\"SessionStart\"}' | tt hook session-start --harness %s\n",
					r.workspace, inner.ID)
				for _, line := range []string{"wait --timeout $LIMIT", "wait --inbox --timeout $LIMIT", "try"} {
					asks += "tt " + line + " --json --path " + r.workspace + "\n"
				}
				at := " --json --path " + r.workspace
				asks += "tt status" + at + "\ntt inbox" + at + "\n" // one without a session is the holder, whose turn this would end
				asks += "tt status" + at + " | grep -q acts_for && tt release --status s --next-action n" + at + " 2>&1\n"
				script("asks-"+inner.Program, asks)
				hold += "echo " + inner.Program + "\n" + "sh -c '" + run(inner) + "; :'\n"
			}
			script("holds", hold+"echo end\nread x\ntt release --path "+r.workspace+" --status s --next-action n >/dev/null\n")
			cmd := exec.Command(filepath.Join(dir, outer.Program), "holds")
			cmd.Dir, cmd.Env, cmd.Stderr = dir, append(append(env, "LIMIT=2m"), environment(outer, "outer")...), os.Stderr
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = stdin.Close(); _ = cmd.Wait() }()
			said, inner := map[string]string{}, ""
			for lines := bufio.NewScanner(stdout); inner != "end" && lines.Scan(); {
				if line := lines.Text(); strings.Contains(line, "{") {
					said[inner] += line + "\n"
				} else {
					inner = line
				}
			}
			for _, inner := range inners {
				if s := said[inner.Program]; !strings.Contains(s, `"holds":true`) || strings.Contains(s, "deny") || strings.Contains(s, "wait for your turn") {
					t.Errorf("%s runs %s: %s", outer.Program, inner.Program, s)
				}
				// One that has no session of its own is the holder itself.
				if n := strings.Count(said[inner.Program], " has started you: you act for it, do not wait"); n != 3 &&
					strings.Contains(said[inner.Program], "acts_for") {
					t.Errorf("%s runs %s, which waits for it: %s", outer.Program, inner.Program, said[inner.Program])
				}
				if n := strings.Count(said[inner.Program], "work for "); n != 3 && strings.Contains(said[inner.Program], "acts_for") {
					t.Errorf("%s runs %s, which is told to wait: %s", outer.Program, inner.Program, said[inner.Program])
				}
				stranger := exec.Command("sh", "-c", run(inner)+"; :")
				stranger.Dir, stranger.Env = dir, append(env, "LIMIT=0s")
				out, err := stranger.Output()
				if n := strings.Count(string(out), "deny"); err != nil || !strings.Contains(string(out), `"holds":false`) ||
					strings.Contains(string(out), "has started you") || n < len(payloads(t, inner, r.workspace)) {
					t.Errorf("%s that %s has not started: %v: %s", inner.Program, outer.Program, err, out)
				}
			}
		})
	}
}

// environment is what a harness adds to that of its commands.
func environment(h *harness.Harness, session string) []string {
	env := []string{h.Markers[0].Var + "=" + h.Markers[0].Value}
	if h.SessionVars != nil {
		env = append(env, h.SessionVars[0]+"="+session)
	}
	return env
}

// payloads are what a harness tells the hooks of edits and of its shell, if they have one,
// before they change a file of a workspace.
func payloads(t *testing.T, h *harness.Harness, workspace string) map[string]string {
	in := h.Input
	all := map[string]string{}
	for kind, args := range map[string]map[string]string{
		"edit":  {in.Files[0]: filepath.Join(workspace, "go.mod")},
		"shell": {"command": "rm go.mod"},
	} {
		tool := strings.Trim(strings.Split(h.Hooks.WriteTools+"|", "|")[0], "^()$")
		if kind == "shell" {
			tool = "Bash"
		}
		if kind == "shell" && in.Command == nil {
			continue
		}
		payload := map[string]any{}
		set := func(name string, v any) {
			if name == "" {
				return
			}
			name, _, _ = strings.Cut(name, "|")
			m := payload
			for outer, rest, ok := strings.Cut(name, "."); ok; outer, rest, ok = strings.Cut(name, ".") {
				if m[outer] == nil {
					m[outer] = map[string]any{}
				}
				m, name = m[outer].(map[string]any), rest
			}
			m[name] = v
		}
		set(in.Session, "inner")
		set(in.Event, "PreToolUse")
		set(in.Dir, workspace)
		set(in.Tool, tool)
		set(in.ToolInput, args)
		data, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		all[kind] = string(data)
	}
	return all
}
