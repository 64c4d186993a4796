package lockfile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

func hold(path string) (func(), error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	locked, err := l.TryRLock()
	if err != nil {
		return nil, err
	}
	if !locked { // somebody asks at this very moment: wait for the answer
		err = l.RLock()
	}
	return func() { _ = l.Unlock() }, err
}

// held has to take the lock to learn whether it is free; Windows has no question
// for it. Two who ask at once may take each other for a holder.
func held(path string) (bool, error) {
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
