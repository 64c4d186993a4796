package fsroom

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/talking-stick/tt/lockfile"
)

// LockFolder takes the lock of a folder of rooms, for what concerns all of them,
// such as making a room under a name that no other has. It waits as long as for
// a room's lock; errors are those of [Room.Update]. The folder is made if need be.
//
// Rooms can be locked and changed meanwhile, by the caller too: nobody who has a
// room's lock waits for this one.
func (s *Store) LockFolder(ctx context.Context, folder string) (unlock func() error, err error) {
	if err := s.step(StepLock); err != nil {
		return nil, s.Explain(err, s.dir)
	}
	dir := filepath.Join(s.dir, folder)
	path := filepath.Join(dir, "lock")
	ctx, cancel := context.WithTimeout(ctx, s.opts.Patience)
	defer cancel()
	unlock, err = lockfile.Lock(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = MakeDir(dir); err == nil {
			unlock, err = lockfile.Lock(ctx, path)
		}
	}
	return unlock, s.Explain(err, path)
}
