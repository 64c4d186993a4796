// Package workspace tells which directory a command is about: the canonical form
// of a path, the root of the workspace the path is in, and the directory in which
// the user's rooms are kept.
package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// A Workspace is the place in the file system that a path belongs to.
type Workspace struct {
	Requested string // as given, made absolute
	Path      string // canonical: absolute, no symlinks, a file's parent, true casing
	Root      string // canonical: the nearest git top-level, else the nearest marker, else Path
	// Lost is Requested, canonical, if that is a link or a file by name: a room of this path has
	// lost its directory. Else it is "".
	Lost string
	// Shared is the name by which all hosts know the room of Root, see [SharedName]; "" for
	// a room of this host.
	Shared string
	// Outer returns the workspace around a shared one, nil if none there has a name that
	// other hosts know. It may be nil.
	Outer func() *Workspace
}

// markers returns the files that make their directory a workspace root where no
// directory above has a .git.
func markers() []string {
	return []string{"CLAUDE.md", "AGENTS.md", "package.json", "pyproject.toml", "Cargo.toml", "go.mod", ".talking-stick/room"}
}

// Locate returns the workspace of a path, which is relative to dir. home is the
// home directory of the user: a marker file right in it does not make it the root
// of directories below it, or unrelated directories would share one room.
//
// dir is "" if the current directory was removed; path must then be absolute. If
// nothing exists at path, Locate returns an error and also the workspace that the
// missing directory belonged to, because its room may still exist.
func Locate(path, dir, home string) (*Workspace, error) {
	if dir == "" && !filepath.IsAbs(path) {
		return nil, code.New(code.Usage, "the current directory is gone").
			WithHint("go to another directory, or name the workspace with --path, also one that was removed")
	}
	w := &Workspace{Requested: path}
	if path == "" {
		w.Requested = dir
	} else if !filepath.IsAbs(path) {
		w.Requested = filepath.Join(dir, path)
	}
	canonical, err := canonicalDir(w.Requested)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.Path = Canonical(w.Requested + "/.")
		w.Root = root(w.Path, home)
		return w, badPath(w.Requested, err)
	case err != nil:
		return nil, badPath(w.Requested, err)
	}
	w.Path = canonical
	w.Root = root(canonical, home)
	if info, err := os.Lstat(w.Requested); path != "" && err == nil && !info.IsDir() {
		w.Lost = Canonical(w.Requested)
	}
	return w, nil
}

func badPath(path string, err error) error {
	what := err.Error()
	var system *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		what = "there is no such file or directory"
	case errors.Is(err, fs.ErrPermission):
		what = "permission denied"
	case errors.As(err, &system): // without the system call, and the path once
		what = system.Err.Error()
	case strings.HasPrefix(what, "EvalSymlinks"):
		what = "too many symbolic links"
	}
	return code.New(code.Usage, "cannot use the path %q: %s", path, what).
		WithHint("name an existing directory, or a file in it").With("path", path).Because(err)
}

// Canonical returns the canonical form of a path, as far as the directories on the way to it are there. If it is a link itself, it
// stays one.
func Canonical(path string) string {
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return filepath.Join(Canonical(dir), filepath.Base(path))
	}
	return filepath.Join(trueCase(real), filepath.Base(path))
}

// canonicalDir returns the canonical form of a directory, or of that of a file.
func canonicalDir(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		real = filepath.Dir(real)
	}
	return trueCase(real), nil
}

// root returns the workspace root of a directory. The home directory is looked at only where
// it may matter, since most workspaces are found before.
func root(path, home string) string {
	for dir := range ancestors(path) {
		if exists(filepath.Join(dir, ".git")) {
			return dir
		}
	}
	for dir := range ancestors(path) {
		marked := slices.ContainsFunc(markers(), func(m string) bool { return exists(filepath.Join(dir, m)) })
		if marked && (dir == path || home == "" || dir != Canonical(home+"/.")) {
			return dir
		}
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// ancestors yields path and every directory above it.
func ancestors(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			if !yield(path) {
				return
			}
			up := filepath.Dir(path)
			if up == path {
				return
			}
			path = up
		}
	}
}

// Chain returns the directories from Path up to Root, the deepest first: those of
// which this path may use the room.
func (w *Workspace) Chain() []string {
	var dirs []string
	for dir := range ancestors(w.Path) {
		dirs = append(dirs, dir)
		if dir == w.Root {
			break
		}
	}
	return dirs
}

// Identity returns what the name of the room of a directory is computed from: the path,
// or what all hosts call it.
func (w *Workspace) Identity(dir string) string {
	if w == nil || w.Shared == "" {
		return dir
	}
	if w.ByID() {
		return w.Shared
	}
	below, err := filepath.Rel(w.Root, dir)
	if err == nil && !filepath.IsLocal(below) && w.Outer != nil {
		return w.Outer().Identity(dir)
	}
	if err == nil && below != "." {
		return w.Shared + "/" + filepath.ToSlash(below)
	}
	return w.Shared
}

// ByID reports whether the workspace is that of a room which was named by its room_id. Such
// a room is never made: nobody else would know it by a name.
func (w *Workspace) ByID() bool { return w != nil && strings.HasPrefix(w.Shared, ByID) }

// Above returns the directories above Root, the nearest first; for a shared workspace those
// whose rooms have a name that other hosts know them by.
func (w *Workspace) Above() []string {
	var dirs []string
	if w.Shared != "" {
		if w.Outer == nil {
			return nil
		}
		outer := w.Outer()
		if outer == nil {
			return nil
		}
		return append(outer.Chain(), outer.Above()...)
	}
	for dir := range ancestors(w.Root) {
		if dir != w.Root {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// DataDir returns the data directory, in which rooms are kept, from the environment.
func DataDir(lookup func(string) string, home string) (string, error) {
	const variable = "TALKING_STICK_DATA_DIR"
	if d := lookup(variable); d != "" {
		return GivenDataDir(variable, d)
	}
	// The XDG specification says that a relative XDG_DATA_HOME must be ignored.
	if d := lookup("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "talking-stick"), nil
	}
	if home == "" {
		return "", code.New(code.DataDirUnusable, "there is no home directory to keep rooms in").
			WithHint("set HOME or TALKING_STICK_DATA_DIR")
	}
	if _, err := GivenDataDir("HOME", home); err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "share", "talking-stick"), nil
}

// GivenDataDir returns the data directory that an environment variable names. It
// refuses a relative path: agents in two directories of one workspace would use
// different data directories.
func GivenDataDir(variable, path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", code.New(code.DataDirUnusable, "%s is not an absolute path: %q", variable, path).
			WithHint("give the whole path; a ~ at its start is not expanded in every file that sets variables").With("path", path)
	}
	return filepath.Clean(path), nil
}
