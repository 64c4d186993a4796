package guard

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/hooks/shell"
	"github.com/talking-stick/tt/identity/harness"
)

// A tree ignores what is below these names.
type tree []string

func (t tree) Ignored(_ context.Context, root string, paths []string) []bool {
	ignored := make([]bool, len(paths))
	for i, path := range paths {
		for _, name := range t {
			ignored[i] = ignored[i] || isWithin(filepath.Join(root, name), path)
		}
	}
	return ignored
}

// A room is the only one; what is elsewhere is in none.
type room struct{ stick Stick }

func (r room) Stick(_ context.Context, path string, _ payload.Call) (*Stick, error) {
	if isWithin(r.stick.Root, path) {
		return &r.stick, nil
	}
	return nil, nil
}

func shellCall(t *testing.T, id harness.ID, command string) payload.Call {
	t.Helper()
	input := map[string]any{"session_id": "s", "cwd": "/w", "tool_name": "Bash", "tool_input": map[string]any{"command": command}}
	data, _ := json.Marshal(input)
	call, err := payload.Decode(id, harness.KindShell, data)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func TestShell(t *testing.T) {
	held := Stick{Root: "/w", Me: "a:1", Holder: "b:2", Turn: 9, ShellGuard: true}
	with := func(change func(*Stick)) Stick {
		s := held
		change(&s)
		return s
	}
	for _, tt := range []struct {
		name, command string
		stick         Stick
		says          string
		own           int
	}{
		{"another holds", "git stash", held, "`git stash` would change the tree of /w", 0},
		{"free", "git stash", with(func(s *Stick) { s.Holder = "" }), "", 0},
		{"reserved", "git stash", with(func(s *Stick) { s.Holder, s.ReservedFor = "", "c:3" }), "", 0},
		{"mine", "git stash", with(func(s *Stick) { s.Holder = "a:1" }), "", 0},
		{"mine, and it destroys", "git reset --hard; rm -rf x out", with(func(s *Stick) { s.Holder = "a:1" }), "", 2},
		{"for the holder", "git stash", with(func(s *Stick) { s.ActsForHolder = true }), "", 0},
		{"switched off", "git stash", with(func(s *Stick) { s.ShellGuard = false }), "", 0},
		{"ignored", "rm -rf out", held, "", 0},
		{"one of two ignored", "rm -rf out src", held, "`rm -r`", 0},
		{"elsewhere", "cd /tmp && git reset --hard", held, "", 0},
		{"above", "rm -rf /", held, "`rm -r`", 0},
		{"not known", "make; ./x", held, "", 0},
		{"trouble", "git stash", with(func(s *Stick) { s.Trouble = "It is stopped. Do: kill -CONT 7" }), "free.\nIt is stopped. Do: kill -CONT 7", 0},
		{"unconfirmed", "git stash", with(func(s *Stick) { s.Holder, s.Unconfirmed = "a:1", "since 12:00" }), "has not confirmed", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reason, own, _ := Shell(t.Context(), shellCall(t, harness.ClaudeCode, tt.command), shell.Env{Dir: "/w"}, room{tt.stick}, tree{"out"}.Ignored)
			if (reason == "") != (tt.says == "") || !strings.Contains(reason, tt.says) || len(own) != tt.own {
				t.Errorf("says %q and %d of its own, want %q and %d", reason, len(own), tt.says, tt.own)
			}
		})
	}
}

// Every harness gives the guard its commands.
func TestShellOfEachHarness(t *testing.T) {
	data, err := os.ReadFile("../shell/testdata/corpus.tsv")
	if err != nil {
		t.Fatal(err)
	}
	stick := Stick{Root: "/w", Me: "a:1", Holder: "b:2", ShellGuard: true}
	n := 0
	for line := range strings.Lines(string(data)) {
		label, command, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if n++; n%10 != 0 || label == "may" {
			continue
		}
		command = strings.ReplaceAll(command, `\n`, "\n")
		for _, id := range []harness.ID{harness.ClaudeCode, harness.Codex, harness.Gemini, harness.OpenCode} {
			reason, _, _ := Shell(t.Context(), shellCall(t, id, command), shell.Env{Dir: "/w", Home: "/home/u"}, room{stick}, tree{"x.pyc", "node_modules", "dist", "build", ".env", "target", "bin", ".venv"}.Ignored)
			if (reason != "") != (label == "write") {
				t.Errorf("%s: %s %q: %s", id, label, command, reason)
			}
		}
	}
}

// TestTextSizes: a model reads these texts, so their sizes are known.
func TestTextSizes(t *testing.T) {
	s := &Stick{Root: "/w", Holder: "codex:2", Turn: 9}
	shell := func() int { return len(shellRefused(&Change{Effect: shell.Effect{Op: "git stash"}, Stick: s}, s)) }
	if n := shell(); n != 217 {
		t.Errorf("a command: %d bytes", n)
	}
	s.Next = func() string { return "You are second. End your turn: you are called when it is yours." }
	if n := shell(); n != 241 {
		t.Errorf("a command of a session that is called: %d bytes", n)
	}
	if n := len(heldByOther(s, s)); n != 155 {
		t.Errorf("an edit: %d bytes", n)
	}
}
