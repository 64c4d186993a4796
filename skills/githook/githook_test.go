package githook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/skills"
	"github.com/talking-stick/tt/skills/rewrite"
)

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A scratch is a git repository, with the user's configuration in a scratch home
// and a tt that has an answer.
type scratch struct {
	Repository
	t    *testing.T
	home string
}

func newScratch(t *testing.T) scratch {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scratch{t: t, home: t.TempDir()}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	for name, value := range map[string]string{
		"HOME": s.home, "GIT_CONFIG_SYSTEM": filepath.Join(s.home, "system"),
		"TT_HOOK_SECONDS": "600",
		"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e@x", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e@x",
	} {
		t.Setenv(name, value)
	}
	now := func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }
	s.Repository = Repository{Dir: dir, Hook: PreCommit, Writer: &rewrite.Writer{Backups: t.TempDir(), Now: now}}
	s.git("init", "-q")
	return s
}

// git runs git in the repository and fails the test if git fails.
func (s scratch) git(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", s.Dir}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits while tt does what the script says, and returns what git prints.
func (s scratch) commit(tt string) (string, error) {
	return s.run(tt, "commit", "-q", "--allow-empty", "-m", "x")
}

// run runs git while tt does what the script says, and returns what git prints.
func (s scratch) run(tt string, args ...string) (string, error) {
	s.t.Helper()
	bin := s.t.TempDir()
	write(s.t, filepath.Join(bin, "tt"), "#!/bin/sh\n"+tt+"\n", 0o755)
	cmd := exec.Command("git", append([]string{"-C", s.Dir}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const (
	yours  = `echo '{"holds":true}'`
	theirs = `echo '{"holds":false}'; exit 1`
)

func apply(t *testing.T, plan func() (Change, error)) Change {
	t.Helper()
	c, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestInstallAndUninstallRestore(t *testing.T) {
	tests := []struct{ name, before string }{
		{"nothing", ""},
		{"a script that ends early", "#!/bin/bash -e\nexit 0\n"},
		{"a script without interpreter or line end", "make lint"},
		{"CRLF", "#!/usr/bin/env bash\r\ntrue\r\n"},
		{"python", "#!/usr/bin/env python3\nprint('x')\n"},
		{"a program", "\x7fELF\x00\x01"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newScratch(t)
			hook := filepath.Join(r.Dir, ".git", "hooks", "pre-commit")
			if tt.before != "" {
				write(t, hook, tt.before, 0o755)
			}
			if c := apply(t, r.PlanInstall); c.Status != skills.Added || c.Hook != hook || c.Text != read(t, hook) {
				t.Errorf("%+v", c)
			}
			if info, err := os.Stat(hook); err != nil || info.Mode()&0o100 == 0 {
				t.Errorf("not executable: %v %v", info.Mode(), err)
			}
			installed := read(t, hook)
			if c := apply(t, r.PlanInstall); c.Status != skills.AlreadyPresent || read(t, hook) != installed {
				t.Errorf("a second time: %+v", c)
			}
			if c := apply(t, r.PlanUninstall); c.Status != skills.Removed {
				t.Errorf("%+v", c)
			}
			after, err := os.ReadFile(hook)
			if string(after) != tt.before || (err == nil) != (tt.before != "") {
				t.Errorf("left %q (%v), want %q", after, err, tt.before)
			}
			if c := apply(t, r.PlanUninstall); c.Status != skills.AlreadyAbsent {
				t.Errorf("%+v", c)
			}
			if entries, _ := filepath.Glob(filepath.Join(filepath.Dir(hook), "*talking-stick*")); len(entries) > 0 {
				t.Errorf("left behind: %v", entries)
			}
		})
	}
}

func TestInstallRenewsAnOldBlock(t *testing.T) {
	r := newScratch(t)
	hook := filepath.Join(r.Dir, ".git", "hooks", "pre-commit")
	write(t, hook, "#!/bin/sh\n# >>> talking-stick >>>\nold\n# <<< talking-stick <<<\nmake lint\n", 0o644)
	c := apply(t, r.PlanInstall)
	got := read(t, hook)
	if c.Status != skills.Updated || strings.Contains(got, "old\n") || !strings.Contains(got, "tt check") || !strings.HasSuffix(got, "make lint\n") {
		t.Errorf("%s\n%s", c.Status, got)
	}
	if info, _ := os.Stat(hook); info.Mode()&0o100 == 0 {
		t.Error("git would ignore it: not executable")
	}
}

func TestUninstallKeepsWhatWasAddedLater(t *testing.T) {
	r := newScratch(t)
	c := apply(t, r.PlanInstall)
	write(t, c.Hook, read(t, c.Hook)+"make lint\n", 0o755)
	apply(t, r.PlanUninstall)
	if got := read(t, c.Hook); got != "#!/bin/sh\nmake lint\n" {
		t.Errorf("left %q", got)
	}
}

// Wherever git is told to look for hooks, the check is where git looks.
func TestTheCheckIsWhereGitLooks(t *testing.T) {
	tests := []struct {
		name string
		set  func(r *scratch)
		hook string // below the repository
	}{
		{"usual", func(*scratch) {}, ".git/hooks"},
		{"from a subdirectory", func(r *scratch) {
			write(r.t, filepath.Join(r.Dir, "sub", "file"), "", 0o644)
			r.Dir = filepath.Join(r.Dir, "sub")
		}, "../.git/hooks"},
		{"core.hooksPath", func(r *scratch) { r.git("config", "core.hooksPath", "tools/hooks") }, "tools/hooks"},
		{"core.hooksPath, from a subdirectory", func(r *scratch) {
			r.git("config", "core.hooksPath", "tools/hooks")
			write(r.t, filepath.Join(r.Dir, "sub", "file"), "", 0o644)
			r.Dir = filepath.Join(r.Dir, "sub")
		}, "../tools/hooks"},
		{"in the home directory", func(r *scratch) {
			write(r.t, filepath.Join(r.Dir, ".git", "config"), "[CORE] HOOKSPATH=\"~/hooks\" ; mine\n", 0o644)
		}, "~/hooks"},
		{"an included file", func(r *scratch) {
			write(r.t, filepath.Join(r.Dir, ".git", "more"), "[core]\n\thooksPath = included\n", 0o644)
			r.git("config", "include.path", "more")
		}, "included"},
		{"the configuration of a worktree", func(r *scratch) {
			r.git("config", "extensions.worktreeConfig", "true")
			r.git("config", "--worktree", "core.hooksPath", "own")
		}, "own"},
		{"a linked worktree", func(r *scratch) {
			main := r.Dir
			r.git("commit", "-q", "--allow-empty", "-m", "first")
			r.git("worktree", "add", "-q", filepath.Join(r.home, "side"))
			r.Dir = filepath.Join(r.home, "side")
			r.t.Cleanup(func() { r.Dir = main })
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newScratch(t)
			main := r.Dir
			tt.set(&r)
			c := apply(t, r.PlanInstall)
			want := filepath.Join(r.Dir, tt.hook, "pre-commit")
			if rest, ok := strings.CutPrefix(tt.hook, "~/"); ok {
				want = filepath.Join(r.home, rest, "pre-commit")
			} else if tt.hook == "" {
				want = filepath.Join(main, ".git", "hooks", "pre-commit")
			}
			if c.Hook != want {
				t.Errorf("the hook is %s, want %s", c.Hook, want)
			}
			if out, err := r.commit(theirs); err == nil {
				t.Errorf("git does not run it: %s", out)
			}
			apply(t, r.PlanUninstall)
			if out, err := r.commit(theirs); err != nil {
				t.Errorf("git still runs it: %s", out)
			}
		})
	}
}

// A directory that serves other repositories, too, is left alone.
func TestHooksOfAllRepositoriesStay(t *testing.T) {
	const config = "[core]\n\thooksPath = /srv/hooks\n"
	tests := map[string]func(r scratch){
		"of the user":                  func(r scratch) { write(t, filepath.Join(r.home, ".gitconfig"), config, 0o644) },
		"in .config/git":               func(r scratch) { write(t, filepath.Join(r.home, ".config", "git", "config"), config, 0o644) },
		"in XDG_CONFIG_HOME":           func(r scratch) { write(t, filepath.Join(r.home, "x", "git", "config"), config, 0o644) },
		"of the machine":               func(r scratch) { write(t, filepath.Join(r.home, "system"), config, 0o644) },
		"where GIT_CONFIG_GLOBAL says": func(r scratch) { write(t, filepath.Join(r.home, "global"), config, 0o644) },
	}
	for name, set := range tests {
		t.Run(name, func(t *testing.T) {
			r := newScratch(t)
			switch name {
			case "in XDG_CONFIG_HOME":
				t.Setenv("XDG_CONFIG_HOME", filepath.Join(r.home, "x"))
			case "where GIT_CONFIG_GLOBAL says":
				t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(r.home, "global"))
			}
			set(r)
			if c, err := r.PlanInstall(); code.Of(err) != code.Usage || !strings.Contains(err.Error(), "/srv/hooks") {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

func TestInNoRepository(t *testing.T) {
	r := newScratch(t)
	for _, dir := range []string{t.TempDir(), filepath.Join(r.Dir, "missing"), filepath.Join(r.Dir, ".git")} {
		r.Dir = dir
		if _, err := r.PlanInstall(); code.Of(err) != code.Usage {
			t.Errorf("%s: %v", dir, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := r.PlanInstall(); code.Of(err) != code.Usage || !strings.Contains(err.Error(), "no git") {
		t.Errorf("without git: %v", err)
	}
}

// A hook that git ignores, because it is not executable, goes on being ignored,
// and has its old mode afterwards.
func TestAHookThatWasOffStaysOff(t *testing.T) {
	r := newScratch(t)
	hook := filepath.Join(r.Dir, ".git", "hooks", "pre-commit")
	write(t, hook, "#!/bin/sh\necho theirs ran\n", 0o644)
	if c := apply(t, r.PlanInstall); !strings.Contains(c.Note, "not executable") {
		t.Errorf("%+v", c)
	}
	if out, err := r.commit(yours); err != nil || strings.Contains(out, "theirs ran") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := r.commit(theirs); err == nil {
		t.Errorf("committed: %s", out)
	}
	apply(t, r.PlanUninstall)
	if info, err := os.Stat(hook); err != nil || info.Mode().Perm() != 0o644 || read(t, hook) != "#!/bin/sh\necho theirs ran\n" {
		t.Errorf("%v %v", info, err)
	}
}

// What is left of an earlier installation is neither run by mistake nor lost.
func TestAHookThatIsStillAside(t *testing.T) {
	r := newScratch(t)
	hook := filepath.Join(r.Dir, ".git", "hooks", "pre-commit")
	write(t, hook, "#!/usr/bin/env python3\n", 0o755)
	apply(t, r.PlanInstall)
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	apply(t, r.PlanInstall)
	if !strings.Contains(read(t, hook), PreCommit.aside()) {
		t.Error("the hook that was there before is not run any more")
	}
	write(t, hook, "#!/usr/bin/env perl\n", 0o755)
	if c, err := r.PlanInstall(); code.Of(err) != code.Usage || !strings.Contains(err.Error(), PreCommit.aside()) {
		t.Errorf("%+v %v", c, err)
	}
}
