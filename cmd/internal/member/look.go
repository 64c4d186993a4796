package member

import "github.com/talking-stick/tt/fsroom/turn"

// A Look is a room as it was at one moment of the looking: nothing has happened in it between the
// reading of its state and that of all that is known of its members and processes.
type Look struct {
	Seen  *snapshot
	State *turn.State // that of Seen
	Facts turn.Facts  // what they say was looked up by Look
}

// Room returns the room as results show it.
func (l Look) Room() turn.RoomView { return l.State.Room(l.Facts) }

// mostLooks bounds how often a room is looked at that changes all the time.
const mostLooks = 20

// Look looks at the room, which the caller has just read as seen. It is for those who tell others of
// it; a change decides on what is true under the lock.
func (r *Room) Look(seen *snapshot) (l Look) {
	_ = r.Steadily(seen, func(seen *snapshot) error {
		l = Look{seen, seen.State, r.Facts(seen.State).Settled(seen.State)}
		return nil
	})
	return l
}

// Steadily calls look with the room as it was seen, and again with the room as it is as long as it
// has changed meanwhile: what look has seen last was true at one moment of the looking. It returns
// the error of that.
func (r *Room) Steadily(seen *snapshot, look func(*snapshot) error) error {
	for tries := 1; ; tries++ {
		lease := r.held(seen.State)
		err := look(seen)
		now, readErr := r.FS.KnownAfter(seen)
		same := readErr != nil || now.State.Seq == seen.State.Seq && now.State.Open == seen.State.Open && lease == r.held(now.State)
		if same || tries == mostLooks {
			return err
		}
		seen = now
	}
}

// held is what the record says of who keeps the turn in progress.
func (r *Room) held(st *turn.State) turn.Lease {
	l := r.recorded(st)
	return turn.Lease{Fence: l.Fence, Guardian: l.Guardian, Holder: l.Holder, ByHand: l.ByHand, Ended: l.Ended}
}
