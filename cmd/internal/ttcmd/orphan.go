package ttcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
)

// A room whose directory was renamed or removed is orphaned: it goes on by its
// path, but nobody comes to it any more by being there.

// pathMissing reports whether there is nothing at the path of a room.
func pathMissing(canonicalPath string) bool {
	_, err := os.Lstat(canonicalPath)
	return errors.Is(err, fs.ErrNotExist)
}

// A missingPath is a room whose directory is gone.
type missingPath struct {
	RoomID        string `json:"room_id"`
	CanonicalPath string `json:"canonical_path"`
	PathMissing   bool   `json:"path_missing"` // true
}

// missingPaths lists the rooms whose directory is gone and that are as wanted. It
// reads every room.
func (d *desk) missingPaths(wanted func(*turn.State) bool) (missing []missingPath) {
	names, err := fsroom.Rooms(d.store, rules)
	if err != nil {
		return nil
	}
	for _, name := range names {
		s := &seat{desk: d, room: fsroom.At(d.store, rules, name)}
		snap, err := s.room.View()
		if err != nil {
			continue
		}
		if st := snap.State; wanted(st) && !s.ended(st) && pathMissing(st.CanonicalPath) {
			missing = append(missing, missingPath{st.RoomID, st.CanonicalPath, true})
		}
	}
	return missing
}

// orphaned returns the paths of the rooms that the caller is still a member of and
// whose directory is gone. It is for commands that found no room or make one.
func (d *desk) orphaned() (paths []string) {
	for _, m := range d.missingPaths(func(st *turn.State) bool { return st.Member(d.me.ID) != nil }) {
		paths = append(paths, m.CanonicalPath)
	}
	return paths
}

// orphanWords says how to get out of an orphaned room.
func orphanWords(path string) string {
	return fmt.Sprintf("you are still a member of the room of %[1]s, which is not there any more: end that with \"tt leave --path '%[1]s'\"", path)
}
