package githook

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// hooksDir returns the directory in which git looks for the hooks of the
// repository that dir is in, and a note if that is not the usual one. A
// directory that the user's own configuration sets is refused: it is for all
// repositories.
func hooksDir(dir, home string) (hooks, note string, err error) {
	top, gitDir, err := repository(dir)
	if err != nil {
		return "", "", err
	}
	common := commonDir(gitDir)
	configured, err := hooksPath(filepath.Join(common, "config"))
	if err != nil {
		return "", "", err
	}
	if configured == "" {
		return filepath.Join(common, "hooks"), "", refuseGlobal(home)
	}
	if rest, ok := strings.CutPrefix(configured, "~/"); ok {
		configured = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(configured) {
		configured = filepath.Join(top, configured) // hooks run at the top of the working tree
	}
	return configured, "core.hooksPath of this repository is " + configured, nil
}

func refuseGlobal(home string) error {
	for _, config := range []string{".gitconfig", filepath.Join(".config", "git", "config")} {
		path := filepath.Join(home, config)
		if set, err := hooksPath(path); err == nil && set != "" {
			return code.New(code.Usage, "git looks for the hooks of all repositories in %s", set).
				WithHint("%s says so; run \"tt check\" from the hook there, or set core.hooksPath for this repository", path)
		}
	}
	return nil
}

// repository returns the top of the working tree that dir is in and its git
// directory, following the .git file of a worktree or a submodule.
func repository(dir string) (top, gitDir string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		info, err := os.Stat(git)
		if err == nil {
			if info.IsDir() {
				return at, git, nil
			}
			gitDir, err := gitFile(git)
			return at, gitDir, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", "", err
		}
		if at == filepath.Dir(at) {
			return "", "", code.New(code.Usage, "%s is in no git repository", dir).
				WithHint("run it inside the repository whose commits are to be checked")
		}
	}
}

// gitFile returns the directory that a .git file points to.
func gitFile(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if !ok {
		return "", code.New(code.Usage, "%s is no git directory", path)
	}
	target = strings.TrimSpace(target)
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return target, nil
}

// commonDir returns the directory that all worktrees of a repository share;
// config and hooks are there.
func commonDir(gitDir string) string {
	data, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	common := strings.TrimSpace(string(data))
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	return filepath.Clean(common)
}

// hooksPath returns core.hooksPath from a git config file, "" if it is not set.
// Includes and the user's own config are not followed.
func hooksPath(config string) (string, error) {
	file, err := os.Open(config)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	section, value := "", ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if rest, ok := strings.CutPrefix(line, "["); ok {
			name, after, _ := strings.Cut(rest, "]")
			section, line = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(after)
		}
		name, text, ok := strings.Cut(line, "=")
		if ok && section == "core" && strings.EqualFold(strings.TrimSpace(name), "hooksPath") {
			value = unquote(text)
		}
	}
	return value, nil
}

// unquote reads a config value: quotes go, escapes count, a comment ends it.
func unquote(text string) string {
	var out strings.Builder
	quoted := false
	text = strings.TrimSpace(text)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(out.String())
		default:
			out.WriteByte(c)
		}
	}
	return strings.TrimSpace(out.String())
}
