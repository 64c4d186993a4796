package lockfile

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Hold marks the file at path as held by this process until release is called or
// the process ends, however it ends. It never waits. The file is created with mode
// 0600 if it is missing and is not removed. Several processes may hold one file.
//
// Keep release reachable as long as the hold is to last: the garbage collector
// closes a file that nothing refers to. Calling release again does nothing.
// Everything but a regular file is refused with a [*NotRegularError].
func Hold(path string) (release func(), err error) {
	f, err := HoldFile(path)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// HoldFile is [Hold] for a hold that is to be shared with a process that the caller starts:
// it lasts until all processes that have the file open have closed it or ended.
func HoldFile(path string) (*os.File, error) {
	f, err := OpenRegular(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	Adopt(path)
	if err := retry(func() error { return lockShared(f.Fd()) }); err != nil {
		f.Close()
		return nil, explain(path, "hold", err)
	}
	return f, nil
}

// Held reports whether any process, this one included, holds the file at path. A
// missing file is not held. The answer may be out of date when Held returns, unless
// the caller has a lock that holders take first.
func Held(path string) (bool, error) {
	f, err := OpenRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	// The kernel is asked which lock would conflict with a write lock. A probe that
	// takes the lock would make two callers take each other for holders.
	question := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := retry(func() error { return unix.FcntlFlock(f.Fd(), queryLock, &question) }); err != nil {
		return false, explain(path, "ask for a holder of", err)
	}
	return question.Type != unix.F_UNLCK, nil
}
