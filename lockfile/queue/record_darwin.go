package queue

import "golang.org/x/sys/unix"

// Where open files have no locks, those of processes are used for all.
const (
	queryLock = unix.F_GETLK
	awaitLock = unix.F_SETLKW
)
