package githook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
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

// repositoryIn makes a directory that looks like a git repository.
func repositoryIn(t *testing.T) Repository {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git", "config"), "[core]\n\tbare = false\n", 0o644)
	now := func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }
	return Repository{Dir: dir, Home: t.TempDir(), Writer: &rewrite.Writer{Backups: t.TempDir(), Now: now}}
}

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
			r := repositoryIn(t)
			hook := filepath.Join(r.Dir, ".git", "hooks", "pre-commit")
			if tt.before != "" {
				write(t, hook, tt.before, 0o755)
			}
			if c := apply(t, r.PlanInstall); c.State != Added || c.Hook != hook || c.Text != read(t, hook) {
				t.Errorf("%+v", c)
			}
			if info, err := os.Stat(hook); err != nil || info.Mode()&0o100 == 0 {
				t.Errorf("not executable: %v %v", info.Mode(), err)
			}
			installed := read(t, hook)
			if c := apply(t, r.PlanInstall); c.State != Present || read(t, hook) != installed {
				t.Errorf("a second time: %+v", c)
			}
			if c := apply(t, r.PlanUninstall); c.State != Removed {
				t.Errorf("%+v", c)
			}
			after, err := os.ReadFile(hook)
			if string(after) != tt.before || (err == nil) != (tt.before != "") {
				t.Errorf("left %q (%v), want %q", after, err, tt.before)
			}
			if c := apply(t, r.PlanUninstall); c.State != Absent {
				t.Errorf("%+v", c)
			}
			if entries, _ := filepath.Glob(filepath.Join(filepath.Dir(hook), "*talking-stick*")); len(entries) > 0 {
				t.Errorf("left behind: %v", entries)
			}
		})
	}
}

func TestInstallRenewsAnOldBlock(t *testing.T) {
	r := repositoryIn(t)
	hook := filepath.Join(r.Dir, ".git", "hooks", "pre-commit")
	write(t, hook, "#!/bin/sh\n# >>> talking-stick >>>\nold\n# <<< talking-stick <<<\nmake lint\n", 0o644)
	c := apply(t, r.PlanInstall)
	got := read(t, hook)
	if c.State != Updated || strings.Contains(got, "old\n") || !strings.Contains(got, "tt check") || !strings.HasSuffix(got, "make lint\n") {
		t.Errorf("%s\n%s", c.State, got)
	}
	if info, _ := os.Stat(hook); info.Mode()&0o100 == 0 {
		t.Error("git would ignore it: not executable")
	}
}

func TestUninstallKeepsWhatWasAddedLater(t *testing.T) {
	r := repositoryIn(t)
	c := apply(t, r.PlanInstall)
	write(t, c.Hook, read(t, c.Hook)+"make lint\n", 0o755)
	apply(t, r.PlanUninstall)
	if got := read(t, c.Hook); got != "#!/bin/sh\nmake lint\n" {
		t.Errorf("left %q", got)
	}
}

func TestWhereTheHooksAre(t *testing.T) {
	t.Run("core.hooksPath", func(t *testing.T) {
		r := repositoryIn(t)
		write(t, filepath.Join(r.Dir, ".git", "config"), "[core]\n\thooksPath = \"tools/hooks\" ; shared\n[other]\n\thooksPath = nowhere\n", 0o644)
		c := apply(t, r.PlanInstall)
		if c.Hook != filepath.Join(r.Dir, "tools", "hooks", "pre-commit") || c.Note == "" {
			t.Errorf("%+v", c)
		}
	})
	t.Run("in the home directory", func(t *testing.T) {
		r := repositoryIn(t)
		write(t, filepath.Join(r.Dir, ".git", "config"), "[CORE] HOOKSPATH=~/hooks\n", 0o644)
		if c := apply(t, r.PlanInstall); c.Hook != filepath.Join(r.Home, "hooks", "pre-commit") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("for all repositories", func(t *testing.T) {
		r := repositoryIn(t)
		write(t, filepath.Join(r.Home, ".gitconfig"), "[core]\n\thooksPath = /srv/hooks\n", 0o644)
		if _, err := r.PlanInstall(); code.Of(err) != code.Usage {
			t.Errorf("%v", err)
		}
	})
	t.Run("a worktree, from a subdirectory", func(t *testing.T) {
		main := repositoryIn(t)
		gitDir := filepath.Join(main.Dir, ".git", "worktrees", "side")
		write(t, filepath.Join(gitDir, "commondir"), "../..\n", 0o644)
		side := main
		side.Dir = filepath.Join(t.TempDir(), "sub")
		write(t, filepath.Join(filepath.Dir(side.Dir), ".git"), "gitdir: "+gitDir+"\n", 0o644)
		if err := os.MkdirAll(side.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if c := apply(t, side.PlanInstall); c.Hook != filepath.Join(main.Dir, ".git", "hooks", "pre-commit") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("no repository", func(t *testing.T) {
		r := repositoryIn(t)
		r.Dir = t.TempDir()
		if _, err := r.PlanInstall(); code.Of(err) != code.Usage {
			t.Errorf("%v", err)
		}
	})
}

// The hook as git runs it, with a tt that gives each of its answers.
func TestCommit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	tests := []struct {
		name, tt string
		refused  bool
		says     string
	}{
		{"the stick is yours", "exit 0", false, ""},
		{"somebody else has it", `echo '{"holds":false}'; exit 1`, true, "tt wait"},
		{"nobody coordinates here", `echo '{"holds":false,"agent_id":"human:a","reason":"no_room"}'; exit 1`, false, ""},
		{"tt cannot tell", `echo '{"error":"data_dir_unusable"}' >&2; exit 1`, false, ""},
		{"a tt that knows no check", "echo usage >&2; exit 2", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := repositoryIn(t)
			bin := t.TempDir()
			write(t, filepath.Join(bin, "tt"), "#!/bin/sh\n"+tt.tt+"\n", 0o755)
			run := func(args ...string) (string, error) {
				cmd := exec.Command(git, append([]string{"-C", r.Dir, "-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+r.Home, "GIT_CONFIG_NOSYSTEM=1")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := run("init", "-q"); err != nil {
				t.Fatal(out)
			}
			write(t, filepath.Join(r.Dir, ".git", "hooks", "pre-commit"), "#!/bin/sh -eu\necho theirs ran\n", 0o755)
			apply(t, r.PlanInstall)
			out, err := run("commit", "-q", "--allow-empty", "-m", "x")
			if (err != nil) != tt.refused || !strings.Contains(out, tt.says) {
				t.Errorf("%v: %s", err, out)
			}
			if strings.Contains(out, "theirs ran") == tt.refused {
				t.Errorf("their hook: %s", out)
			}
		})
	}
}

func TestChainedHookRuns(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python here")
	}
	r := repositoryIn(t)
	hook := filepath.Join(r.Dir, ".git", "hooks", "pre-commit")
	write(t, hook, "#!"+python+"\nimport sys\nprint('theirs', *sys.argv[1:])\nsys.exit(3)\n", 0o755)
	apply(t, r.PlanInstall)
	bin := t.TempDir()
	write(t, filepath.Join(bin, "tt"), "#!/bin/sh\nexit 0\n", 0o755)
	cmd := exec.Command(hook, "argument")
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
	out, _ := cmd.CombinedOutput()
	if string(out) != "theirs argument\n" || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("exit %d: %s", cmd.ProcessState.ExitCode(), out)
	}
}
