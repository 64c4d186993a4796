// Package gitfile reads the files in which git says where a repository is and how it is
// configured. It starts no git process.
package gitfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Dir returns the git directory of the work tree whose top level is top, "" if it is none. A
// worktree and a submodule have a file .git, which names the directory.
func Dir(top string) string {
	git := filepath.Join(top, ".git")
	info, err := os.Stat(git)
	if err != nil {
		return ""
	}
	if info.IsDir() {
		return git
	}
	target, ok := strings.CutPrefix(FirstLine(git), "gitdir:")
	if !ok {
		return ""
	}
	return Absolute(strings.TrimSpace(target), top)
}

// Common returns the git directory that all work trees of a repository share, for that of one of
// them, "" for "".
func Common(git string) string {
	if git == "" {
		return ""
	}
	if common := FirstLine(filepath.Join(git, "commondir")); common != "" {
		return Absolute(common, git)
	}
	return git
}

// Absolute returns a path of git that may be relative to a directory.
func Absolute(path, base string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// Read reads a file that git writes by itself.
func Read(path string) ([]byte, error) {
	const most = 1 << 20
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return os.ReadFile(path)
}

// FirstLine returns the first line of a file, "" if it cannot be read.
func FirstLine(path string) string {
	b, _ := Read(path)
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// Config calls do with each setting of a configuration: of [section "name"] or [section.name], in
// lower case but for the name. What the file includes is for the caller to read.
func Config(path string, do func(section, name, key, value string)) {
	b, _ := Read(path)
	section, name := "", ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if head, rest, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(line, "[") {
			before, quoted, isQuoted := strings.Cut(head[1:], `"`)
			if section = strings.ToLower(strings.TrimSpace(before)); isQuoted {
				name = strings.TrimSuffix(strings.TrimSpace(quoted), `"`)
			} else {
				section, name, _ = strings.Cut(section, ".")
			}
			line = strings.TrimSpace(rest)
		}
		if key, value, _ := strings.Cut(line, "="); key != "" {
			do(section, name, strings.ToLower(strings.TrimSpace(key)), configValue(value))
		}
	}
}

// configValue returns what a value in a configuration means, without quotes and comments.
func configValue(s string) string {
	var b strings.Builder
	quoted, escaped := false, false
	for _, r := range strings.TrimSpace(s) {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && (r == '#' || r == ';'):
			return strings.TrimSpace(b.String())
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}
