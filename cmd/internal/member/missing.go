package member

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
)

// PathMissing reports whether the directory of a room was renamed or removed. The
// room goes on, but only commands that name its path find it. A room that was opened
// elsewhere does not belong to the directory in which it was opened.
func PathMissing(room, canonicalPath string) bool {
	_, err := os.Lstat(canonicalPath)
	return errors.Is(err, fs.ErrNotExist) && room == fsroom.RoomName(canonicalPath)
}

// MissingPaths returns the rooms whose directory is gone. It reads every room.
func (c *Client) MissingPaths() (missing []*turn.State) {
	if c.Store.Options().Host != "" {
		return nil
	}
	names, err := c.Rooms()
	if err != nil {
		return nil
	}
	for _, name := range names {
		r := c.Room(name, nil)
		snap, err := r.View()
		if err == nil && PathMissing(name, snap.State.CanonicalPath) && !r.Ended(snap.State) {
			missing = append(missing, snap.State)
		}
	}
	return missing
}

// lostPaths returns the paths of the rooms that the agent is still a member of and
// whose directory is gone. It is for commands that found no room or create one.
func (c *Client) lostPaths() (paths []string) {
	for _, st := range c.MissingPaths() {
		if st.Member(c.Self.ID) != nil {
			paths = append(paths, st.CanonicalPath)
		}
	}
	return paths
}

// leaveHint says how to leave a room whose directory is gone.
func leaveHint(path string) string {
	return fmt.Sprintf("you are still a member of the room of %[1]s, which is not there any more: end that with \"tt leave --path '%[1]s'\"", path)
}
