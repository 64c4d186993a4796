//go:build linux

package hosts

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/torture/overlay"
)

// An env is what all attacks share.
type env struct {
	base     string // the directory of everything
	size     size
	seed     uint64
	programs programs
	dirs     atomic.Int64
}

// programs are paths of the builds that are tried.
type programs struct{ tt, natsd string }

// newEnv builds the programs and makes a directory for everything, in memory if possible. The
// environment variables TT_TEST_NATS and TT_TEST_NATSD name programs that were built
// already.
func newEnv(size size, seed uint64) (*env, error) {
	base, err := os.MkdirTemp("/dev/shm", "tt-hosts-")
	if err != nil {
		if base, err = os.MkdirTemp("", "tt-hosts-"); err != nil {
			return nil, err
		}
	}
	e := &env{base: base, size: size, seed: seed}
	e.programs = programs{os.Getenv("TT_TEST_NATS"), os.Getenv("TT_TEST_NATSD")}
	for _, p := range []struct {
		path    *string
		program string
	}{{&e.programs.tt, "cmd/tt-nats"}, {&e.programs.natsd, "cmd/tt-natsd"}} {
		if *p.path != "" {
			continue
		}
		*p.path = filepath.Join(base, filepath.Base(p.program))
		if err := overlay.Build(*p.path, p.program); err != nil {
			e.close()
			return nil, err
		}
	}
	return e, nil
}

// close ends all processes of the run and removes its files.
func (e *env) close() {
	for range 2 {
		for _, pid := range processesOf(e.base) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], e.base+"/") {
			_ = command("fsfreeze", "-u", f[1]) // it may be frozen
			eventually(2*time.Second, func() bool { return syscall.Unmount(f[1], 0) == nil })
		}
	}
	if keep {
		fmt.Println("kept", e.base)
		return
	}
	_ = os.RemoveAll(e.base)
}

// keep is set by those who want to look at the files.
var keep = os.Getenv("TT_TORTURE_KEEP") != ""

func (e *env) random() *rand.Rand { return rand.New(rand.NewPCG(e.seed, uint64(e.dirs.Add(1)))) }

// newDir is the path of a directory that does not exist yet.
func (e *env) newDir() string { return filepath.Join(e.base, "d"+strconv.FormatInt(e.dirs.Add(1), 10)) }

// pick is for the size of the run.
func pick[T cmp.Ordered](e *env, values ...T) T { return values[e.size] }

// processesOf are the processes whose environment mentions a data directory below dir.
func processesOf(dir string) (pids []int) {
	mark := []byte("TALKING_STICK_DATA_DIR=" + dir + "/")
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if b, _ := os.ReadFile(proc + "/environ"); bytes.Contains(b, mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// eventually polls a condition of other processes, of which nothing notifies. It
// reports whether the condition was met within the time.
func eventually(patience time.Duration, met func() bool) bool {
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
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
	once sync.Once
	done chan struct{}
}

func newLatch() *latch { return &latch{done: make(chan struct{})} }

func (l *latch) close() { l.once.Do(func() { close(l.done) }) }

func (l *latch) closed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// sleep lets a time pass, or less if the latch is closed.
func (l *latch) sleep(d time.Duration) {
	select {
	case <-l.done:
	case <-time.After(d):
	}
}
