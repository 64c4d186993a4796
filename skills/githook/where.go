package githook

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// hooksDir returns the directory in which git looks for the hooks of the repository
// that contains dir, and a note if it is not the usual one. A directory that is
// configured outside the repository is an error: other repositories use it, too.
func hooksDir(dir string) (hooks, note string, err error) {
	// Hooks run at the top of the working tree, and relative paths start there.
	top, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", "", err
	}
	hooks, err = git(top, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return "", "", err
	}
	if !filepath.IsAbs(hooks) {
		hooks = filepath.Join(top, hooks)
	}
	scope, err := git(top, "config", "--show-scope", "--get", "core.hooksPath")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // it is not set
		return hooks, "", nil
	}
	if err != nil {
		return "", "", err
	}
	if scope, _, _ = strings.Cut(scope, "\t"); scope != "local" && scope != "worktree" {
		return "", "", code.New(code.Usage, "git looks for the hooks of other repositories, too, in %s", hooks).
			WithHint("\"git config --show-origin core.hooksPath\" says who set it; run \"tt check\" from the hook there, or set " +
				"core.hooksPath for this repository")
	}
	return hooks, "core.hooksPath of this repository is " + hooks, nil
}

// git runs git in dir and returns what it prints, without the line end.
func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	switch {
	case err == nil:
		return strings.TrimRight(string(out), "\r\n"), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", code.New(code.Usage, "there is no git on the PATH").WithHint("install git").Because(err)
	case strings.Contains(said, "not a git repository"):
		return "", code.New(code.Usage, "%s is in no git repository", dir).
			WithHint("run it inside the repository whose commits are to be checked").Because(err)
	}
	return "", code.New(code.Usage, "git %s: %s", strings.Join(args, " "), said).
		WithHint("git says so in %s; put that right first", dir).Because(err)
}
