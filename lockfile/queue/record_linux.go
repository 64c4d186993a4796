package queue

import "golang.org/x/sys/unix"

// Waiting and asking use locks of open files, which conflict with the record locks of
// processes: the wait of a thread then is no wait of its process, and the kernel looks
// for no deadlock where there is none.
const (
	queryLock = unix.F_OFD_GETLK
	awaitLock = unix.F_OFD_SETLKW
)
