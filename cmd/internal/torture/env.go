//go:build linux

package torture

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// An env is what all attacks share.
type env struct {
	base      string // the directory of everything
	workspace string // one for all data directories, so that copies are of the same room
	size      int
	seed      uint64
	tt, natsd string // the builds that are tried
	dirs      atomic.Int64
	fixtures  func() []*fixture // made once
}

// newEnv makes a directory for everything, in memory if possible, and builds the programs.
func newEnv(hosts bool, size int, seed uint64) (*env, error) {
	base, err := os.MkdirTemp("/dev/shm", "tt-torture-")
	if err != nil {
		base, err = os.MkdirTemp("", "tt-torture-")
	}
	if err != nil {
		return nil, err
	}
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-caught
		ending.Lock()
		remove(base)
		os.Exit(130)
	}()
	e := &env{base: base, workspace: filepath.Join(base, "workspace"), size: size, seed: seed}
	e.fixtures = sync.OnceValue(e.allFixtures)
	err = errors.Join(os.Mkdir(e.workspace, 0o755), os.Mkdir(filepath.Join(base, "home"), 0o755))
	if hosts {
		err = errors.Join(err, e.build(&e.tt, "cmd/tt-nats"), e.build(&e.natsd, "cmd/tt-natsd"))
	} else {
		err = errors.Join(err, e.build(&e.tt, "cmd/internal/ttcmd/testdata/tt"))
	}
	if err != nil {
		remove(base)
	}
	return e, err
}

// build builds the program in a directory of the repository, at whose top the caller runs, and sets its path.
func (e *env) build(built *string, program string) error {
	*built = filepath.Join(e.base, filepath.Base(program))
	cmd := exec.Command("go", "build", "-trimpath", "-o", *built, ".")
	cmd.Dir, cmd.Env = filepath.FromSlash(program), append(os.Environ(), "CGO_ENABLED=0") // which may be in a module of its own
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %v\n%s", program, err, out)
	}
	return nil
}

func (e *env) random() *rand.Rand { return rand.New(rand.NewPCG(e.seed, uint64(e.dirs.Add(1)))) }

// pick is the value for the size of the run; a normal one may have that of a short one.
func (e *env) pick(values ...int) int {
	if e.size == long {
		return values[len(values)-1]
	}
	return values[min(e.size, len(values)-2)]
}

// newDir is the path of a directory that does not exist yet.
func (e *env) newDir() string { return filepath.Join(e.base, "d"+strconv.FormatInt(e.dirs.Add(1), 10)) }

// processesOf returns the guardians and the other processes of a data directory, or of all below a directory,
// which their environment names.
func processesOf(dir string) (guardians, others []int) {
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		environ, _ := os.ReadFile(filepath.Join(proc, "environ"))
		_, after, found := bytes.Cut(environ, []byte("TALKING_STICK_DATA_DIR="+dir))
		if !found || after[0] != 0 && after[0] != '/' {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(proc))
		if line, _ := os.ReadFile(filepath.Join(proc, "cmdline")); bytes.HasPrefix(line, []byte("tt\x00guard\x00")) {
			guardians = append(guardians, pid)
		} else {
			others = append(others, pid)
		}
	}
	return guardians, others
}

// reap kills the processes of a directory, until there are none.
func reap(dir string) {
	eventually(10*time.Second, func() bool {
		guardians, others := processesOf(dir)
		for _, pid := range append(guardians, others...) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return len(guardians)+len(others) == 0
	})
}

// remove ends the processes of a directory, unmounts what is mounted below it, and removes it.
func remove(dir string) {
	reap(dir)
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			_ = disk{dir: f[1]}.unmount()
		}
	}
	_ = os.RemoveAll(dir)
}

// eventually polls a condition of another process or a mount, of which nothing
// notifies. It reports whether the condition was met within the time.
func eventually(patience time.Duration, met func() bool) bool {
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		if met() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
