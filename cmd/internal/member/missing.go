package member

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/turn"
)

// PathMissing reports whether the directory of a room was renamed or removed. A link
// or a file may have its name now. The
// room goes on, but only commands that name its path find it. A room that was opened
// elsewhere does not belong to the directory in which it was opened.
func PathMissing(room, canonicalPath string) bool {
	info, err := os.Lstat(canonicalPath)
	return (errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir()) && room == fsroom.RoomName(canonicalPath)
}

// MissingPaths returns the rooms whose directory is gone. It reads every room.
func (c *Client) MissingPaths() (missing []*turn.State) {
	if c.Store.IsShared() {
		return nil
	}
	names, err := c.Rooms()
	if err != nil {
		return nil
	}
	for _, name := range names {
		r := c.Room(name, nil)
		snap, err := r.FS.View()
		if err == nil && PathMissing(name, snap.State.CanonicalPath) && !r.Ended(snap.State) {
			missing = append(missing, snap.State)
		}
	}
	return missing
}

// lost returns the rooms that the agent is still a member of and whose directory is gone.
// It is for commands that found no room or create one.
func (c *Client) lost() (rooms []*turn.State) {
	for _, st := range c.MissingPaths() {
		if st.Member(c.Self.ID) != nil {
			rooms = append(rooms, st)
		}
	}
	return rooms
}

// tellLost adds to a refusal what the agent can do about rooms that are lost to it.
func (c *Client) tellLost(e *code.Error) *code.Error {
	var paths []string
	for _, st := range c.lost() {
		paths = append(paths, st.CanonicalPath)
		e.Hint += "; " + lostHint(st, c.Self.ID, e.Code == code.RoomNotFound)
	}
	if paths != nil {
		e.With("missing_paths", paths)
	}
	return e
}

// lostHint says what an agent can do that is still a member of a room whose directory is
// gone. Who holds the stick there is told to release it first, so that its handoff is not
// lost. Where there is no room yet, that one can be brought there.
func lostHint(st *turn.State, me string, canImport bool) string {
	word := code.ShellWord(st.CanonicalPath)
	hint := fmt.Sprintf("you are still a member of the room of %s, which is not there any more", st.CanonicalPath)
	if st.Owner == me {
		hint += fmt.Sprintf(", and hold the stick there: end the turn with \"tt release --path %s …\"", word)
	} else {
		hint += heldBy(st)
	}
	if canImport {
		hint += fmt.Sprintf("; if it was renamed, \"tt room export --path %s >FILE\" and here \"tt room import FILE\" bring its turns and notes", word)
	}
	return hint + fmt.Sprintf("; end it with \"tt leave --path %s\"", word)
}

// heldBy says who has the stick of a room, "" if nobody has.
func heldBy(st *turn.State) string {
	switch {
	case st.Owner != "":
		return ", where " + st.Owner + " holds the stick"
	case st.ReservedFor != "":
		return ", where the turn is reserved for " + st.ReservedFor
	}
	return ""
}
