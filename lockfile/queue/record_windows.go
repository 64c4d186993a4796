package queue

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// region returns where the lock lies: locks on Windows keep others from reading, so it
// lies far behind the content.
func region() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 16} }

// lockTicket takes the lock for this process, or returns errTaken.
func lockTicket(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, region())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errTaken
	}
	return err
}

// isLocked tries to share the lock for a moment, because Windows cannot be asked.
func isLocked(f *os.File) (bool, error) {
	handle := windows.Handle(f.Fd())
	err := windows.LockFileEx(handle, windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, region())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, windows.UnlockFileEx(handle, 0, 1, 0, region())
}

// await waits until the lock of a ticket is free.
func await(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), 0, 0, 1, 0, region())
}

// inherit does nothing: the process that has the lock waits for its command.
func inherit(*os.File) error { return nil }
