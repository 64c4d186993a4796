package githook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/skills"
)

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
