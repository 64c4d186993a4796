package ttcmd

import (
	"github.com/talking-stick/tt/fsroom"
)

// reader returns the caller's place in the room of the path as seat does. With
// past it can also be a room that has ended, whose events are in the archive.
func (d *desk) reader(past bool) (*seat, error) {
	w, missing := d.workspace()
	s, err := d.seatIn(w, missing)
	if err == nil || !past || w == nil {
		return s, err
	}
	for _, dir := range w.Chain() {
		ended := &seat{desk: d, room: fsroom.At(d.store, rules, fsroom.RoomName(dir)), workspace: w}
		snap, viewErr := ended.room.View()
		if viewErr == nil && snap.State.Seq > 0 {
			ended.first = snap
			d.call.Warn("the room at %s has ended; this is its history", dir)
			return ended, nil
		}
	}
	return nil, err
}
