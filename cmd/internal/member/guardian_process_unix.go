//go:build !windows

package member

import (
	"os"
	"strconv"
	"syscall"
)

// startDetached starts a program in a session of its own: it has no terminal, gets no
// signals meant for our process group, and has file as its only open files. os/exec
// would first start a process to find out what the kernel can do.
func startDetached(exe string, args, env []string, file *os.File) (pid int, err error) {
	closeOnExec()
	fd := file.Fd()
	return syscall.ForkExec(exe, args, &syscall.ProcAttr{
		Dir: string(os.PathSeparator), Env: env, Files: []uintptr{fd, fd, fd}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// kill ends the guardian and collects it, so that a wait that loses many turns to
// others leaves no zombies. The pid belongs to the guardian until it is collected, and
// kill sends the signal once at most.
func (g *guardianProcess) kill() {
	if g == nil {
		return
	}
	g.killed.Do(func() {
		_ = syscall.Kill(g.PID, syscall.SIGKILL)
		go func() { _, _ = syscall.Wait4(g.PID, nil, 0, nil) }()
	})
}

// closeOnExec keeps the files that our caller left open from the processes we start.
// Files that Go opened are marked anyway. A pipe that a shell or a harness handed down
// is not: its reader would wait for as long as a guardian lives.
func closeOnExec() {
	const first = 3 // after standard input, output and error
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
