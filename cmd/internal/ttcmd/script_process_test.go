package ttcmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/talking-stick/tt/identity"
)

var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL,
	"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "REST": syscall.SIGSTOP,
}

// scriptSignal is "signal NAME PID", or with bg in place of the pid the command that was last started
// in the background. REST stops a process while it has no lock of a room or an agent.
func scriptSignal(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal HUP|INT|TERM|KILL|STOP|CONT|REST PID|bg")
	}
	var pid int
	if running := ts.BackgroundCmds(); args[1] != "bg" {
		pid = pidOf(ts, args[1])
	} else if len(running) > 0 {
		pid = running[len(running)-1].Process.Pid
	} else {
		ts.Fatalf("nothing runs in the background")
	}
	for {
		ts.Check(syscall.Kill(pid, signals[args[0]]))
		if signals[args[0]] != syscall.SIGSTOP {
			return
		}
		awaitStopped(pid)
		if args[0] == "STOP" || !hasLock(pid) {
			return
		}
		ts.Check(syscall.Kill(pid, syscall.SIGCONT))
		time.Sleep(lookAgain)
	}
}

// hasLock reports whether a process that is stopped has the lock of a room or of an agent, where that
// can be seen.
func hasLock(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(files, func(file string) bool {
		path, _ := os.Readlink(file)
		info, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, filepath.Base(file)))
		return filepath.Base(path) == "lock" && bytes.Contains(info, []byte("\nlock:"))
	})
}

// awaitStopped waits until each thread of a process has stopped, where that can be seen: a
// signal returns before.
func awaitStopped(pid int) {
	runs := func(stat string) bool {
		b, err := os.ReadFile(stat)
		return err == nil && !strings.HasPrefix(string(b[bytes.LastIndexByte(b, ')')+1:]), " T")
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if !slices.ContainsFunc(threads, runs) {
			return
		}
	}
}

func pidOf(ts *testscript.TestScript, text string) int {
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 1 {
		ts.Fatalf("%q is no pid", text)
	}
	return pid
}

// scriptAlive is "alive PID": the process runs.
func scriptAlive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: alive PID")
	}
	if !runs(pidOf(ts, args[0])) {
		ts.Fatalf("process %s has ended", args[0])
	}
}

// scriptGone is "gone PID": waits until the process has ended.
func scriptGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone PID")
	}
	pid := pidOf(ts, args[0])
	for start := time.Now(); runs(pid); time.Sleep(lookAgain) {
		if time.Since(start) > patience {
			ts.Fatalf("process %d has not ended", pid)
		}
	}
}

// runs is false for a zombie too: who should collect guardians is not the
// business of these tests.
func runs(pid int) bool {
	info, err := identity.System().Inspect(pid)
	return err == nil && !info.Zombie
}

// scriptExits is "exits N COMMAND…": the command ends with exactly this status.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N COMMAND…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// endStrays ends every process that has the variable in its environment, as all
// of one script have its WORK, and waits for them.
func endStrays(variable string) error {
	for start := time.Now(); ; time.Sleep(lookAgain) {
		pids, err := processesOf(variable)
		if err != nil || len(pids) == 0 {
			return err
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if time.Since(start) > patience {
			return fmt.Errorf("processes do not end: %v", strings.Trim(fmt.Sprint(pids), "[]"))
		}
	}
}
