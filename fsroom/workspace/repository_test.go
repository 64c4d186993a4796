package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/talking-stick/tt/fsroom/workspace"
)

// git runs git in a directory, without the settings of the user.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// commit makes a repository with a commit.
func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
}

func at(t *testing.T, dir string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Locate(dir, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRepositoryOfATree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	top := tree(t, "main/sub/", "other/", "lib/", "plain/below/", "separate/", "bare/")
	in := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"main", "other", "lib"} {
		commit(t, in(dir))
	}
	git(t, in("main"), "worktree", "add", "-q", in("linked"), "-b", "feature/x")
	git(t, in("main"), "worktree", "add", "-q", "--detach", in("detached"))
	git(t, in("main"), "worktree", "add", "-q", in("moved"), "-b", "moved")
	git(t, in("main"), "submodule", "--quiet", "add", in("lib"), "mod")
	git(t, in("main/mod"), "worktree", "add", "-q", in("modtree"), "-b", "other")
	git(t, top, "clone", "-q", in("main"), "clone")
	git(t, in("bare"), "clone", "-q", "--bare", in("main"), "r.git")
	git(t, in("bare/r.git"), "worktree", "add", "-q", in("ofbare"), "main")
	git(t, in("separate"), "init", "-q", "--separate-git-dir", in("gitdir"))
	if err := os.Rename(in("moved"), in("elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in("linked"), in("link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"main": "main", "main/sub": "main", "linked": "main", "link": "main", "detached": "main", "elsewhere": "main",
		"main/mod": "main/.git/modules/mod", "modtree": "main/.git/modules/mod", "clone": "clone", "other": "other",
		"bare/r.git": "bare/r.git", "ofbare": "bare/r.git", "separate": "gitdir", "plain/below": "plain/below",
	} {
		if got := at(t, in(path)).Repository(); got != in(want) {
			t.Errorf("%s: %s, want %s", path, got, in(want))
		}
	}
	for path, want := range map[string]bool{
		"main": false, "main/mod": false, "clone": false, "separate": false, "plain": false, "bare/r.git": false,
		"linked": true, "detached": true, "elsewhere": true, "modtree": true, "ofbare": true,
	} {
		if got := at(t, in(path)).Linked(); got != want {
			t.Errorf("%s: linked is %v", path, got)
		}
	}

	siblings := func(path string, want ...workspace.Tree) {
		t.Helper()
		got := at(t, in(path)).Siblings()
		left := map[workspace.Tree]bool{}
		for _, tree := range got {
			left[tree] = true
		}
		for _, tree := range want {
			tree.Root = in(tree.Root)
			if !left[tree] {
				t.Errorf("%s: no %+v in %+v", path, tree, got)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %+v", path, got)
		}
	}
	siblings("main", workspace.Tree{Root: "linked", Branch: "feature/x"}, workspace.Tree{Root: "detached"})
	siblings("linked", workspace.Tree{Root: "main", Branch: "main"}, workspace.Tree{Root: "detached"})
	siblings("modtree", workspace.Tree{Root: "main/mod", Branch: "main"})
	siblings("ofbare")
	siblings("clone")
	siblings("plain")

	// A repository that is not there, as in a container that has the working tree alone, and a
	// directory that another repository has taken.
	if err := os.Rename(in("main"), in("away")); err != nil {
		t.Fatal(err)
	}
	if got := at(t, in("linked")).Repository(); got != in("linked") {
		t.Errorf("without its repository: %s", got)
	}
	if err := os.Rename(in("away"), in("main")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(in("detached")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(in("detached"), 0o755); err != nil {
		t.Fatal(err)
	}
	commit(t, in("detached"))
	siblings("main", workspace.Tree{Root: "linked", Branch: "feature/x"})
}

// TestHostileGitFiles: what is no repository leaves the workspace its own.
func TestHostileGitFiles(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "no key": "somewhere", "itself": "gitdir: .git", "nowhere": "gitdir: /nonexistent/.git/worktrees/x",
		"root": "gitdir: /", "nul": "gitdir: \x00", "long": "gitdir: " + string(make([]byte, 1<<16)),
	} {
		top := tree(t, "a/")
		if err := os.WriteFile(filepath.Join(top, "a", ".git"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		w := at(t, filepath.Join(top, "a"))
		if got := w.Repository(); got != w.Root || w.Linked() || len(w.Siblings()) > 0 {
			t.Errorf("%s: %s, %v, %v", name, got, w.Linked(), w.Siblings())
		}
	}
}
