//go:build linux

package torture

import (
	"bytes"
	"context"
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
	fixtures  func() []*fixture // of all cases, made once
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
	e := &env{base: base, workspace: filepath.Join(base, "workspace"), size: size, seed: seed}
	e.fixtures = sync.OnceValue(e.allFixtures)
	err = errors.Join(os.Mkdir(e.workspace, 0o755), os.Mkdir(filepath.Join(base, "home"), 0o755))
	if hosts {
		err = errors.Join(err, e.build(&e.tt, "cmd/tt-nats"), e.build(&e.natsd, "cmd/tt-natsd"))
	} else {
		err = errors.Join(err, e.build(&e.tt, "cmd/internal/ttcmd/testdata/tt"))
	}
	if err != nil {
		e.close()
	}
	return e, err
}

// build builds the program in a directory of the repository, in which the caller runs, and sets its path.
func (e *env) build(built *string, program string) error {
	top, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/talking-stick/tt").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	*built = filepath.Join(e.base, filepath.Base(program))
	cmd := exec.Command("go", "build", "-trimpath", "-o", *built, ".")
	cmd.Dir = filepath.Join(strings.TrimSpace(string(top)), filepath.FromSlash(program)) // which may be in a module of its own
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %v\n%s", program, err, out)
	}
	return nil
}

// close ends all processes of the run and removes its files.
func (e *env) close() {
	reap(e.base)
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], e.base+"/") {
			_ = disk{dir: f[1]}.unmount()
		}
	}
	_ = os.RemoveAll(e.base)
}

func (e *env) closeOnSignal() {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-caught
		e.close()
		os.Exit(130)
	}()
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

// owns reports whether a process is of a data directory, or of one below a directory: its
// environment names it.
func owns(dir string, pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	_, after, found := bytes.Cut(b, []byte("TALKING_STICK_DATA_DIR="+dir))
	return found && pid != os.Getpid() && (after[0] == 0 || after[0] == '/')
}

// processesOf are the processes of a data directory, or of all below a directory.
func processesOf(dir string) (pids []int) {
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		if pid, err := strconv.Atoi(filepath.Base(proc)); err == nil && owns(dir, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// commandLine is that of a process, with a space after each argument.
func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

// reap kills the processes of a directory, until there are none.
func reap(dir string) {
	eventually(10*time.Second, func() bool {
		pids := processesOf(dir)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return len(pids) == 0
	})
}

// sleepUpTo lets a random time pass.
func sleepUpTo(random *rand.Rand, most time.Duration) {
	time.Sleep(time.Duration(random.Int64N(int64(most))))
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

// A latch is closed once.
type latch struct {
	context.Context
	close func()
}

func newLatch() *latch {
	ctx, cancel := context.WithCancel(context.Background())
	return &latch{ctx, cancel}
}

func (l *latch) closed() bool { return l.Err() != nil }

// sleep lets a time pass, or less if the latch is closed.
func (l *latch) sleep(d time.Duration) {
	select {
	case <-l.Done():
	case <-time.After(d):
	}
}
