package ttcmd

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
)

// A child is a guardian just started.
type child struct {
	process identity.Process
	ended   sync.Once // by kill
}

// spawnGuardian starts the guardian of a turn. When it returns, the new program
// runs: starting a process reports back only after its image is in place, so
// there is nothing to wait for. It has a session of its own, no open files and
// no working directory of ours; the lease is not on its command line, where
// everybody could read it.
func (s *seat) spawnGuardian(fence turn.Fence) (*child, error) {
	exe, err := s.executable()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if err := s.mine().EnsureWakeFile(); err != nil { // it is watched from the beginning
		return nil, err
	}
	args := []string{"tt", "guard", s.room.Name(), "--turn", strconv.FormatInt(fence.Turn, 10), "--agent", fence.Agent}
	pid, err := startDetached(exe, args, s.guardianEnv(), null)
	if err != nil {
		return nil, err
	}
	info, err := s.table.Inspect(pid)
	c := &child{process: info.Process}
	if err != nil {
		c.process.PID = pid
		c.kill()
		return nil, fmt.Errorf("guardian %d ended at once: %w", pid, err)
	}
	return c, nil
}

// executable is this very program, also when its file was replaced meanwhile.
func (s *seat) executable() (string, error) {
	const self = "/proc/self/exe"
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(self); err == nil {
			return self, nil
		}
	}
	return s.call.Env.Executable()
}

// guardianEnv is ours, with the data directory made absolute, since the guardian
// works elsewhere. One processor is enough for it, and saves the runtime two of
// its threads while the turn is being handed over.
func (s *seat) guardianEnv() []string {
	const dataDir, processors = "TALKING_STICK_DATA_DIR=", "GOMAXPROCS="
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, dataDir) || strings.HasPrefix(v, processors)
	})
	return append(env, dataDir+s.store.Dir(), processors+"1")
}
