package jobs

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func startDetached(string, []string, []string, ...*os.File) (int, error) {
	return 0, &os.SyscallError{Syscall: "start a job", Err: errors.ErrUnsupported}
}

func hold(string) (*os.File, error) {
	return nil, &os.SyscallError{Syscall: "start a job", Err: errors.ErrUnsupported}
}

// CloseOnExec does nothing: files are not inherited here unless that is asked for.
func CloseOnExec(int) {}

func ownSession(*exec.Cmd) {}

func signalGroup(int, syscall.Signal) {}

func endedBy(state *os.ProcessState) (exit *int, signal string) {
	code := state.ExitCode()
	return &code, ""
}

// SignalNumber returns the number of a signal by its name, 0 for none.
func SignalNumber(string) int { return 0 }
