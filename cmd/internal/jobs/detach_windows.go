package jobs

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// StartDetached starts a program that has no console, and no open files but its standard
// output, if out is not nil. More files cannot be handed down here.
func StartDetached(exe string, args, env []string, out *os.File, files ...*os.File) (pid int, err error) {
	if len(files) > 0 {
		return 0, &os.SyscallError{Syscall: "start a job", Err: errors.ErrUnsupported}
	}
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

func hold(string) (*os.File, error) {
	return nil, &os.SyscallError{Syscall: "start a job", Err: errors.ErrUnsupported}
}

// closeOnExec does nothing: files are not inherited here unless that is asked for.
func closeOnExec(int) {}

func ownSession(*exec.Cmd) {}

func signalGroup(int, syscall.Signal) {}

func endedBy(state *os.ProcessState) (exit *int, signal string) {
	code := state.ExitCode()
	return &code, ""
}

// SignalNumber returns the number of a signal by its name, 0 for none.
func SignalNumber(string) int { return 0 }
