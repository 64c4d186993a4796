package second

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/talking-stick/tt/cmd/internal/cli"
)

// Exec runs the program and ends with its exit status: a process cannot become another
// program on Windows. The program ends when this process does, so that it never runs
// without the lock; what the program leaves behind stays.
func Exec(path string, argv, env []string, held Held) error {
	if held != nil {
		defer held.Release()
	}
	job, err := joinJob()
	if err != nil {
		return cannotRun(path, err)
	}
	defer windows.CloseHandle(job)
	signal.Ignore(os.Interrupt) // the program has it too, and decides
	cmd := exec.Command(path, argv[1:]...)
	cmd.Args[0], cmd.Env = argv[0], env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if limited := limitJob(job, 0); limited != nil && err == nil {
		err = limited
	}
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return cli.Exit(ended.ExitCode())
	}
	if err != nil {
		return cannotRun(path, err)
	}
	return nil
}

// joinJob puts this process, and so its children, into a new job that ends with it.
func joinJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	if err = limitJob(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err == nil {
		err = windows.AssignProcessToJobObject(job, windows.CurrentProcess())
	}
	if err != nil {
		windows.CloseHandle(job)
	}
	return job, err
}

func limitJob(job windows.Handle, flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}
