package lockfile

import (
	"io"

	"golang.org/x/sys/unix"
)

const queryLock = unix.F_OFD_GETLK

// lockShared takes a lock that belongs to the open file. A classic record lock
// would belong to the process: any close of the same file anywhere in the
// process drops it, and the process cannot see it when it asks.
func lockShared(fd uintptr) error {
	return unix.FcntlFlock(fd, unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart})
}
