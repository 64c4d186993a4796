package member

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// A guardianProcess is a guardian that this process has just started. The methods do
// nothing on nil.
type guardianProcess struct {
	identity.Process
	killed sync.Once
}

func (g *guardianProcess) process() turn.ProcessID {
	if g == nil {
		return turn.ProcessID{}
	}
	return turn.ProcessID(g.Process)
}

// startGuardian starts the guardian of a turn. When it returns, the new program runs:
// starting a process returns only after its image is in place. The guardian has a
// session of its own, no open files, and the root as working directory. The lease is
// not on its command line, where everybody could read it.
func (r *Room) startGuardian(fence turn.Fence) (*guardianProcess, error) {
	exe, err := r.executable()
	if err != nil {
		return nil, err
	}
	if err := r.own().EnsureWakeFile(); err != nil { // the guardian watches it from the beginning
		return nil, err
	}
	args := []string{"tt", "guard", r.FS.Name(), "--turn", strconv.FormatInt(fence.Turn, 10), "--agent", fence.Agent}
	pid, err := jobs.StartDetached(exe, args, guardianEnv(r.Client.Store), nil)
	if err != nil {
		return nil, err
	}
	info, err := r.Table.Inspect(pid)
	g := &guardianProcess{Process: info.Process}
	if err != nil {
		g.PID = pid
		g.kill()
		return nil, fmt.Errorf("guardian %d ended at once: %w", pid, err)
	}
	return g, nil
}

// StartDetached starts this program with the arguments in a session of its own, with no
// open files, in the root directory. It lives on when the caller ends.
func (c *Client) StartDetached(args ...string) error {
	exe, err := c.executable()
	if err != nil {
		return err
	}
	_, err = jobs.StartDetached(exe, append([]string{"tt"}, args...), guardianEnv(c.Store), nil)
	return err
}

// executable returns the path of the running program, also when its file was replaced.
func (c *Client) executable() (string, error) {
	const self = "/proc/self/exe"
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(self); err == nil {
			return self, nil
		}
	}
	return c.Executable()
}

// guardianEnv returns the environment of a guardian: that of this process, with what the
// store is opened by, since the guardian has another working directory. One processor is
// enough for it, and saves the runtime two of its threads while the turn is being handed
// over.
func guardianEnv(store *fsroom.Store) []string {
	return withEnviron(append(slices.Clip(storeEnviron(store)), "GOMAXPROCS=1"))
}

// storeEnviron returns the variables by which another process opens the store: one that is this
// host's alone also where the caller's environment names an engine.
func storeEnviron(store *fsroom.Store) []string {
	if set := store.Options().Environ; set != nil {
		return set
	}
	return []string{"TALKING_STICK_DATA_DIR=" + store.Dir(), "TALKING_STICK_ENGINE=", "TALKING_STICK_ROOM="}
}

// withEnviron returns the environment of this process with variables set.
func withEnviron(set []string) []string {
	kept := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	})
	return append(kept, set...)
}
