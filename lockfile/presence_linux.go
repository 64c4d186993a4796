package lockfile

import (
	"io"

	"golang.org/x/sys/unix"
)

const queryLock = unix.F_OFD_GETLK

// lockShared takes a lock that belongs to the open file. A classic record lock
// would belong to the process: it ends when the process closes any descriptor of
// the file, and does not conflict with a query of the same process.
func lockShared(fd uintptr) error {
	return unix.FcntlFlock(fd, unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart})
}
