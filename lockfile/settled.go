package lockfile

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// Settled returns nil when the lock on the file at path was free at some moment
// after the call: whoever had it then has finished, or is dead. Any number of
// callers are let through at once, and none keeps the lock. A file that does not
// exist is free and is not created. It waits and fails as [Lock] does.
func Settled(ctx context.Context, path string) error {
	unlock, err := locker{path: path, open: openShared}.lock(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return unlock()
}

// A shared handle takes the lock together with others of its kind.
type shared struct{ *flock.Flock }

func (s shared) TryLock() (bool, error) { return s.TryRLock() }
func (s shared) Lock() error            { return s.RLock() }

func openShared(path string) handle {
	return shared{flock.New(path, flock.SetFlag(lockFlags&^os.O_CREATE))}
}
