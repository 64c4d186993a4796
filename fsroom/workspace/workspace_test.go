package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// tree makes files and directories (with a slash at their end) under a new
// directory and returns its canonical path.
func tree(t *testing.T, paths ...string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if w, err := workspace.Locate(top, top, ""); err != nil || w.Root != top {
		t.Skipf("temporary directories are in a workspace: %+v, %v", w, err)
	}
	for _, p := range paths {
		full := filepath.Join(top, filepath.FromSlash(p))
		dir := filepath.Dir(full)
		if p[len(p)-1] == '/' {
			dir = full
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir == full {
			continue
		}
		if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// TestWorkspaceRoot: paths are relative to the tree; home is one of them too.
func TestWorkspaceRoot(t *testing.T) {
	tests := map[string]struct {
		tree       []string
		home       string
		path       string
		want, root string
	}{
		"nothing":                     {[]string{"a/b/"}, "home", "a/b", "a/b", "a/b"},
		"git directory":               {[]string{"a/.git/", "a/b/c/"}, "home", "a/b/c", "a/b/c", "a"},
		"git file of a worktree":      {[]string{"a/.git", "a/b/"}, "home", "a/b", "a/b", "a"},
		"the nearest git":             {[]string{"a/.git/", "a/b/.git", "a/b/c/"}, "home", "a/b/c", "a/b/c", "a/b"},
		"in the git root":             {[]string{"a/.git/"}, "home", "a", "a", "a"},
		"CLAUDE.md":                   {[]string{"a/CLAUDE.md", "a/b/"}, "home", "a/b", "a/b", "a"},
		"AGENTS.md":                   {[]string{"a/AGENTS.md", "a/b/"}, "home", "a/b", "a/b", "a"},
		"package.json":                {[]string{"a/package.json", "a/b/"}, "home", "a/b", "a/b", "a"},
		"pyproject.toml":              {[]string{"a/pyproject.toml", "a/b/"}, "home", "a/b", "a/b", "a"},
		"Cargo.toml":                  {[]string{"a/Cargo.toml", "a/b/"}, "home", "a/b", "a/b", "a"},
		"go.mod":                      {[]string{"a/go.mod", "a/b/"}, "home", "a/b", "a/b", "a"},
		"another file is no marker":   {[]string{"a/Makefile", "a/b/"}, "home", "a/b", "a/b", "a/b"},
		"the nearest marker":          {[]string{"a/go.mod", "a/b/package.json", "a/b/c/"}, "home", "a/b/c", "a/b/c", "a/b"},
		"git outside beats a marker":  {[]string{"a/.git/", "a/b/go.mod", "a/b/c/"}, "home", "a/b/c", "a/b/c", "a"},
		"a marker that is a dir":      {[]string{"a/go.mod/", "a/b/"}, "home", "a/b", "a/b", "a"},
		"marker in home, below it":    {[]string{"h/AGENTS.md", "h/b/"}, "h", "h/b", "h/b", "h/b"},
		"marker in home, in it":       {[]string{"h/AGENTS.md"}, "h", "h", "h", "h"},
		"marker in home, git above":   {[]string{".git/", "h/AGENTS.md", "h/b/"}, "h", "h/b", "h/b", ""},
		"marker above home":           {[]string{"go.mod", "h/AGENTS.md", "h/b/"}, "h", "h/b", "h/b", ""},
		"git in home":                 {[]string{"h/.git/", "h/b/"}, "h", "h/b", "h/b", "h"},
		"a file means its directory":  {[]string{"a/go.mod", "a/b/main.go"}, "home", "a/b/main.go", "a/b", "a"},
		"dots":                        {[]string{"a/go.mod", "a/b/"}, "home", "a/b/../b/./", "a/b", "a"},
		"a name with spaces and more": {[]string{"a b/ü ✓/"}, "home", "a b/ü ✓", "a b/ü ✓", "a b/ü ✓"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			top := tree(t, test.tree...)
			w, err := workspace.Locate(filepath.FromSlash(test.path), top, filepath.Join(top, test.home))
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(top, test.want); w.Path != want || w.Root != filepath.Join(top, test.root) {
				t.Errorf("path %s root %s, want %s and %s", w.Path, w.Root, want, filepath.Join(top, test.root))
			}
			if want := filepath.Join(top, test.path); w.Requested != want {
				t.Errorf("requested %s, want %s", w.Requested, want)
			}
		})
	}
}

// TestWorkspaceThroughLinks: however one gets there, it is the same workspace.
func TestWorkspaceThroughLinks(t *testing.T) {
	top := tree(t, "real/.git/", "real/sub/file")
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Skip(err)
		}
	}
	link("real", "link")
	link("link/sub", "twice")
	link("real/sub/file", "to-file")
	for _, path := range []string{"real/sub", "link/sub", "twice", "to-file", "link/sub/file"} {
		w, err := workspace.Locate(path, top, "")
		if err != nil || w.Path != filepath.Join(top, "real", "sub") || w.Root != filepath.Join(top, "real") {
			t.Errorf("%s: %+v, %v", path, w, err)
		}
	}
	home := tree(t, "AGENTS.md", "b/")
	if err := os.Symlink(home, filepath.Join(top, "home")); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Locate("b", home, filepath.Join(top, "home")+"/")
	if err != nil || w.Root != filepath.Join(home, "b") {
		t.Errorf("a home directory that is a link: %+v, %v", w, err)
	}
}

