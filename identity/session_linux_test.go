package identity

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Real process trees: a copy of the shell under the harness's name runs the
// test binary as "tt whoami" in the ways harnesses do.

// inShells are command lines that end in running $TT, from shallow to deep.
var inShells = []string{
	`"$TT"; true`,
	`exec "$TT"`,
	`sh -c '"$TT"; true'; true`,
	`sh -c 'exec "$TT"'; true`,
	`bash -c 'sh -c "sh -c \"\$TT; true\"; true"; true'; true`,
}

func TestRealSession(t *testing.T) {
	harness := copyAs(t, "sh", "claude")
	for _, marks := range [][]string{{"CLAUDECODE=1"}, {"TT_HARNESS_EXPORT=1"}} {
		env := cleanEnv("whoami", append(marks, "TT="+executable(t), "STY=x")...)
		returning := append(inShells[:1:1], inShells[2:]...) // exec does not return
		// One harness process that runs all the lines, each after the other.
		out := run(t, env, harness, "-c", strings.Join(returning, "\n"))
		ids := map[string]bool{}
		for _, line := range out {
			ids[line] = true
		}
		if len(out) != 4 || len(ids) != 1 {
			t.Errorf("%v: one session gave %q", marks, out)
		}
	}
}

// run runs a command and returns id and anchor of each whoami in it.
func run(t *testing.T, env []string, command ...string) []string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	var ids []string
	for line := range strings.Lines(string(out)) {
		var r report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		ids = append(ids, r.Agent.ID+" "+r.Agent.Anchor)
	}
	return ids
}

func TestRealSessionsDiffer(t *testing.T) {
	harness := copyAs(t, "sh", "claude")
	env := cleanEnv("whoami", "CLAUDECODE=1", "TT="+executable(t))
	one := whoami(t, env, harness, "-c", inShells[0])
	two := whoami(t, env, harness, "-c", inShells[0])
	if one.Agent.ID == two.Agent.ID {
		t.Errorf("two sessions are %s", one.Agent.ID)
	}
	if one.Agent.Root == nil || System().Verdict(*one.Agent.Root) != Gone {
		t.Errorf("the root of an ended session is not gone: %v", one.Agent.Root)
	}
}

func TestRealExecKeepsTheSession(t *testing.T) {
	harness := copyAs(t, "sh", "codex")
	env := cleanEnv("whoami", "CODEX_MANAGED_BY_NPM=1", "TT="+executable(t), "HARNESS="+harness)
	out := run(t, env, harness, "-c", `"$TT"; exec "$HARNESS" -c '"$TT"; true'`)
	if len(out) != 2 || out[0] != out[1] {
		t.Errorf("before and after exec: %q", out)
	}
}

func TestRealScripts(t *testing.T) {
	const shell = "#!/bin/sh\n\"$TT\"\n"
	for _, c := range []struct {
		interpreter, path, text string
		want                    string
	}{
		{"", "claude", shell, "claude"},
		{"sh", "bin/claude", shell, "claude"},
		{"bash", "gemini.sh", shell, "gemini"},
		{"sh", "claude/run.sh", shell, ""},
		{"node", "claude", nodeScript, "claude"},
		{"node", "node_modules/@google/gemini-cli/dist/index.js", nodeScript, "gemini"},
		{"node", "node_modules/@google/gemini-cli-core/dist/index.js", nodeScript, ""},
	} {
		t.Run(c.interpreter+" "+c.path, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.text), 0o700); err != nil {
				t.Fatal(err)
			}
			command := []string{path}
			if c.interpreter != "" {
				interpreter, err := exec.LookPath(c.interpreter)
				if err != nil {
					t.Skipf("SKIPPED: no %s here", c.interpreter)
				}
				command = []string{interpreter, path}
			}
			r := whoami(t, cleanEnv("whoami", "TT_HARNESS_EXPORT=1", "TT="+executable(t)), command...)
			if r.Agent.Harness != c.want {
				t.Errorf("%q, want %q; %+v", r.Agent.Harness, c.want, r.Agent)
			}
			if c.want != "" && (r.Agent.Root == nil || r.Agent.Root.PID == r.Self.PID) {
				t.Errorf("root %v", r.Agent.Root)
			}
		})
	}
}

const nodeScript = `require("child_process").spawnSync(process.env.TT, [], {stdio: "inherit"})`

func TestRealParent(t *testing.T) {
	env := cleanEnv("whoami", "GEMINI_CLI=1", "TT="+executable(t))
	ids := map[string]bool{}
	for _, line := range inShells { // a fresh shell for each
		ids[whoami(t, env, "sh", "-c", line).Agent.ID] = true
	}
	ids[whoami(t, env, executable(t)).Agent.ID] = true
	if len(ids) != 1 {
		t.Errorf("one calling process gave %v", ids)
	}
}

func TestRealSessionID(t *testing.T) {
	env := cleanEnv("whoami", "CODEX_THREAD_ID=x")
	one, two := whoami(t, env, executable(t)), whoami(t, append(env, "TT="+executable(t)), "sh", "-c", inShells[4])
	if one.Agent.ID != two.Agent.ID || !one.Agent.SessionExported {
		t.Errorf("%+v and %+v", one.Agent, two.Agent)
	}
}
