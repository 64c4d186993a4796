package member

import (
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
)

// HeldRooms returns the directories of the open rooms whose turn somebody has, as this host knows them. It takes no
// lock and asks no engine.
func (c *Client) HeldRooms() (dirs []string) {
	offline := c.Offline()
	names, _ := fsroom.Folders(offline.Store, roomtypes.Stick())
	for _, name := range names {
		if snap, err := offline.Room(name, nil).FS.Known(); err == nil && snap.State.Open && snap.State.Owner != "" {
			dirs = append(dirs, snap.State.CanonicalPath)
		}
	}
	return dirs
}
