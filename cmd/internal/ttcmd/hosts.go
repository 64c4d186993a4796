package ttcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/roomarg"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
)

// sharedStore is openStore for a command whose rooms an engine shares: it opens the
// mirrors of this host. A program without engines becomes the one that has them.
//
// Commands that must not wait for a network, such as a shell prompt or a guard of edits, see the
// mirror alone.
func sharedStore(c *cli.Invocation, service *hosts.Service, dataDir string, o fsroom.Options) (*fsroom.Store, error) {
	if build.Sharing == nil {
		return nil, becomeEngine(c, service)
	}
	if slices.Contains(mayBeBehind(), c.Cmd.Name) {
		o.Behind = func(err error) bool {
			c.Warn("%s; this is what this host knew last", messageOf(err))
			return true
		}
	}
	return build.Sharing.Open(service, dataDir, o, seesMirrorOnly(c))
}

// mayBeBehind are the commands that show the mirror while the engine cannot be reached.
func mayBeBehind() []string { return []string{"state", "status", "log", "list"} }

func seesMirrorOnly(c *cli.Invocation) bool {
	return c.Cmd.Hidden && c.Cmd.Name != "guard" || forPrompt(c)
}

// engineOf returns the engine of the command's rooms, nil if they are those of this host.
func engineOf(c *cli.Invocation, dataDir string) (*hosts.Service, error) {
	if c.Cmd.Group == groupLocks {
		return nil, nil // locks are those of this host
	}
	var w *workspace.Workspace
	if c.Declares("path") {
		w, _ = roomarg.Locate(c)
	} else {
		w, _ = roomarg.LocatePath(c.Env, "")
	}
	return hosts.Find(c.Env.Lookup, dataDir, w)
}

// becomeEngine becomes the program that has the engine, with the same command line. It
// returns only if that failed.
func becomeEngine(c *cli.Invocation, service *hosts.Service) error {
	name := hosts.Program(service)
	path := ""
	if own, err := c.Env.Executable(); err == nil {
		for _, at := range []string{own, resolved(own)} {
			if found, err := exec.LookPath(filepath.Join(filepath.Dir(at), name)); err == nil {
				path = found
				break
			}
		}
	}
	if path == "" {
		path, _ = findProgram(name)
	}
	if path == "" {
		return hosts.Missing(service)
	}
	return become(path, append([]string{c.Program.Name}, c.Env.Args...), os.Environ(), nil)
}

// shared sets the name that all hosts know the workspace's room by, if an engine shares
// it.
func shared(c *cli.Invocation, w *workspace.Workspace, missing error) (*workspace.Workspace, error) {
	if w == nil || c.Cmd.Group == groupLocks {
		return w, missing
	}
	dataDir, err := workspace.DataDir(c.Env.Lookup, c.Env.Home)
	if err != nil {
		return w, missing
	}
	service, err := hosts.Find(c.Env.Lookup, dataDir, w)
	switch {
	case err != nil:
		return w, err
	case service == nil:
		return w, missing
	case build.Sharing == nil:
		return w, becomeEngine(c, service)
	}
	given := c.Env.Lookup(hosts.RoomVariable)
	if c.Declares("room") && c.Given("room") {
		given = c.String("room")
	}
	if w.Shared, err = build.Sharing.Name(w.Root, given); err != nil {
		return w, err
	}
	return w, missing
}

// engineClock returns the clock of a store's engine, nil for that of this machine.
func engineClock(store *fsroom.Store) func() turn.Instant {
	if build.Sharing == nil || store.Options().Host == "" {
		return nil
	}
	return build.Sharing.Clock(store)
}

// locatePath returns the workspace of a path.
func locatePath(c *cli.Invocation, path string) (*workspace.Workspace, error) {
	w, err := roomarg.LocatePath(c.Env, path)
	return shared(c, w, err)
}

// locateArg returns the workspace that the command line names.
func locateArg(c *cli.Invocation) (*workspace.Workspace, error) {
	w, err := roomarg.Locate(c)
	return shared(c, w, err)
}
