package member

import (
	"os"
	"syscall"
)

// startDetached starts a program that has no console, and no files besides.
func startDetached(exe string, args, env []string, file *os.File) (pid int, err error) {
	const detachedProcess = 0x00000008
	p, err := os.StartProcess(exe, args, &os.ProcAttr{
		Dir: string(os.PathSeparator), Env: env, Files: []*os.File{file, file, file},
		Sys: &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess},
	})
	if err != nil {
		return 0, err
	}
	return p.Pid, nil
}

// kill ends the guardian.
func (g *guardianProcess) kill() {
	if g == nil {
		return
	}
	if p, err := os.FindProcess(g.PID); err == nil {
		_ = p.Kill()
	}
}
