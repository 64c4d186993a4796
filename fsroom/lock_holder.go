package fsroom

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/lockfile"
)

// StoppedLockHolder returns the process that has the lock of the room if it is suspended,
// so that no other process can get the lock; nil if there is none or that is not known.
func (r *Files[S]) StoppedLockHolder() *lockfile.Holder {
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	// Nearly always the lock is free. Reading the list of all locks of the machine costs more
	// than the rest of a reading command where many processes have some.
	var busy *lockfile.BusyError
	if !errors.As(lockfile.Settled(ctx, r.LockPath()), &busy) {
		return nil
	}
	if h := busy.Holder; h != nil && (h.State == "stopped" || h.State == "traced") {
		return h
	}
	return nil
}
