package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// quit ends the process with status. A shell leaves a loop on ^C only if the
// command in it was ended by SIGINT itself, not if it exits with 130. So a command
// that was interrupted at a terminal ends by the signal, after it has written its
// messages; the shell shows the status 130 for it as well.
func quit(env *Env, status int) {
	if status == 128+int(syscall.SIGINT) && (env.StdinTTY || env.StdoutTTY || env.StderrTTY) {
		signal.Reset(syscall.SIGINT)
		if syscall.Kill(os.Getpid(), syscall.SIGINT) == nil {
			time.Sleep(time.Second) // a deadline: the signal, which another thread may get, ends the process
		}
	}
	os.Exit(status)
}

// duplicate returns standard output or standard error under another descriptor.
// The Go runtime ends the process when a write to descriptor 1 or 2 meets a closed
// pipe, and the caller would not learn whether the command was carried out. On
// any other descriptor that write is an error. Ignoring SIGPIPE would have the
// same effect, but also for every process that is started from here.
func duplicate(file *os.File) *os.File {
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return file // it is closed, or there are no descriptors left
	}
	return os.NewFile(uintptr(fd), file.Name())
}

// canWrite reports whether a write of size bytes to file would not wait for a
// reader. A pipe that is not full has room for a page.
func canWrite(file *os.File, size int) bool {
	const page = 4096
	if size > page {
		return false
	}
	poll := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n == 1 && poll[0].Revents&unix.POLLOUT != 0
}
