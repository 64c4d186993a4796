package ttcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// needs skips the test where the shell cannot run the line, which a machine that decides
// whether a change lands must be able to.
func needs(t *testing.T, line string) {
	t.Helper()
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" && os.Geteuid() == 0 {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
		t.Skipf("%s: %v: %s", line, err, out)
	}
}

// Processes of another pid namespace cannot be looked up: their record locks alone say
// that they live.
func TestLockAcrossPIDNamespaces(t *testing.T) {
	const inside = "unshare --pid --fork --mount-proc "
	needs(t, inside+"true")
	for name, where := range map[string]place{
		"the holder is in another one": {inside, ""},
		"the waiter is in another one": {"", inside},
	} {
		t.Run(name, func(t *testing.T) { newScratch(t).lockBetween(where, "unknown") })
	}
}

// A job that would end with the sandbox of the call is refused, with what to do.
func TestJobWouldDie(t *testing.T) {
	const inside = "unshare --pid --fork --kill-child --mount-proc "
	needs(t, inside+"true")
	s := newScratch(t)
	s.run("tt join --agent a:1")
	for _, line := range []string{"tt job run t --agent a:1 --json -- true", "sh -c 'tt job run t --agent a:1 --json -- true; true'", "bash -c 'exec -a bwrap sh -c \"tt job run t --agent a:1 --json -- true; true\"'"} {
		if out := s.run(inside + line + " 2>&1 || true"); !strings.Contains(out, `"error":"job_would_die"`) || !strings.Contains(out, `"hint"`) {
			t.Errorf("%s: %s", line, out)
		}
	}
	if out := s.run("tt job list --json"); !strings.Contains(out, `"jobs":[]`) {
		t.Errorf("there are %s", out)
	}
}

// Root takes locks in the data directory of another user, as under sudo, and that user
// next to it. What root leaves there belongs to the user.
func TestLockAcrossUsers(t *testing.T) {
	const user = "setpriv --reuid 54321 --regid 54321 --clear-groups env "
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	needs(t, user+"true")
	for name, where := range map[string]place{
		"root has it":  {"", user},
		"root is next": {user, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScratch(t)
			root := filepath.Dir(s.dir)
			s.run("mkdir ../data ../bin; cp -L $(command -v tt) ../bin; chown -R 54321:54321 ..; chmod 711 .. ../..")
			s.env = append(s.env, "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
			s.lockBetween(where, "alive")
			if out := s.run(user + "tt doctor --json"); !strings.Contains(out, `"problems":[]`) {
				t.Errorf("doctor finds %s", out)
			}
		})
	}
}

// Where nothing can be written, COMMAND does not run, and who has which lock can be read.
func TestLockInReadOnlyDataDirectory(t *testing.T) {
	const inside = "unshare --mount "
	needs(t, inside+"true")
	s := newScratch(t)
	s.run("tt lock run build -- true")
	readOnly := inside + "sh -c 'mount --bind ../data ../data; mount -o remount,ro,bind ../data; "
	for _, lock := range []string{"build", "new", "--machine gpu"} {
		out := s.run(readOnly + "tt lock run --timeout 0 " + lock + " -- echo wrong' 2>&1 || echo status $?")
		if strings.Contains(out, "wrong") || !strings.Contains(out, "the command was not run, because the lock cannot be taken") ||
			!strings.Contains(out, "read-only file system (data_dir_unusable)\nhint: ") || !strings.HasSuffix(out, "status 1\n") {
			t.Errorf("%s: %s", lock, out)
		}
	}
	if out := s.run("tt lock run build --agent a:1 -- " + readOnly + "tt lock list'"); !strings.Contains(out, "a:1") {
		t.Errorf("listed as %s", out)
	}
}

// A place is how the one who has a lock and the one who is next are run.
type place struct{ holder, waiter string }

// lockBetween lets one command have a lock and another one want it. process is what the
// second one sees of the first.
func (s *scratch) lockBetween(where place, process string) {
	t := s.t
	t.Helper()
	const hold = "tt lock run build --agent a:1 -- sh -c 'echo >held; exec cat'"
	holder := s.command("exec " + where.holder + hold)
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); ; time.Sleep(lookAgain) {
		if _, err := os.Stat(filepath.Join(s.dir, "held")); err == nil {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("the lock was not had")
		}
	}
	list := s.run(where.waiter + "tt lock list --json")
	if !strings.Contains(list, `"process":"`+process+`"`) {
		t.Errorf("listed as %s", list)
	}
	if out := s.run(where.waiter + "tt lock run --timeout 0 build -- echo wrong || echo status $?"); out != "status 75\n" {
		t.Errorf("got %s", out)
	}
	stdin.Close()
	if err := holder.Wait(); err != nil {
		t.Error(err)
	}
	if out := s.run(where.waiter + "tt lock run --timeout 1m build -- echo free"); out != "free\n" {
		t.Errorf("got %s", out)
	}
}

// TestGuardianEndsWithTheSandbox: a guardian that a sandboxed command has started ends with
// that command. A hook, which runs outside, starts another one.
func TestGuardianEndsWithTheSandbox(t *testing.T) {
	const inside = "unshare --pid --fork --mount-proc --kill-child "
	needs(t, inside+"true")
	s := newScratch(t, "CODEX_THREAD_ID=thread-1")
	s.run("tt join --text; " + inside + "tt wait --text")
	if out := s.run("tt status --json --agent other:1 || tt state --json"); !strings.Contains(out, `"guardian_unseen"`) {
		t.Errorf("nothing is said of the guardian: %s", out)
	}
	s.run(`printf '{"session_id":"thread-1","cwd":"%s","hook_event_name":"PostToolUse","tool_name":"x"}' "$PWD" | tt hook context --harness codex`)
	if out := s.run("tt state --json"); strings.Contains(out, "guardian_unseen") {
		t.Errorf("no other guardian was started: %s", out)
	}
}
