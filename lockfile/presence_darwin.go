package lockfile

import "golang.org/x/sys/unix"

// queryLock asks about record locks. These kernels keep flock and record locks of
// a file in one list, so the answer includes flocks. (Linux keeps two lists.)
const queryLock = unix.F_GETLK

// lockShared takes a flock, which belongs to the open file. A record lock would
// belong to the process: it ends when the process closes any descriptor of the
// file, and does not conflict with a query of the same process.
func lockShared(fd uintptr) error {
	return unix.Flock(int(fd), unix.LOCK_SH|unix.LOCK_NB)
}
