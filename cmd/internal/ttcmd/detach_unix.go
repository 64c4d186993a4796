//go:build !windows

package ttcmd

import (
	"os"
	"strconv"
	"syscall"
)

// startDetached starts a program in a session of its own: no terminal, no signals
// meant for our process group. It has the three files and none besides. Package
// os would first start a process to find out what the kernel can do.
func startDetached(exe string, args, env []string, file *os.File) (pid int, err error) {
	keepFiles()
	fd := file.Fd()
	return syscall.ForkExec(exe, args, &syscall.ProcAttr{
		Dir: string(os.PathSeparator), Env: env, Files: []uintptr{fd, fd, fd}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// kill ends the child, if there is one, and collects it, so that a wait that loses
// many turns to others leaves no zombies. The pid is the child's own until it is
// collected, and it is killed once at most.
func (c *child) kill() {
	if c == nil {
		return
	}
	c.ended.Do(func() {
		_ = syscall.Kill(c.process.PID, syscall.SIGKILL)
		go func() { _, _ = syscall.Wait4(c.process.PID, nil, 0, nil) }()
	})
}

// keepFiles keeps what our caller left open from the processes we start. Go's
// own files are kept anyway; a pipe that a shell or a harness handed down is
// not, and whoever waits for its end would wait for as long as a guardian lives.
func keepFiles() {
	const first = 3 // after standard input, output and error
	if keepFrom(first) == nil {
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
