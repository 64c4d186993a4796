package ttcmd

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var wholeMatrix = flag.Bool("matrix", false, "ask with the payload of every harness for each command, not of one in turn")

// destructive are commands that change the tree, the index or the branches of gitTemplate.
const destructive = `git reset --hard
git reset --hard HEAD~1
git checkout -- .
git checkout -f other
git checkout HEAD~1 -- a
git switch --discard-changes other
git restore .
git restore --staged --worktree .
git clean -fdx
git stash
git stash -u
git stash drop
git stash clear
git add -A && git commit -qm x
git commit -qam x
git rm -qrf sub
git merge -q other
git rebase --autostash other
git pull -q --rebase --autostash origin main
git cherry-pick other
git apply ../p.diff
git read-tree -u --reset HEAD~1
git update-ref refs/heads/main other
git branch -f topic other
rm -rf sub
mv sub a.d
cp /dev/null a
sed -i 's/a/b/' a
perl -pi -e 's/a/b/' a
echo x > a
truncate -s 0 a
find . -name a -delete
git ls-files 'a*' | xargs sed -i 's/a/b/'
tee a < /dev/null
for f in a b; do echo > "$f"; done
python3 -c 'import os; os.remove("a")'`

// wrappings are ways to run a command, as the arguments of a format: the command, and the
// command as a word of the shell.
var wrappings = []string{
	"%[1]s",
	"cd sub && cd .. && %[1]s",
	"bash -c %[2]s",
	"bash <<'EOF'\n%[1]s\nEOF",
	"env X=1 sh -c %[2]s",
}

// TestDestructiveCommands asks the hook for each command in each wrapping, with the payload of
// each harness in turn, and runs what it permits: the work of the holder must stay as it is.
// The holder itself is refused nothing.
func TestDestructiveCommands(t *testing.T) {
	t.Parallel()
	template := gitTemplate(t)
	commands := strings.Split(destructive, "\n")
	every := 4 // of one harness; the others have the rest
	if testing.Short() {
		every *= 3
	}
	tools := []struct{ harness, tool string }{{"claude-code", "Bash"}, {"codex", "Bash"}, {"gemini", "run_shell_command"}, {"opencode", "bash"}}
	for n, tool := range tools {
		t.Run(tool.harness, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.workspace = filepath.Join(t.TempDir(), "w")
			copyTemplate(t, template, r.workspace)
			before := gitState(t, r.workspace)
			refuses := func(session, command string) bool {
				payload, err := json.Marshal(map[string]any{"session_id": session, "cwd": r.workspace, "tool_name": tool.tool, "tool_input": map[string]string{"command": command}})
				if err != nil {
					t.Fatal(err)
				}
				cmd := r.command("", "hook", "shell", "--harness", tool.harness)
				cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
				cmd.Stdin = strings.NewReader(string(payload))
				out, err := cmd.Output()
				if err != nil {
					t.Error(err)
				}
				return len(out) > 0
			}
			hold := func(env ...string) {
				cmd := r.command("", "wait")
				cmd.Env = append(cmd.Env, env...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			hold("TT_HARNESS_AGENT_ID=x:1")
			asked := 0
			each := func(do func(command string)) {
				for i, command := range commands {
					for j, wrapping := range wrappings {
						if *wholeMatrix || (i+j)%every == n {
							asked++
							do(fmt.Sprintf(wrapping, command, "'"+strings.ReplaceAll(command, "'", `'\''`)+"'"))
						}
					}
				}
			}
			each(func(command string) {
				if refuses("other", command) {
					return
				}
				_ = gitCommand(r.workspace, "bash", "-c", command).Run()
				if gitState(t, r.workspace) != before {
					t.Errorf("permitted to another, with losses: %q", command)
					copyTemplate(t, template, r.workspace)
				}
			})
			if _, err := r.run("x:1", "release", "--status", "s", "--next-action", "n"); err != nil {
				t.Fatal(err)
			}
			h := map[string][]string{
				"claude-code": {"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=holder"},
				"codex":       {"CODEX_THREAD_ID=holder"},
				"gemini":      {"GEMINI_CLI=1", "GEMINI_SESSION_ID=holder"},
				"opencode":    {"OPENCODE=1", "OPENCODE_RUN_ID=holder"},
			}
			hold(append(h[tool.harness], "TT_HARNESS_AGENT_ID=")...)
			each(func(command string) {
				if refuses("holder", command) {
					t.Errorf("refused to the holder: %q", command)
				}
			})
			t.Logf("asked %d times", asked)
		})
	}
}

// gitTemplate returns a directory with a repository in which work is modified, staged, stashed,
// untracked and ignored.
func gitTemplate(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := filepath.Join(t.TempDir(), "t", "w")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const setup = `git init -q --template= . && git symbolic-ref HEAD refs/heads/main && echo bin/ > .gitignore && for f in a b c d; do echo $f > $f; done && mkdir sub && echo s > sub/s && git add -A && git commit -qm 1 &&
echo a2 >> a && git commit -qam 2 && git branch other HEAD~1 && git checkout -q other && echo o > o && echo b2 >> b && git add -A && git commit -qm other &&
git format-patch -q -1 --stdout > ../p.mbox && git diff HEAD~1 > ../p.diff && git checkout -q main && git branch topic && echo c2 >> c && git commit -qam 3 && git tag v1 &&
echo stashed >> d && git stash -q && git clone -q --template= --bare . ../up.git && git remote add origin ../up.git && git fetch -q && git -C ../up.git update-ref refs/heads/main other &&
echo WORK >> a && echo STAGED >> sub/s && git add sub/s && echo NEW > new.txt && mkdir bin && echo BIN > bin/x`
	if out, err := gitCommand(dir, "sh", "-c", setup).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Dir(dir)
}

// copyTemplate puts a fresh copy of the repository at dir, and what is beside it beside it.
func copyTemplate(t *testing.T, template, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-R", template+"/.", filepath.Dir(dir)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// gitCommand is a command in a repository with an environment of its own.
func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(dir), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_EDITOR=true", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}
	return cmd
}

// gitState returns the files of a tree, its index, its branches and its stash.
func gitState(t *testing.T, dir string) string {
	t.Helper()
	out, err := gitCommand(dir, "sh", "-c", `find . -path ./.git -prune -o -type f -print -exec cat {} +; git ls-files -s; git for-each-ref --format='%(refname) %(objectname)' refs/heads refs/tags; git rev-parse HEAD; git symbolic-ref -q HEAD; git stash list --format=%H`).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
