package member

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// PathFile has the directory of a room on this host, where an agent joined it or it was imported.
const PathFile = "path"

// here returns the directory on this host of a room that several share, or that was imported from
// another directory; "" if it is not known, or the one where the room was made.
func (r *Room) here() string {
	if r.hosts != nil {
		if dir := r.inChain(); dir != "" && !r.Workspace.ByID() {
			return dir
		}
	}
	return r.FS.Kept(PathFile)
}

// Path returns the directory on this host of a room, as far as it is known.
func (r *Room) Path(st *turn.State) string { return cmp.Or(r.here(), st.CanonicalPath) }

// above returns the directory on this host of a room above the workspace, or above a directory in it.
func (r *Room) above(st *turn.State) string {
	return cmp.Or(r.among(append(r.Workspace.Chain(), r.Workspace.Above()...)), st.CanonicalPath)
}

// among returns which of the directories has the room, "" if none has.
func (r *Room) among(dirs []string) string {
	for _, dir := range dirs {
		if fsroom.RoomName(r.Workspace.Identity(dir)) == r.FS.Name() {
			return dir
		}
	}
	return ""
}

// Below returns the directory on this host of a room that is below the root of the workspace, "" if
// it is not. Where nobody joined it here, the path is that of another host: its end, with the name
// of the workspace before it, has to be what the room is called.
func (r *Room) Below(st *turn.State) string {
	root := r.Workspace.Root
	dir := cmp.Or(r.FS.Kept(PathFile), st.CanonicalPath)
	for rest := dir; r.hosts != nil && r.FS.Kept(PathFile) == ""; {
		_, after, more := strings.Cut(rest, string(filepath.Separator))
		if !more {
			return ""
		}
		rest, dir = after, filepath.Join(root, after)
		if dir != root && fsroom.RoomName(r.Workspace.Identity(dir)) == r.FS.Name() {
			return dir
		}
	}
	if below, err := filepath.Rel(root, dir); err != nil || below == "." || !filepath.IsLocal(below) {
		return ""
	}
	return dir
}

// recordPath records the directory in which an agent of this host is a member.
func (r *Room) recordPath() {
	if dir := r.here(); dir != "" && dir != r.FS.Kept(PathFile) {
		r.FS.Keep(PathFile, dir)
	}
}

// RoomsBelow returns the rooms in directories below the root of the workspace, without those
// whose names are excluded.
func (c *Client) RoomsBelow(w *workspace.Workspace, excluded []string) (found []turn.RoomView) {
	names, _ := c.Rooms() // what cannot be read is a matter of --all
	for _, name := range names {
		room := c.Room(name, w)
		if slices.Contains(excluded, name) || !room.FS.Exists() {
			continue
		}
		snap, err := room.FS.View()
		if err != nil || room.Ended(snap.State) {
			continue
		}
		if dir := room.Below(snap.State); dir != "" {
			v := room.Look(snap).Room()
			v.CanonicalPath = dir
			found = append(found, v)
		}
	}
	return found
}
