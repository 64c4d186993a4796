package fsroom

import (
	"context"
	"errors"

	"github.com/talking-stick/tt/lockfile"
)

// settledTries bounds how often [Room.SettledView] looks again.
const settledTries = 3

// SettledView is [Room.View] for those who record what they have seen. Events may be read
// before their writer has synced them, and if the sync fails they are undone and their
// numbers given out again. settled reports that no event of the snapshot can be undone: it
// waits for the change that is under way, but not for long.
func (r *Room[S]) SettledView(ctx context.Context) (snap *Snapshot[S], settled bool, err error) {
	for range settledTries {
		before := r.journalStamp()
		snap, err = r.View()
		if err != nil || snap.fresh || r.shared != nil { // the engine has what a mirror shows
			return snap, true, err
		}
		// Nobody has the lock now, so what was there before and still is stays: who writes
		// next syncs what a killed writer has left.
		if !r.Settled(ctx) {
			break
		}
		if r.journalStamp() == before {
			return snap, true, nil
		}
	}
	return snap, false, nil
}

// Settled waits until the change that is under way is over. It returns false if that
// takes too long.
func (r *Files[S]) Settled(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, r.store.opts.Patience)
	defer cancel()
	var busy *lockfile.BusyError
	return !errors.As(lockfile.Settled(ctx, r.LockPath()), &busy)
}

// IsChanging reports whether a change is under way.
func (r *Files[S]) IsChanging() bool { return r.lockBusy() != nil }

// StoppedLockHolder returns the process that has the lock of the room if it is suspended,
// so that no other process can get the lock; nil if there is none or that is not known.
func (r *Files[S]) StoppedLockHolder() *lockfile.Holder {
	busy := r.lockBusy()
	if busy == nil || busy.Holder == nil || busy.Holder.State != "stopped" && busy.Holder.State != "traced" {
		return nil
	}
	return busy.Holder
}

// lockBusy returns nil if no process has the lock. Nearly always it is free, and reading the list of
// all locks of the machine costs more than the rest of a reading command where many processes have
// some.
func (r *Files[S]) lockBusy() *lockfile.BusyError {
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	var busy *lockfile.BusyError
	errors.As(lockfile.Settled(ctx, r.LockPath()), &busy)
	return busy
}
