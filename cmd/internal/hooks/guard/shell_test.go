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
type room struct {
	stick Stick
	near  []Neighbour
}

func (r room) Held(_ context.Context, _ payload.Call, counts func(string) bool) []*Stick {
	if counts(r.stick.Root) {
		return []*Stick{&r.stick}
	}
	return nil
}

func (r room) Neighbours(context.Context, string, payload.Call) []Neighbour { return r.near }

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
		writes        int // that are recorded before
	}{
		{"another holds", "git stash", held, "`git stash` would change the tree of /w", 0},
		{"free", "git stash", with(func(s *Stick) { s.Holder = "" }), "", 0},
		{"reserved", "git stash", with(func(s *Stick) { s.Holder, s.ReservedFor = "", "c:3" }), "", 0},
		{"mine", "git stash", with(func(s *Stick) { s.Holder = "a:1" }), "", 1},
		{"mine, of which git is not asked", "echo x > a; rm -rf x out; cat a", with(func(s *Stick) { s.Holder = "a:1" }), "", 3},
		{"mine, and it is not known", "make; ./x", with(func(s *Stick) { s.Holder = "a:1" }), "", 1},
		{"mine, and it reads", "git status; cat a", with(func(s *Stick) { s.Holder = "a:1" }), "", 0},
		{"nobody's, and it destroys", "git reset --hard; echo x > a", with(func(s *Stick) { s.Holder = "" }), "", 1},
		{"a restore writes", "echo x > a", with(func(s *Stick) { s.Holder, s.Changing = "", true }), "at this moment", 0},
		{"an undo of its own writes", "echo x > a", with(func(s *Stick) { s.Holder, s.Changing = "a:1", true }), "at this moment", 0},
		{"a restore writes, and it reads", "cat a", with(func(s *Stick) { s.Holder, s.Changing = "", true }), "", 0},
		{"mine to take", "git reset --hard", with(func(s *Stick) { s.Holder, s.Take = "", true }), "", 0},
		{"for the holder", "git stash", with(func(s *Stick) { s.ActsForHolder = true }), "", 1},
		{"switched off", "git stash", with(func(s *Stick) { s.ShellGuard = false }), "", 0},
		{"ignored", "rm -rf out", held, "", 0},
		{"one of two ignored", "rm -rf out src", held, "`rm -r`", 0},
		{"elsewhere", "cd /tmp && git reset --hard", held, "", 1},
		{"above", "rm -rf /", held, "`rm -r`", 0},
		{"not known", "make; ./x", held, "", 0},
		{"a line and an escape in a path", "touch x", with(func(s *Stick) { s.Root = "/w\n\x1b" }), "the tree of /w\\n\\x1b, whose", 0},
		{"trouble", "git stash", with(func(s *Stick) { s.Trouble = "it is stopped. Do: kill -CONT 7" }), "free.\nIt is stopped. Do: kill -CONT 7", 0},
		{"trouble of one who held", "git stash", with(func(s *Stick) { s.Trouble = "a:1 is gone" }), "free.\na:1 is gone", 0},
		{"unconfirmed", "git stash", with(func(s *Stick) { s.Holder, s.Unconfirmed = "a:1", "since 12:00" }), "has not confirmed", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reason, writes, _ := Shell(t.Context(), shellCall(t, harness.ClaudeCode, tt.command), shell.Env{Dir: tt.stick.Root}, room{stick: tt.stick}, tree{"out"}.Ignored)
			if (reason == "") != (tt.says == "") || !strings.Contains(reason, tt.says) || len(writes) != tt.writes {
				t.Errorf("says %q, records %q, want %q and %d", reason, writes, tt.says, tt.writes)
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
			reason, _, _ := Shell(t.Context(), shellCall(t, id, command), shell.Env{Dir: "/w", Home: "/home/u"}, room{stick: stick}, tree{"x.pyc", "node_modules", "dist", "build", ".env", "target", "bin", ".venv"}.Ignored)
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

// TestShellStash: what moves the stash is refused where a session works in another tree of the
// repository, whoever holds here; a commit that is named by its hash is nobody's.
func TestShellStash(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	for command, refused := range map[string]bool{
		"git stash": true, "git stash -u": true, "git stash push -m x -- a": true, "git stash pop": true, "git stash pop --index stash@{1}": true,
		"git stash apply": true, "git stash apply 1": true, "git stash apply stash@{2}": true, "git stash drop": true, "git stash clear": true,
		"git stash save x": true, "git stash branch b": true, "git -C sub stash": true, "git st": true, "make && git stash": true,
		"git stash apply stash@{$n}": true, "git stash push " + hash: true,
		"git update-ref -d refs/stash": true, "git reflog delete stash@{0}": true, "git reflog expire --expire=now refs/stash": true,
		"git reflog expire --all": true, "git reflog show stash": false, "git reflog delete main@{1}": false,
		"git stash list": false, "git stash show -p": false, "git stash create": false, "git stash apply " + hash: false,
		"git stash apply --index " + hash[:12]: false, "git stash branch b " + hash: false, `git stash apply "$commit"`: false,
		"git commit -m stash": false, `echo "git stash"`: false, `"git stash"`: false, `git "stash pop"`: false,
	} {
		env := shell.Env{Dir: "/w", Alias: func(name string) string { return map[string]string{"st": "stash"}[name] }}
		for _, holder := range []string{"", "a:1"} {
			r := room{Stick{Root: "/w", Me: "a:1", Holder: holder, ShellGuard: true}, []Neighbour{{"b:2", "/v"}}}
			reason, _, _ := Shell(t.Context(), shellCall(t, harness.ClaudeCode, command), env, r, tree{}.Ignored)
			if strings.Contains(reason, "b:2 works in /v") != refused || !refused && reason != "" {
				t.Errorf("%s, held by %q: %q", command, holder, reason)
			}
		}
		off := room{Stick{Root: "/w", Me: "a:1"}, []Neighbour{{"b:2", "/v"}}}
		alone := room{Stick{Root: "/w", Me: "a:1", ShellGuard: true}, nil}
		for _, r := range []room{off, alone} {
			if reason, _, _ := Shell(t.Context(), shellCall(t, harness.ClaudeCode, command), env, r, tree{}.Ignored); reason != "" {
				t.Errorf("%s, %+v: %q", command, r, reason)
			}
		}
	}
}
