//go:build !windows

package fsroom

import "syscall"

// openFlags keep an open from following a planted link or hanging on a FIFO.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
