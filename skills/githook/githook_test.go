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

// The hook as git runs it, with a tt that gives each of its answers.
func TestCommit(t *testing.T) {
	tests := []struct {
		name, tt string
		refused  bool
		says     string
	}{
		{"the stick is yours", yours, false, ""},
		{"somebody else has it", theirs, true, "tt wait"},
		{"nobody coordinates here", `echo '{"holds":false,"agent_id":"human:a","reason":"no_room"}'; exit 1`, false, ""},
		{"tt cannot tell", `echo '{"error":"data_dir_unusable"}' >&2; exit 1`, false, ""},
		{"a tt that knows no check", "echo usage >&2; exit 2", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newScratch(t)
			write(t, filepath.Join(r.Dir, ".git", "hooks", "pre-commit"), "#!/bin/sh -eu\necho theirs ran\n", 0o755)
			apply(t, r.PlanInstall)
			out, err := r.commit(tt.tt)
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
	r := newScratch(t)
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

// The pre-push hook as git runs it, with a tt that gives each of its answers. A hook that
// was there before gets what git says on standard input.
func TestPush(t *testing.T) {
	tests := []struct {
		name, tt string
		refused  bool
		says     string
	}{
		{"the stick is yours", yours, false, ""},
		{"somebody else has it, and other hosts share it", `echo '{"holds":false,"agent_id":"a:1","reason":"not_owner","shared":true}'; exit 1`, true, "git push --no-verify"},
		{"somebody else has it, on this host alone", theirs, false, ""},
		{"nobody coordinates here", `echo '{"holds":false,"agent_id":"human:a","reason":"no_room"}'; exit 1`, false, ""},
		{"the engine is away", `echo '{"error":"engine_unreachable","message":"the engine cannot be reached: timeout","hint":"try again"}' >&2; exit 1`, true, "tt: the engine cannot be reached: timeout\n"},
		{"its program is not there", `echo '{"error":"engine_missing","message":"no tt-nats"}' >&2; exit 1`, true, "tt: no tt-nats\n"},
		{"the file that names the room is damaged", `echo '{"error":"no_shared_identity","message":"the file cannot be used","hint":"write it","file":"/w/.talking-stick/room"}' >&2; exit 1`, true, "tt: the file cannot be used\n"},
		{"no room is named", `echo '{"error":"no_shared_identity","message":"no name","workspace_root":"/w"}' >&2; exit 1`, false, ""},
		{"tt cannot tell", `echo '{"error":"internal","message":"what now"}' >&2; exit 1`, true, "tt: what now\n"},
		{"the disk is full", `echo '{"error":"disk_full","message":"no space"}' >&2; exit 1`, true, "it is not known"},
		{"a tt that knows no check", "echo usage >&2; exit 2", true, "it is not known"},
		{"a tt that says nothing", "cat; exit 0", true, "it is not known"},
		{"the engine is the one of the installation", `[ "$TALKING_STICK_ENGINE $TALKING_STICK_ROOM" = "o'clock it's" ] && ` + yours, false, ""},
		{"tt cannot tell, and the engine is gone", `echo '{"error":"internal","message":"what now"}' >&2; exit 1`, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newScratch(t)
			r.Hook, r.Engine, r.Room = PrePush, "o'clock", "it's"
			if strings.HasSuffix(tt.name, "is gone") {
				t.Setenv("TALKING_STICK_ENGINE", "")
			}
			write(t, filepath.Join(r.Dir, ".git", "hooks", "pre-push"), "#!/bin/sh -eu\nread -r branch rest\necho theirs ran for $branch at $2\n", 0o755)
			if c := apply(t, r.PlanInstall); c.Status != skills.Added {
				t.Errorf("%+v", c)
			}
			remote := t.TempDir()
			r.git("init", "-q", "--bare", remote)
			r.git("commit", "-q", "--allow-empty", "-m", "x")
			out, err := r.run(tt.tt, "push", "-q", remote, "HEAD:refs/heads/x")
			if (err != nil) != tt.refused || !strings.Contains(out, tt.says) {
				t.Errorf("%v: %s", err, out)
			}
			if strings.Contains(out, "theirs ran for HEAD at "+remote) == tt.refused {
				t.Errorf("their hook: %s", out)
			}
			apply(t, r.PlanUninstall)
			if out, err := r.run(tt.tt, "push", "-q", remote, "HEAD:refs/heads/y"); err != nil || !strings.Contains(out, "theirs ran") {
				t.Errorf("afterwards: %v: %s", err, out)
			}
		})
	}
}

// TestHanging: git goes on when tt does not answer, and the process is ended.
func TestHanging(t *testing.T) {
	hang := `echo $$ >"$HOME/pid"; exec sleep 1000`
	child := `sleep 1000 & echo $! >>"$HOME/child"; `
	for _, tt := range []struct {
		hook    Hook
		command string
		tt      string
		engine  string
		refused string // what git says
	}{
		{PreCommit, "commit -q --allow-empty -m y", hang, "", ""},
		{PreCommit, "commit -q --allow-empty -m y", `[ "$2" = --text ] || { ` + theirs + "; }\n" + hang, "", "commit refused"},
		{PreRebase, "rebase -q -f HEAD", hang, "", ""},
		{PreCommit, "commit -q --allow-empty -m y", "trap '' TERM HUP INT; " + hang, "", ""},
		{PreCommit, "commit -q --allow-empty -m y", child + `echo $$ >"$HOME/pid"; wait`, "", ""},
		{PreCommit, "commit -q --allow-empty -m y", child + theirs, "", "commit refused"},
		{PreRebase, "rebase -q -f HEAD", child + yours, "", ""},
		{PrePush, "push -q . HEAD:refs/heads/x", hang, "", ""},
		{PrePush, "push -q . HEAD:refs/heads/x", child + `echo $$ >"$HOME/pid"; wait`, "e", "tt: it did not answer and was ended\n"},
		{PrePush, "push -q . HEAD:refs/heads/x", hang, "e", "tt: it did not answer and was ended\ntt: push refused, it is not known"},
	} {
		r := newScratch(t)
		t.Setenv("TT_HOOK_SECONDS", "0")
		r.Hook, r.Engine, r.Room = tt.hook, tt.engine, tt.engine
		hook := filepath.Join(r.Dir, ".git", "hooks", string(tt.hook))
		write(t, hook, "#!/bin/sh -eu\necho theirs ran\n", 0o755)
		text := apply(t, r.PlanInstall).Text
		timer := `until [ "$tt_left"`
		if !strings.Contains(text, timer) {
			t.Fatalf("there is no timer: %s", text)
		}
		// The time begins when tt hangs, and never if it answers.
		text = strings.ReplaceAll(text, timer, `until [ -s "$HOME/pid" ]; do sleep 0.01; done && `+timer)
		write(t, hook, text, 0o755)
		r.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "x")
		out, err := r.run(tt.tt, strings.Fields(tt.command)...)
		if children, err := os.ReadFile(filepath.Join(r.home, "child")); err == nil {
			_ = exec.Command("kill", append([]string{"-9"}, strings.Fields(string(children))...)...).Run()
		}
		refused := tt.refused != ""
		if (err != nil) != refused || strings.Contains(out, "theirs ran") == refused || !strings.Contains(out, tt.refused) || strings.Contains(out, "illed") {
			t.Errorf("%s: %v: %s", tt.hook, err, out)
		}
		hung, err := os.ReadFile(filepath.Join(r.home, "pid"))
		if hangs := !strings.HasSuffix(tt.tt, theirs) && !strings.HasSuffix(tt.tt, yours); hangs != (err == nil) {
			t.Errorf("%s: hangs %t: %v", tt.hook, hangs, err)
		}
		if pid := strings.TrimSpace(string(hung)); pid != "" && exec.Command("kill", "-0", pid).Run() == nil {
			t.Errorf("%s: process %s is still there", tt.hook, pid)
		}
	}
}

// TestBare: a repository without a working tree has no room, and gets no checks.
func TestBare(t *testing.T) {
	r := newScratch(t)
	r.Dir = t.TempDir()
	r.git("init", "-q", "--bare")
	before := r.git("config", "--list")
	if _, err := r.PlanInstall(); code.Of(err) != code.Usage {
		t.Errorf("%v", err)
	}
	if after := r.git("config", "--list"); after != before {
		t.Errorf("changed: %s", after)
	}
}

// The two hooks are installed and removed independently.
func TestHooksAreIndependent(t *testing.T) {
	commit := newScratch(t)
	push := commit.Repository
	push.Hook = PrePush
	apply(t, commit.PlanInstall)
	write(t, filepath.Join(commit.Dir, ".git", "hooks", "pre-push"), "#!/usr/bin/env python3\n", 0o755)
	if c := apply(t, push.PlanInstall); filepath.Base(c.Aside) != "pre-push.before-talking-stick" {
		t.Errorf("%+v", c)
	}
	apply(t, commit.PlanUninstall)
	if c := apply(t, push.PlanInstall); c.Status != skills.AlreadyPresent {
		t.Errorf("%+v", c)
	}
	apply(t, push.PlanUninstall)
	if got := read(t, filepath.Join(commit.Dir, ".git", "hooks", "pre-push")); got != "#!/usr/bin/env python3\n" {
		t.Errorf("left %q", got)
	}
}
