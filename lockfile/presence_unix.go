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
	f, err := openRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	question := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := retry(func() error { return unix.FcntlFlock(f.Fd(), queryLock, &question) }); err != nil {
		return false, explain(path, "ask for a holder of", err)
	}
	return question.Type != unix.F_UNLCK, nil
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
