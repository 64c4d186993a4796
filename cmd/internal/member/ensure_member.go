package member

import (
	"context"

	"github.com/talking-stick/tt/fsroom/turn"
)

// EnsureMember returns the room if the agent is a member. A person or a visitor who is none
// becomes an observer, unless check refuses what it is about to do.
func (r *Room) EnsureMember(ctx context.Context, check func(*turn.State) error) (*snapshot, error) {
	snap, err := r.FS.View()
	if err != nil {
		return nil, err
	}
	switch {
	case r.IsMember(snap.State) && !r.Ended(snap.State):
	case r.IsHuman() || r.Visits:
		if check != nil {
			if err := check(snap.State); err != nil {
				return nil, err
			}
		}
		return r.join(ctx, true)
	default:
		return nil, turn.NotJoined(snap.State, r.Self.ID)
	}
	r.RecordPresence(ctx, snap.State)
	return snap, nil
}
