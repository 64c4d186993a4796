//go:build !windows

package member

import (
	"os"
	"syscall"

	"github.com/talking-stick/tt/cmd/internal/jobs"
)

// startDetached starts a program in a session of its own: it has no terminal, gets no
// signals meant for our process group, and has no open files but its standard output,
// if out is not nil. os/exec would first start a process to find out what the kernel can do.
func startDetached(exe string, args, env []string, out *os.File) (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	jobs.CloseOnExec(3) // after standard input, output and error
	fd := null.Fd()
	files := []uintptr{fd, fd, fd}
	if out != nil {
		files[1] = out.Fd()
	}
	return syscall.ForkExec(exe, args, &syscall.ProcAttr{
		Dir: string(os.PathSeparator), Env: env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
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
