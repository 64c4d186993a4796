//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

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
