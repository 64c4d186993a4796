//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package lockfile

import "golang.org/x/sys/unix"

// These kernels keep flock and record locks of a file in one list, so the
// question for a record lock sees a flock. (Linux keeps two lists.)
const queryLock = unix.F_GETLK

// lockShared takes a flock, which belongs to the open file. A record lock would
// belong to the process: any close of the same file anywhere in the process
// drops it, and the process cannot see it when it asks.
func lockShared(fd uintptr) error {
	return unix.Flock(int(fd), unix.LOCK_SH|unix.LOCK_NB)
}
