package lockfile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// Hold marks the file at path as held by this process until release is called or
// the process ends.
func Hold(path string) (release func(), err error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	locked, err := l.TryRLock()
	if err != nil {
		return nil, err
	}
	if !locked { // another process calls Held at this moment
		err = l.RLock()
	}
	return func() { _ = l.Unlock() }, err
}

func isFree(string) bool { return false }

// Held reports whether any process holds the file at path. It takes the lock to learn
// whether it is free, because Windows cannot be asked. Two processes that call it at
// the same time may take each other for holders.
func Held(path string) (bool, error) {
	if err := checkRegular(path); err != nil {
		return false, err
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	free, err := l.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !free, l.Unlock()
}
