package jobs

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartDetached starts a program in a session of its own and in the root directory: it has no
// terminal, gets no signals meant for our process group, and has no open files but its standard
// output, if out is not nil, and those that are named, behind standard error.
func StartDetached(exe string, args, env []string, out *os.File, files ...*os.File) (pid int, err error) {
	c := &exec.Cmd{Path: exe, Args: args, Env: env, Dir: string(os.PathSeparator), ExtraFiles: files}
	if out != nil {
		c.Stdout = out
	}
	ownSession(c)
	closeOnExec(3)
	if err := c.Start(); err != nil {
		return 0, err
	}
	pid = c.Process.Pid
	return pid, c.Process.Release()
}

// closeOnExec keeps the files from first on that the caller of this process left open from the
// processes that it starts. Files that Go opened are marked anyway. A pipe that a shell or a
// harness handed down is not: its reader would wait for as long as a job or a guardian lives.
func closeOnExec(first int) {
	if closeRange(first) == nil {
		return
	}
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd >= first {
			syscall.CloseOnExec(fd)
		}
	}
}

// Environ returns the environment of this process with variables set, each NAME=VALUE.
func Environ(set ...string) []string {
	kept := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	})
	return append(kept, set...)
}

// ownSession makes a command the leader of a session, and of a group of processes.
func ownSession(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// signalGroup sends a signal to the group of a command.
func signalGroup(pid int, sig syscall.Signal) { _ = unix.Kill(-pid, sig) }

// endedBy returns how a command has ended.
func endedBy(state *os.ProcessState) (exit *int, signal string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return nil, unix.SignalName(status.Signal())
	}
	code := state.ExitCode()
	return &code, ""
}

// SignalNumber returns the number of a signal by its name, 0 for none.
func SignalNumber(name string) int { return int(unix.SignalNum(name)) }
