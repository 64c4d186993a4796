package fsroom

import (
	"path/filepath"
	"slices"
	"strings"
)

// importedFile has the names that the room had where it was before, a line each.
const importedFile = "imported"

// IsOwn reports whether a line of the room's journal may have the room_id: the room's own, or one that
// the room had where it was before. A mirror has what the engine has.
func (r *Files[S]) IsOwn(roomID string) bool {
	return roomID == r.name || roomID == "" || !r.isAlone() || slices.Contains(strings.Fields(r.Kept(importedFile)), roomID)
}

// Adopt allows lines with the room_id in the journals of the room. The caller has the lock.
func (r *Files[S]) Adopt(roomID string) error {
	if r.IsOwn(roomID) {
		return nil
	}
	return r.Replace(filepath.Join(r.dir, importedFile), []byte(r.Kept(importedFile)+roomID+"\n"))
}
