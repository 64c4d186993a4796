package fsroom

import "github.com/talking-stick/tt/lockfile"

// StoppedLockHolder returns the process that has the lock of the room if it is suspended,
// so that no other process can get the lock; nil if there is none or that is not known.
func (r *Files[S]) StoppedLockHolder() *lockfile.Holder {
	if h, held := lockfile.FindHolder(r.LockPath()); held && h != nil && (h.State == "stopped" || h.State == "traced") {
		return h
	}
	return nil
}
