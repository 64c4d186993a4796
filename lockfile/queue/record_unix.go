package queue

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// record returns a lock of the first byte.
func record(kind int16) *unix.Flock_t {
	return &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: 0, Len: 1}
}

func control(f *os.File, command int, lock *unix.Flock_t) error {
	for {
		if err := unix.FcntlFlock(f.Fd(), command, lock); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// lockTicket takes the record lock for this process, or returns errTaken.
func lockTicket(f *os.File) error {
	err := control(f, unix.F_SETLK, record(unix.F_WRLCK))
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errTaken
	}
	return err
}

// isLocked reports whether another descriptor has the record lock. It asks as a reader:
// processes that wait for the ticket have it read-locked for a moment.
func isLocked(f *os.File) (bool, error) {
	lock := record(unix.F_RDLCK)
	err := control(f, queryLock, lock)
	return lock.Type != unix.F_UNLCK, err
}

// await waits until the record lock of a ticket is free.
func await(f *os.File) error { return control(f, awaitLock, record(unix.F_RDLCK)) }

// inherit leaves f open when the process becomes another program: closing it would
// release the record lock.
func inherit(f *os.File) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0)
	return err
}