// TestEmptyPathIsTheCurrentDirectory.
func TestEmptyPathIsTheCurrentDirectory(t *testing.T) {
	top := tree(t, "a/go.mod", "a/b/")
	w, err := workspace.Locate("", filepath.Join(top, "a", "b"), "")
	if err != nil || w.Path != filepath.Join(top, "a", "b") || w.Requested != w.Path || w.Root != filepath.Join(top, "a") {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestUnusablePaths(t *testing.T) {
	top := tree(t, "file")
	loop := filepath.Join(top, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip(err)
	}
	for path, says := range map[string]string{
		"missing": ": there is no such file or directory", "missing/sub": ": there is no such file or directory",
		"file/sub": ": not a directory", "loop": ": too many symbolic links", "a\x00b": ": invalid argument",
	} {
		w, err := workspace.Locate(path, top, "")
		if code.Of(err) != code.Usage || !strings.HasSuffix(err.Error(), says+" (usage)") {
			t.Errorf("%q: %+v, %v", path, w, err)
		}
	}
}

// TestChainAndAbove cover every directory up to the root of the file system,
// each once, the deepest first.
func TestChainAndAbove(t *testing.T) {
	top := tree(t, "a/.git/", "a/b/c/")
	w, err := workspace.Locate("a/b/c", top, "")
	if err != nil {
		t.Fatal(err)
	}
	a := filepath.Join(top, "a")
	if want := []string{filepath.Join(a, "b", "c"), filepath.Join(a, "b"), a}; !slices.Equal(w.Chain(), want) {
		t.Errorf("chain %q, want %q", w.Chain(), want)
	}
	above := w.Above()
	if above[0] != top || filepath.Dir(above[len(above)-1]) != above[len(above)-1] || slices.Contains(above, a) {
		t.Errorf("above %q", above)
	}
	for i, dir := range above[1:] {
		if dir != filepath.Dir(above[i]) {
			t.Errorf("above %q", above)
		}
	}
	slash := workspace.Workspace{Path: "/", Root: "/"}
	if got := slash.Chain(); !slices.Equal(got, []string{"/"}) || len(slash.Above()) != 0 {
		t.Errorf("of the root: chain %q, above %q", got, slash.Above())
	}
}

func TestDataDir(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("paths are those of a Unix")
	}
	tests := map[string]struct {
		env        map[string]string
		home, want string
	}{
		"default":            {nil, "/home/u", "/home/u/.local/share/talking-stick"},
		"XDG":                {map[string]string{"XDG_DATA_HOME": "/xdg"}, "/home/u", "/xdg/talking-stick"},
		"XDG without home":   {map[string]string{"XDG_DATA_HOME": "/xdg"}, "", "/xdg/talking-stick"},
		"XDG is relative":    {map[string]string{"XDG_DATA_HOME": "xdg"}, "/home/u", "/home/u/.local/share/talking-stick"},
		"ours":               {map[string]string{"TALKING_STICK_DATA_DIR": "/d/", "XDG_DATA_HOME": "/xdg"}, "/home/u", "/d"},
		"ours is relative":   {map[string]string{"TALKING_STICK_DATA_DIR": "d/../e"}, "/home/u", ""},
		"ours is unexpanded": {map[string]string{"TALKING_STICK_DATA_DIR": "~/rooms"}, "/home/u", ""},
		"ours without home":  {map[string]string{"TALKING_STICK_DATA_DIR": "/d"}, "", "/d"},
		"home is relative":   {nil, "u", ""},
		"nothing at all":     {nil, "", ""},
	}
	for name, test := range tests {
		got, err := workspace.DataDir(func(k string) string { return test.env[k] }, test.home)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
		}
		if err != nil && code.Of(err) != code.DataDirUnusable {
			t.Errorf("%s: %v", name, err)
		}
	}
}
