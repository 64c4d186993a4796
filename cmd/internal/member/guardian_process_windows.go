package member

import (
	"os"
	"syscall"
)

// startDetached starts a program that has no console, and no open files but its standard
// output, if out is not nil.
func startDetached(exe string, args, env []string, out *os.File) (pid int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	if out == nil {
		out = null
	}
	const detachedProcess = 0x00000008
	p, err := os.StartProcess(exe, args, &os.ProcAttr{
		Dir: string(os.PathSeparator), Env: env, Files: []*os.File{null, out, null},
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
