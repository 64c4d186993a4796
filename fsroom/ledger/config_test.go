//go:build unix

package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExcludesFile: what git ignores by the configuration of the user is not recorded, wherever git finds that.
func TestExcludesFile(t *testing.T) {
	t.Parallel()
	const core = "[core]\n\texcludesFile = ~/ignored\n"
	for name, files := range map[string]map[string]string{
		"plain":        {".gitconfig": core},
		"one line":     {".gitconfig": "[core] excludesFile = ~/ignored\n"},
		"commented":    {".gitconfig": "[core] # mine\n\texcludesFile = ~/ignored ; all\n"},
		"quoted":       {".gitconfig": "[core]\n\texcludesFile = \"~/ignored\" # all\n"},
		"included":     {".gitconfig": "[user]\n\tname = a\n[include]\n\tpath = ~/more\n", "more": core},
		"beside it":    {".gitconfig": "[include]\n\tpath = sub/more\n", "sub/more": "[include]\n\tpath = more2\n", "sub/more2": core},
		"of a place":   {".gitconfig": "[includeIf \"gitdir:~/tree/\"]\n\tpath = more\n", "more": core},
		"of no place":  {".gitconfig": "[includeIf \"gitdir:~/elsewhere/\"]\n\tpath = more\n", "more": core},
		"in a circle":  {".gitconfig": core + "[include]\n\tpath = more\n", "more": "[include]\n\tpath = .gitconfig\n"},
		"of work tree": {"tree/.git/config.worktree": core, "tree/.git/config": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.git("init", "-q")
			home := filepath.Dir(f.root)
			files["ignored"] = "*.local\n"
			for path, content := range files {
				path = filepath.Join(home, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f.write("a.local", "1")
			_, failed := f.tryGit("check-ignore", "a.local")
			if got := f.paths(f.take(WhyStart, 1).Tree); (len(got) == 0) != (failed == nil || name == "in a circle") {
				t.Errorf("recorded: %q; git ignores it: %v", got, failed == nil)
			}
		})
	}
}

// TestOtherHash: the index of a repository with other ids is read, in every version.
func TestOtherHash(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q", "--object-format=sha256")
	f.write(".gitignore", "*.log\n", "a.log", "1", "b.log", "1", "d/c.log", "1", "d/longer name", "1")
	f.git("add", "-f", "a.log", "d")
	for _, version := range []string{"2", "3", "4"} {
		f.git("update-index", "--index-version", version)
		if got := strings.Join(f.paths(f.take(WhyPerson, 0).Tree), " "); got != ".gitignore a.log d/c.log d/longer name" {
			t.Errorf("version %s: %s", version, got)
		}
	}
}
