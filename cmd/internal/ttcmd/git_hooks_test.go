package ttcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// gitCommands are commands that are asked of git in the repository of gitTemplate.
const gitCommands = `git reset --hard
git reset --hard HEAD~1
git reset HEAD~1
git checkout -- .
git checkout -f other
git checkout -b nb
git checkout HEAD~1 -- a c
git switch --discard-changes other
git restore --staged .
git restore --source=HEAD~1 c
git stash
git stash -u
git stash pop
git stash drop
git clean -fdx
git add -A
git commit -q --no-verify -am x
git commit -qm x
git commit -qam x
git commit -q --amend --no-edit
git merge -q other
git merge -q --no-ff topic
git rebase other
git rebase --autostash other
git pull -q --rebase origin main
git pull -q --rebase --autostash origin main
git pull -q --no-rebase --no-edit origin main
git cherry-pick other
git revert --no-edit HEAD
git rm -qf a
git mv a z
git apply ../p.diff
git am ../p.mbox
git read-tree -u --reset HEAD~1
git checkout-index -a -f
git update-ref refs/heads/main HEAD~1
git symbolic-ref HEAD refs/heads/other
git branch -f main HEAD~1
git branch -D other
git tag v2
git fetch -q origin
git worktree add -q ../wt-X other
git bisect start HEAD HEAD~1
git sparse-checkout set sub
git reflog expire --expire=now --all
git status
git log --oneline -1`

// needsClean are those that git itself refuses while there is work in the tree.
var needsClean = regexp.MustCompile("rebase|merge|pull|pick|revert|git am|bisect")

// TestGitHooksTearNothing runs commands of git with the hooks of "tt install git", in a tree
// with work and in a clean one. What a hook refuses has changed nothing, and where the hook
// cannot or need not find out, it refuses nothing.
func TestGitHooksTearNothing(t *testing.T) {
	t.Parallel()
	template := gitTemplate(t)
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	checked := []string{
		"git commit -q --amend --no-edit", "git commit -qam x", "git commit -qm x",
		"git pull -q --rebase --autostash origin main", "git pull -q --rebase origin main", "git rebase --autostash other", "git rebase other",
	}
	if testing.Short() { // a commit, a pull and a rebase
		checked = []string{checked[2], checked[3], checked[6]}
	}
	places := []struct {
		name    string
		setup   string // of the repository, before the hooks are installed
		held    bool   // by another agent
		without bool   // there is no tt
		refused []string
	}{
		{name: "held", held: true, refused: checked},
		{name: "hooksPath", setup: "mkdir ../hooks; git config core.hooksPath ../hooks", held: true, refused: checked},
		{name: "no room"},
		{name: "no tt", held: true, without: true},
	}
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			copyTemplate(t, template, filepath.Join(top, "first", "w"))
			first := &rig{t: t, workspace: filepath.Join(top, "first", "w"), data: filepath.Join(top, "data")}
			run := func(dir, command string) *exec.Cmd {
				cmd := gitCommand(dir, "bash", "-c", command)
				path := bin + ":" + os.Getenv("PATH")
				if place.without { // nor where this runs
					path = strings.Join(slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
						_, err := os.Stat(filepath.Join(dir, "tt"))
						return err == nil
					}), ":")
				}
				cmd.Env = append(cmd.Env, "PATH="+path, "TALKING_STICK_DATA_DIR="+first.data, "TT_HARNESS_AGENT_ID=o:1", "USER=tester", "TALKING_STICK_LEDGER=off",
					"TT_HOOK_SECONDS=600")
				return cmd
			}
			tt := filepath.Join(bin, "tt")
			if out, err := run(first.workspace, place.setup+"\n"+tt+" install git").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			r := &rig{t: t, workspace: filepath.Join(top, "r", "w"), data: first.data}
			var refused []string
			before := map[string]string{} // what a copy is like
			commands := checked
			if place.name == "held" && !testing.Short() {
				commands = strings.Split(gitCommands, "\n")
			}
			for i, command := range commands {
				for _, clean := range []string{"", "git reset -q --hard; git clean -qfdx; "} {
					if clean != "" && !needsClean.MatchString(command) {
						continue
					}
					if err := os.RemoveAll(filepath.Join(top, "r")); err != nil {
						t.Fatal(err)
					}
					copyTemplate(t, filepath.Join(top, "first"), r.workspace)
					if i == 0 && clean == "" && place.held {
						if _, err := r.run("x:1", "wait"); err != nil {
							t.Fatal(err)
						}
					}
					dir := r.workspace
					if out, err := run(dir, clean+"git update-index -q --refresh; true").CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					if before[clean] == "" {
						before[clean] = gitState(t, dir)
					}
					out, _ := run(dir, command).CombinedOutput()
					if !strings.Contains(string(out), "refused, you do not hold") {
						continue
					}
					refused = append(refused, command)
					if gitState(t, dir) != before[clean] {
						t.Errorf("%s: refused, and yet something has changed", clean+command)
					}
				}
			}
			slices.Sort(refused)
			if refused = slices.Compact(refused); !slices.Equal(refused, place.refused) {
				t.Errorf("refused %q, want %q", refused, place.refused)
			}
		})
	}
}
