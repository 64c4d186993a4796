package identity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSelf(t *testing.T) {
	self := System().Self()
	if self.PID != os.Getpid() || self.Start == 0 || len(self.Boot) != 36 || self.Host == "" || self.Namespace == "" {
		t.Errorf("%+v", self)
	}
	if v := System().Verdict(self); v != Alive {
		t.Errorf("we are %s", v)
	}
	info, err := System().Inspect(self.PID)
	if err != nil || info.Process != self || info.PPID != os.Getppid() || len(info.Args) != len(os.Args) || info.Zombie {
		t.Errorf("%+v, %v", info, err)
	}
}

// HOST_PROC is for programs that watch the host of their container.
func TestOwnProcWhateverTheEnvironmentSays(t *testing.T) {
	t.Setenv("HOST_PROC", t.TempDir())
	info, err := System().Inspect(os.Getpid())
	if err != nil || info.Name == "" || len(info.Args) != len(os.Args) {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestProcessesOfOneBootAgree(t *testing.T) {
	cmd := exec.Command(executable(t))
	cmd.Env = cleanEnv("facts")
	out, err := cmd.Output()
	if want := fmt.Sprintf("%q true\n", BootID()); err != nil || string(out) != want {
		t.Errorf("%q, want %q (%v)", out, want, err)
	}
}

func TestMonotonicGrows(t *testing.T) {
	last := Monotonic()
	for range 1000 {
		now := Monotonic()
		if now < last {
			t.Fatalf("%v after %v", now, last)
		}
		last = now
	}
}

func TestVerdictOfAChild(t *testing.T) {
	c := startChild(t)
	check := func(p Process, want Verdict) {
		t.Helper()
		if got := System().Verdict(p); got != want {
			t.Errorf("%+v is %s, want %s", p, got, want)
		}
	}
	check(c.process, Alive)
	older, elsewhere, rebooted, contained := c.process, c.process, c.process, c.process
	older.Start--
	elsewhere.Host, rebooted.Boot, contained.Namespace = "elsewhere", "boot", "1"
	check(older, Gone)
	check(elsewhere, Unknown)
	check(rebooted, Gone)
	check(contained, Unknown)
	c.end()
	check(c.process, Gone)
	check(elsewhere, Unknown)
	check(contained, Unknown)
	if _, err := System().Inspect(c.process.PID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("inspecting an ended process: %v", err)
	}
}

func TestInspectRefusesOddPIDs(t *testing.T) {
	for _, pid := range []int{0, -1, 1 << 30, 1<<32 + 1} {
		if _, err := System().Inspect(pid); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("pid %d: %v", pid, err)
		}
	}
}

func TestZombieIsGone(t *testing.T) {
	c := startChild(t)
	c.Process.Kill()
	awaitZombie(t, c.process.PID)
	if unix.Kill(c.process.PID, 0) != nil {
		t.Fatal("the zombie has no pid any more, so it is none")
	}
	info, err := System().Inspect(c.process.PID)
	if err != nil || !info.Zombie || info.Process != c.process || len(info.Args) != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	if v := System().Verdict(c.process); v != Gone {
		t.Errorf("a zombie is %s", v)
	}
	ended, stop, err := WatchExit(c.process)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	assertClosed(t, ended)
}

// awaitZombie waits until the process has ended, without taking its status.
func awaitZombie(t *testing.T, pid int) {
	t.Helper()
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			return
		}
		if err != unix.EINTR {
			t.Fatal(err)
		}
	}
}

// A pid that comes again names another process: forced through ns_last_pid.
func TestReusedPID(t *testing.T) {
	c := startChild(t)
	c.end()
	ended := c.process
	reuser := reusePID(t, ended)
	if v := System().Verdict(ended); v != Gone {
		t.Errorf("the first process of pid %d is %s", ended.PID, v)
	}
	if v := System().Verdict(reuser.process); v != Alive {
		t.Errorf("the second process of pid %d is %s", ended.PID, v)
	}
	watch, stop, err := WatchExit(ended)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	assertClosed(t, watch)
}

// reusePID starts a child that has the pid of a process that has ended. Others
// fork meanwhile, and two processes that got one pid within one tick of 10 ms
// cannot be told apart, so it takes several tries.
func reusePID(t *testing.T, ended Process) *child {
	t.Helper()
	for range 1000 {
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", fmt.Append(nil, ended.PID-1), 0o600); err != nil {
			t.Skipf("SKIPPED: the reuse of a pid cannot be forced here: %v", err)
		}
		c := startChild(t)
		if c.process.PID == ended.PID && c.process.Start != ended.Start {
			return c
		}
		c.end()
	}
	t.Skipf("SKIPPED: pid %d could not be had again in 1000 tries", ended.PID)
	return nil
}

func assertClosed(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	default:
		t.Error("the watch of an ended process is not closed on return")
	}
}

// From within other namespaces nothing can be said about our processes: pids are
// others there (and without a /proc of its own those shown are not the caller's),
// or start ticks are.
func TestForeignNamespaces(t *testing.T) {
	c := startChild(t)
	said, err := json.Marshal(c.process)
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"--fork --mount-proc --pid", "--fork --pid", "--fork --time --boottime 86400"} {
		t.Run(where, func(t *testing.T) {
			if err := exec.Command("unshare", append(strings.Fields(where), "true")...).Run(); err != nil {
				t.Skipf("SKIPPED: unshare %s: %v", where, err)
			}
			cmd := exec.Command("unshare", append(strings.Fields(where), executable(t))...)
			cmd.Env = cleanEnv("verdict")
			cmd.Stdin = bytes.NewReader(said)
			out, err := cmd.Output()
			if got := strings.TrimSpace(string(out)); err != nil || got != string(Unknown) {
				t.Errorf("a process outside is %q, %v", got, err)
			}
		})
	}
}
