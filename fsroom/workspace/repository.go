package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom/gitfile"
)

// Repository returns the directory that stands for the git repository of the workspace. It
// is the same for all working trees of one repository on this host: the directory of the
// main working tree if the repository is its .git, else the repository itself, which is so
// for bare ones, for submodules and for separate git directories. It is Root where there is
// no git repository. No git process is started.
func (w *Workspace) Repository() string {
	common := commonDir(w.Root)
	switch {
	case common == "":
		return w.Root
	case filepath.Base(common) == ".git":
		return filepath.Dir(common)
	}
	return common
}

// Linked reports whether the workspace is a working tree that was added to a repository,
// and not its main one.
func (w *Workspace) Linked() bool {
	git := gitfile.Dir(w.Root)
	return git != "" && exists(filepath.Join(git, "commondir"))
}

// A Tree is a working tree of a repository.
type Tree struct {
	Root       string
	Branch     string // "" if no branch is checked out
	Unreadable bool   // the caller may not look into it
}

// Siblings returns the other working trees of the repository on this host, the main one
// first. A tree that is not at its place is left out.
func (w *Workspace) Siblings() []Tree {
	common := commonDir(w.Root)
	if common == "" {
		return nil
	}
	var trees []Tree
	add := func(root, git string) {
		real, err := canonicalDir(root)
		if err == nil {
			_, err = os.Stat(filepath.Join(real, ".git"))
			root = real
		}
		unreadable := errors.Is(err, fs.ErrPermission)
		if root == w.Root || !unreadable && commonDir(root) != common {
			return
		}
		head, _ := strings.CutPrefix(gitfile.FirstLine(filepath.Join(git, "HEAD")), "ref: ")
		branch, _ := strings.CutPrefix(head, "refs/heads/")
		if branch == head {
			branch = ""
		}
		trees = append(trees, Tree{root, branch, unreadable})
	}
	if filepath.Base(common) == ".git" {
		add(filepath.Dir(common), common)
	} else if top := configured(common, "core", "", "worktree"); top != "" { // a submodule
		add(gitfile.Absolute(top, common), common)
	}
	entries, _ := os.ReadDir(filepath.Join(common, "worktrees"))
	for _, e := range entries {
		git := filepath.Join(common, "worktrees", e.Name())
		if link := gitfile.FirstLine(filepath.Join(git, "gitdir")); link != "" {
			add(filepath.Dir(gitfile.Absolute(link, git)), git)
		}
	}
	return trees
}

// commonDir returns the git directory that all working trees of a repository share, in its
// canonical form, "" where there is no repository. dir is the top level of one of them.
func commonDir(dir string) string {
	git := gitfile.Common(gitfile.Dir(dir))
	if git == "" {
		return ""
	}
	git, err := filepath.EvalSymlinks(git)
	if err != nil || !isRepository(git) {
		return ""
	}
	return trueCase(git)
}

// isRepository tells a repository by what git tells it by.
func isRepository(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if !exists(filepath.Join(dir, name)) {
			return false
		}
	}
	return true
}
