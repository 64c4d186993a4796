package session

import (
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// A Session is what a process knows before it opens a room. It has touched no room and
// connected to nothing. A part that could not be found has an error instead, which
// concerns only who needs the part.
type Session struct {
	DataDir   string // of this host; "" if NoDataDir
	NoDataDir error

	// Workspace is that of the path. It may be there beside Missing, see [workspace.Locate].
	Workspace *workspace.Workspace
	Missing   error

	// Engine has the rooms of the workspace; nil if they are those of this host, or if NoEngine.
	Engine   *hosts.Service
	NoEngine error

	path, room string
}

// Find returns the session of a path, "" for the current directory. The room is what --room
// says, "" for nothing.
func Find(env *cli.Env, path, room string) *Session {
	if path == "" {
		path = env.Dir
	}
	s := &Session{path: path, room: room}
	s.Workspace, s.Missing = LocatePath(env, path)
	s.DataDir, s.NoDataDir = workspace.DataDir(env.Lookup, env.Home)
	s.Engine, s.NoEngine = hosts.Find(env.Lookup, room, s.DataDir, s.Workspace)
	return s
}

// Of returns the session of a path for a command. The command keeps the last one: it opens
// the store of its workspace before it opens the room.
func Of(c *cli.Invocation, path string) *Session {
	if path == "" {
		path = c.Env.Dir
	}
	if s, ok := c.Kept.(*Session); ok && s.path == path {
		return s
	}
	room := ""
	if c.Declares("room") {
		room = c.String("room")
	}
	s := Find(c.Env, path, room)
	c.Kept = s
	return s
}

// Share gives the workspace, which must be there, the name by which all hosts know its room:
// that of --room or of the environment, else the one that sharing finds.
func (s *Session) Share(env *cli.Env, sharing hosts.Sharing) (err error) {
	given := s.room
	if given == "" {
		given = env.Lookup(hosts.RoomVariable)
	}
	s.Workspace.Shared, err = sharing.Name(s.Workspace.Root, given)
	return err
}
