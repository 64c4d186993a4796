package member

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// A guardianProcess is a guardian that this process has just started. The methods do
// nothing on nil.
type guardianProcess struct {
	identity.Process
	machine Machine
}

// kill ends the guardian and collects it, so that a wait that loses many turns to others leaves
// no zombies. It is called once at most: the pid belongs to the guardian until it is collected.
func (g *guardianProcess) kill() {
	if g == nil {
		return
	}
	if g.machine.Kill != nil {
		g.machine.Kill(g.PID)
		return
	}
	if p, err := os.FindProcess(g.PID); err == nil {
		_ = p.Kill()
		go func() { _, _ = p.Wait() }()
	}
}

func (g *guardianProcess) process() turn.ProcessID {
	if g == nil {
		return turn.ProcessID{}
	}
	return turn.ProcessID(g.Process)
}

// startGuardian starts the guardian of a turn. When it returns, the new program runs:
// starting a process returns only after its image is in place. The guardian has a
// session of its own, no open files, and the root as working directory. One processor is
// enough for it, and saves the runtime two of its threads while the turn is being handed
// over. The lease is on its command line as a digest, since everybody can read that.
func (r *Room) startGuardian(fence turn.Fence) (*guardianProcess, error) {
	if err := r.own().EnsureWakeFile(); err != nil { // the guardian watches it from the beginning
		return nil, err
	}
	pid, err := r.start(child{environ: oneProcessor, args: []string{"guard", r.FS.Name(), "--turn", strconv.FormatInt(fence.Turn, 10),
		"--agent", fence.Agent, "--lease", digest(fence)}})
	if err != nil {
		return nil, err
	}
	info, err := r.Table.Inspect(pid)
	g := &guardianProcess{Process: info.Process, machine: r.Machine}
	if err != nil {
		g.PID = pid
		g.kill()
		return nil, fmt.Errorf("guardian %d ended at once: %w", pid, err)
	}
	return g, nil
}

// StartDetached starts this program with the arguments in a session of its own, in the root
// directory, with no open files. It lives on when the caller ends.
func (c *Client) StartDetached(args ...string) error {
	_, err := c.start(child{environ: oneProcessor, args: args})
	return err
}

// StartRecorder is StartDetached for a process that has out as its standard output and may use
// all processors.
func (c *Client) StartRecorder(out *os.File, args ...string) error {
	pid, err := c.start(child{environ: allProcessors, out: out, args: args})
	if err != nil {
		return err
	}
	go func() {
		if p, err := os.FindProcess(pid); err == nil {
			_, _ = p.Wait()
		}
	}()
	return nil
}

// A child is a process of this program that outlives the command which starts it, and opens the same store.
type child struct {
	args    []string
	environ string // a variable that it has besides; "": none
	out     *os.File
	files   []*os.File // behind standard error
}

// How many processors a child may use.
const (
	oneProcessor  = "GOMAXPROCS=1"
	allProcessors = "GOMAXPROCS="
)

// start starts a child, and returns its pid.
func (c *Client) start(x child) (pid int, err error) {
	if c.Machine.Start != nil {
		return c.Machine.Start(x.args, x.out, x.files...)
	}
	exe, err := c.executable()
	if err != nil {
		return 0, err
	}
	set := slices.Clip(storeEnviron(c.Store))
	if x.environ != "" {
		set = append(set, x.environ)
	}
	return jobs.StartDetached(exe, append([]string{"tt"}, x.args...), jobs.Environ(set...), x.out, x.files...)
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

// storeEnviron returns the variables by which another process opens the store: one that is this
// host's alone also where the caller's environment names an engine.
func storeEnviron(store *fsroom.Store) []string {
	if set := store.Options().Environ; set != nil {
		return set
	}
	return []string{"TALKING_STICK_DATA_DIR=" + store.Dir(), "TALKING_STICK_ENGINE=", "TALKING_STICK_ROOM="}
}
