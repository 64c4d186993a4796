package member

import (
	"os"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
)

// Held returns the open rooms whose turn somebody has, as this host knows them, and those in which somebody may have had
// one since a moment. It takes no lock and asks no engine.
func Held(store *fsroom.Store, since time.Time) (rooms []*turn.State) {
	store = store.Offline()
	names, _ := fsroom.Folders(store, roomtypes.Stick())
	for _, name := range names {
		room := fsroom.At(store, roomtypes.Stick(), name)
		ended := !room.HasJournal()
		if info, err := os.Stat(room.StatePath()); ended && (err != nil || !info.ModTime().After(since)) {
			continue
		}
		snap, err := room.Known()
		if err == nil && (snap.State.Owner != "" || snap.State.Pending.At.Wall.After(since) || ended && snap.State.Turn > 0) {
			rooms = append(rooms, snap.State)
		}
	}
	return rooms
}
