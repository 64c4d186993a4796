//go:build unix

package lockfile

import (
	"os"
	"syscall"
)

// guardFlags keep an open from leaving the directory through a symbolic link and
// from waiting for the other end of a FIFO.
const guardFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// A lock needs no permission to write, so a directory that is read-only can still
// be locked once its lock file exists.
const lockFlags = os.O_CREATE | os.O_RDONLY | guardFlags
