//go:build unix

package lockfile

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func hold(path string) (func(), error) {
	f, err := openRegular(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	Adopt(path)
	if err := retry(func() error { return lockShared(f.Fd()) }); err != nil {
		f.Close()
		return nil, explain(path, "hold", err)
	}
	return func() { f.Close() }, nil
}

// held asks which lock would stand in the way of a write lock on the whole file.
// Asking takes nothing. A probe that tried to lock would for a moment be what it
// looks for: two who ask at once would each take the other for a holder.
func held(path string) (bool, error) {
	fd, _, err := openBare(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	question := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := retry(func() error { return unix.FcntlFlock(uintptr(fd), queryLock, &question) }); err != nil {
		return false, explain(path, "ask for a holder of", err)
	}
	return question.Type != unix.F_UNLCK, nil
}

// openBare opens a regular file to read it, without package os, and returns its size.
func openBare(path string) (fd int, size int64, err error) {
	err = retry(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|guardFlags, 0)
		return err
	})
	if err != nil {
		return 0, 0, explain(path, "open", err)
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		if err = checkRegular(path); err == nil {
			err = unix.EINVAL
		}
	}
	if err != nil {
		unix.Close(fd)
		return 0, 0, explain(path, "open", err)
	}
	return fd, st.Size, nil
}

func openRegular(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|guardFlags, 0o600)
	if err != nil {
		return nil, explain(path, "open", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &NotRegularError{Path: path, Mode: info.Mode().Type()}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
