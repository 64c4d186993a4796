package queue

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() { works["alone"] = alone }

// alone takes a lock of its own without waiting, which nobody else may have, and works for a moment.
func alone(dir string) error {
	q := &Queue{Dir: dir, Processes: table{}}
	h, err := q.Acquire(context.Background(), mine(), Options{Patience: -1, Again: time.Hour, Look: func(*Ticket, []*Entry) error { return nil }})
	if err != nil {
		return err
	}
	defer h.Release()
	fd, err := syscall.Open(filepath.Join(dir, "turns"), syscall.O_CREAT|syscall.O_WRONLY|syscall.O_APPEND, 0o600)
	if err == nil {
		// A process that is killed closes its files by their numbers, which ends their locks of
		// records at once: that of this one before that of the ticket, which lets the next one in.
		err = errors.Join(unix.Dup2(fd, 0), syscall.Close(fd))
	}
	if err != nil {
		return err
	}
	defer syscall.Close(0) // before the release
	if err := unix.FcntlFlock(0, unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Len: 1}); err != nil {
		return os.WriteFile(filepath.Join(dir, "both"), nil, 0o600)
	}
	time.Sleep(rand.N(5 * time.Millisecond))
	_, err = syscall.Write(0, []byte("."))
	return err
}

// Processes are killed, stopped and continued while they wait and while they have the lock: never two at once have it, and
// those that are left get it.
func TestKilledProcessesUnderTheLock(t *testing.T) {
	const lanes, each = 6, 12
	dir := t.TempDir()
	plant(t, &Queue{Dir: dir}, "count", "0")
	var all sync.WaitGroup
	for range lanes {
		all.Go(func() {
			for n := range each {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), counterVariable+"="+dir, workVariable+"=alone")
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				kill := n%2 == 0
				switch time.Sleep(rand.N(60 * time.Millisecond)); {
				case kill:
					_ = cmd.Process.Kill()
				case n%3 == 0:
					_ = cmd.Process.Signal(syscall.SIGSTOP)
					time.Sleep(rand.N(30 * time.Millisecond))
					_ = cmd.Process.Signal(syscall.SIGCONT)
				}
				if err := cmd.Wait(); err != nil && !kill {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(filepath.Join(dir, "both")); err == nil {
		t.Error("two had the lock at once")
	}
	turns, err := os.ReadFile(filepath.Join(dir, "turns"))
	if n := strings.Count(string(turns), "."); err != nil || n < lanes*each/2 {
		t.Errorf("%d had the lock, %v", n, err)
	}
}
