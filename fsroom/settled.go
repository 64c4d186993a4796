package fsroom

import "context"

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
		if err != nil || snap.fresh || r.IsShared() { // the engine has what a mirror shows
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
